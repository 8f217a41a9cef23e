//! Renames that are guessed, against evolutions whose renames are known.

use std::collections::BTreeSet;

use aldgate_contract::rename::{Confirmed, Rename, THRESHOLD, of_properties, of_tools};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", tag = "of")]
enum Row {
    Properties {
        name: String,
        before: Value,
        after: Value,
        renames: Vec<(String, String)>,
        why: Option<String>,
    },
    Tools {
        name: String,
        gone: Vec<Value>,
        new: Vec<Value>,
        renames: Vec<(String, String)>,
        why: Option<String>,
    },
}

fn rows() -> Vec<Row> {
    serde_json::from_str(include_str!("../sets/renames.json")).unwrap()
}

impl Row {
    fn name(&self) -> &str {
        match self {
            Self::Properties { name, .. } | Self::Tools { name, .. } => name,
        }
    }

    fn renames(&self) -> &[(String, String)] {
        match self {
            Self::Properties { renames, .. } | Self::Tools { renames, .. } => renames,
        }
    }

    fn why(&self) -> Option<&String> {
        match self {
            Self::Properties { why, .. } | Self::Tools { why, .. } => why.as_ref(),
        }
    }

    fn guessed(&self, confirmed: &[Confirmed]) -> Vec<Rename> {
        match self {
            Self::Properties { before, after, .. } => of_properties(before, after, confirmed),
            Self::Tools { gone, new, .. } => of_tools(&named(gone), &named(new), confirmed),
        }
    }
}

fn named(definitions: &[Value]) -> Vec<(&str, &Value)> {
    definitions.iter().map(|definition| (definition["name"].as_str().unwrap(), definition)).collect()
}

/// Names at every place, written as [`Rename::from`].
fn names(schema: &Value, at: &str, found: &mut BTreeSet<String>) {
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        let place = format!("{at}{name}");
        names(inner, &format!("{place}/"), found);
        names(&inner["items"], &format!("{place}/*/"), found);
        found.insert(place);
    }
}

#[derive(Default)]
struct Score {
    guessed: usize,
    right: usize,
    real: usize,
}

impl Score {
    fn precision(&self) -> f64 {
        ratio(self.right, self.guessed)
    }

