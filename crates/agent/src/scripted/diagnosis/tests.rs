use super::diagnose;
use crate::scripted::reading::Past;

fn past(id: &str, code: &str, part: &str, category: Option<&str>, words: &str) -> Past {
    Past {
        id: id.to_owned(),
        fault_code: code.to_owned(),
        fault: None,
        part_no: Some(part.to_owned()),
        category: category.map(str::to_owned),
        minutes: Some(90),
        words: words.to_owned(),
    }
}

fn known() -> Vec<String> {
    ["belt", "thermostatic-valve"].map(str::to_owned).to_vec()
}

#[test]
fn the_majority_decides_fault_part_and_category() {
    let history = [
        past("SR-1", "F-102", "B", Some("belt"), ""),
        past("SR-2", "F-101", "V-S", Some("thermostatic-valve"), ""),
        past("SR-3", "F-101", "V-A", Some("thermostatic-valve"), ""),
        past("SR-4", "F-101", "V-S", Some("thermostatic-valve"), ""),
    ];
    let found = diagnose(&history, &known()).unwrap();
    assert_eq!((found.fault_code.as_str(), found.part_no.as_deref()), ("F-101", Some("V-S")));
    assert_eq!((found.category.as_str(), found.agreeing, found.found), ("thermostatic-valve", 3, 4));
    assert_eq!(found.sources, ["SR-2", "SR-3", "SR-4"]);
}

#[test]
fn of_equals_the_best_match_wins() {
    let history =
        [past("SR-1", "F-102", "B", Some("belt"), ""), past("SR-2", "F-101", "V", Some("belt"), "")];
    assert_eq!(diagnose(&history, &known()).unwrap().fault_code, "F-102");
}

#[test]
fn a_category_that_no_member_names_is_found_in_the_words() {
    let history = [past("SR-1", "F-101", "V", None, "Replaced the Thermostatic valve element")];
    assert_eq!(diagnose(&history, &known()).unwrap().category, "thermostatic-valve");
}

#[test]
fn without_history_or_category_there_is_no_diagnosis() {
    assert_eq!(diagnose(&[], &known()), None);
    assert_eq!(diagnose(&[past("SR-1", "F-1", "V", Some("unheard-of"), "words")], &known()), None);
}
