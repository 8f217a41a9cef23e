use expect_test::{Expect, expect};

use super::{Search, Widener};
use crate::content::Content;
use crate::generate::Plan;
use crate::store::Store;

fn check(sentence: &str, expected: Expect) {
    let query = Widener::load().unwrap().widen(sentence);
    let parts: Vec<String> = query.parts(0.7).map(|(words, weight)| format!("{weight}: {words}")).collect();
    expected.assert_eq(&parts.join("\n"));
}

#[test]
fn words_are_quoted_and_widened() {
    check("The belt is slipping", expect![[r#"1: "belt" OR "slipping""#]]);
    check(
        "Pop-off!",
        expect![[r#"
        1: "off" OR "pop"
        0.7: "blowing" OR "lifts" OR "relief" OR "safety" OR "valve""#]],
    );
    check("it is what it is", expect![""]);
    check("", expect![""]);
}

#[test]
fn query_syntax_is_only_text() {
    check(r#"" OR symptom:x* NEAR(a b) -- ^"#, expect![[r#"1: "b" OR "near" OR "symptom" OR "x""#]]);
}

#[test]
fn a_long_sentence_is_bounded() {
    let query = Widener::load().unwrap().widen(&"word1 ".repeat(10_000));
    assert_eq!(query.parts(0.7).count(), 1);
    let sentence: String = (0..10_000).map(|number| format!("w{number} ")).collect();
    let query = Widener::load().unwrap().widen(&sentence);
    let (words, _) = query.parts(0.7).next().unwrap();
    assert_eq!(words.split(" OR ").count(), 64);
}

#[tokio::test]
async fn the_demonstrations_symptom_finds_its_fault_in_a_store_of_any_size() {
    let content = Content::load().unwrap();
    for (tickets, seed) in [(100, 20_031), (100, 1), (100, 2), (700, 3), (5000, 20_031)] {
        let store = Store::open(None, Plan { tickets, seed }, &content, &mut |_| {}).await.unwrap();
        let ticket = store.ticket("SR-20031").await.unwrap().unwrap();
        let search = Search::new().unwrap();
        let found = search.tickets(&store, "AC-250-S", None, &ticket.symptom, 5).await.unwrap();
        assert_eq!(found[0].item.fault_code, "F-101", "{tickets} tickets, seed {seed}");
    }
}