    fn recall(&self) -> f64 {
        ratio(self.right, self.real)
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    let whole = u32::try_from(whole).unwrap();
    if whole == 0 { 0.0 } else { f64::from(u32::try_from(part).unwrap()) / f64::from(whole) }
}

fn score(rows: &[Row], threshold: f64, told: &mut Vec<String>) -> Score {
    let mut score = Score::default();
    for row in rows {
        let sure: Vec<Rename> =
            row.guessed(&[]).into_iter().filter(|guess| guess.confidence >= threshold).collect();
        score.guessed += sure.len();
        score.real += row.renames().len();
        for guess in &sure {
            if implied(guess, row.renames()) {
                score.guessed -= 1;
                continue;
            }
            let right = row.renames().contains(&(guess.from.clone(), guess.to.clone()));
            score.right += usize::from(right);
            if !right {
                told.push(format!(
                    "wrong: {}: {} -> {} at {:.2} ({})",
                    row.name(),
                    guess.from,
                    guess.to,
                    guess.confidence,
                    row.why().map_or("another one is meant", String::as_str),
                ));
            }
        }
        for (from, to) in row.renames() {
            if !sure.iter().any(|guess| guess.from == *from && guess.to == *to) {
                told.push(format!("missed: {}: {from} -> {to}", row.name()));
            }
        }
    }
    score
}

/// What is within a renamed object and keeps its own name may be listed or not.
fn implied(guess: &Rename, renames: &[(String, String)]) -> bool {
    renames.iter().any(|(from, to)| {
        let rest = |whole: &str, of: &str| {
            whole.strip_prefix(of).filter(|rest| rest.starts_with('/')).map(str::to_owned)
        };
        matches!((rest(&guess.from, from), rest(&guess.to, to)), (Some(old), Some(new)) if old == new)
    })
}

#[test]
fn guesses_are_mostly_right() {
    let rows = rows();
    let mut told = Vec::new();
    let whole = score(&rows, THRESHOLD, &mut told);
    println!("{}", told.join("\n"));
    for threshold in [0.5, 0.6, 0.7, THRESHOLD, 0.9] {
        let at = score(&rows, threshold, &mut Vec::new());
        println!(
            "at {threshold:.2}: {} guessed, {} right, {} real: precision {:.3}, recall {:.3}",
            at.guessed,
            at.right,
            at.real,
            at.precision(),
            at.recall()
        );
    }
    assert!(whole.precision() >= 0.9, "precision {:.3}\n{}", whole.precision(), told.join("\n"));
    assert!(whole.recall() >= 0.5, "recall {:.3}\n{}", whole.recall(), told.join("\n"));
}

#[test]
fn the_set_is_large_and_its_names_are_its_own() {
    let rows = rows();
    let named: BTreeSet<&str> = rows.iter().map(Row::name).collect();
    assert_eq!(named.len(), rows.len());
    let tempting = rows.iter().filter(|row| row.renames().is_empty()).count();
    assert!(
        rows.len() >= 80 && tempting * 4 >= rows.len(),
        "{} rows, {tempting} of them tempting",
        rows.len()
    );
    for row in &rows {
        assert_eq!(row.why().is_some(), row.renames().is_empty(), "{}", row.name());
        let (mut before, mut after) = (BTreeSet::new(), BTreeSet::new());
        match row {
            Row::Properties { before: old, after: new, .. } => {
                names(old, "", &mut before);
                names(new, "", &mut after);
            }
            Row::Tools { gone, new, .. } => {
                before.extend(named_of(gone));
                after.extend(named_of(new));
            }
        }
        for (from, to) in row.renames() {
            assert!(before.contains(from) && !after.contains(from), "{}: {from}", row.name());
            assert!(after.contains(to) && !before.contains(to), "{}: {to}", row.name());
        }
    }
}

fn named_of(definitions: &[Value]) -> Vec<String> {
    named(definitions).into_iter().map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn candidates_are_one_to_one_and_the_surest_come_first() {
    for row in rows() {
        let guessed = row.guessed(&[]);
        let from: BTreeSet<&str> = guessed.iter().map(|guess| guess.from.as_str()).collect();
        let to: BTreeSet<&str> = guessed.iter().map(|guess| guess.to.as_str()).collect();
        assert!(from.len() == guessed.len() && to.len() == guessed.len(), "{}: {guessed:?}", row.name());
        assert!(guessed.is_sorted_by(|a, b| a.confidence >= b.confidence), "{}: {guessed:?}", row.name());
        for guess in &guessed {
            assert!((0.0..1.0).contains(&guess.confidence), "{}: {guess:?}", row.name());
            assert!(!guess.identity_confirmed, "{}: {guess:?}", row.name());
        }
    }
}

#[test]
fn what_is_confirmed_is_certain() {
    for row in rows() {
        for (from, to) in row.renames() {
            let confirmed = [Confirmed { from: from.clone(), to: to.clone() }];
            let guessed = row.guessed(&confirmed);
            let told = format!("{}: {from} -> {to}: {guessed:?}", row.name());
            let found = guessed.iter().find(|guess| guess.from == *from);
            let found = found.unwrap_or_else(|| panic!("{told}"));
            assert!(found.to == *to && found.identity_confirmed, "{told}");
            assert!((found.confidence - 1.0).abs() < f64::EPSILON, "{told}");
            assert_eq!(guessed.iter().filter(|guess| guess.identity_confirmed).count(), 1, "{told}");
        }
    }
}

/// A confirmation is believed even where no likeness speaks for it, and takes its two names out of the guessing.
#[test]
fn a_confirmation_outweighs_likeness() {
    let before =
        serde_json::json!({"properties": {"userId": {"type": "string"}, "note": {"type": "string"}}});
    let after =
        serde_json::json!({"properties": {"user_id": {"type": "string"}, "memo": {"type": "string"}}});
    let confirmed = [Confirmed { from: "note".to_owned(), to: "user_id".to_owned() }];
    let guessed = of_properties(&before, &after, &confirmed);
    assert!(
        guessed.iter().any(|guess| guess.from == "note" && guess.to == "user_id" && guess.identity_confirmed)
    );
    assert!(!guessed.iter().any(|guess| guess.from == "userId" && guess.to == "user_id"), "{guessed:?}");
}
