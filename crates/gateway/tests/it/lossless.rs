//! What passes through the gateway keeps its bytes, or is refused by a rule that `docs/lossless.md` names.

mod cut;
mod lists;
mod requests;
mod results;

use std::collections::BTreeSet;

/// Why something odd does not pass: the stable code, and the words that say why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rule(&'static str, &'static str);

/// The rules of the page: every row of a table whose first cell is a code.
fn documented() -> BTreeSet<(String, String)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/lossless.md");
    let page = std::fs::read_to_string(path).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| `AG-"));
    rows.map(|row| {
        let cells: Vec<_> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [code, sentence] = cells.as_slice() else { panic!("a rule has a code and a sentence: {row}") };
        (code.trim_matches('`').to_owned(), (*sentence).to_owned())
    })
    .collect()
}

#[test]
fn every_rule_is_on_the_page_and_has_a_case() {
    let used = [results::rules(), lists::rules(), requests::rules()].concat();
    let used: BTreeSet<_> =
        used.into_iter().map(|Rule(code, sentence)| (code.to_owned(), sentence.to_owned())).collect();
    let documented = documented();
    let unnamed: Vec<_> = used.difference(&documented).collect();
    let unused: Vec<_> = documented.difference(&used).collect();
    assert!(unnamed.is_empty() && unused.is_empty(), "not on the page: {unnamed:#?}; no case: {unused:#?}");
}
