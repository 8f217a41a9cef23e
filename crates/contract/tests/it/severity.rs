//! Labelled pairs of definitions, and whether the labels are true.

use aldgate_contract::Kind;
use aldgate_contract::diff::{Severity, diff};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::samples::{compiled, witness};

/// Values that are tried against one label.
const TRIES: usize = 1500;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    #[serde(default = "of_tools")]
    kind: String,
    of: Of,
    before: Value,
    after: Value,
    input: Option<Label>,
    output: Option<Label>,
    whole: Option<Label>,
    why: String,
}

/// What `before` and `after` are.
#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Of {
    /// The schema of one optional property.
    Property,
    /// A whole schema.
    Schema,
    /// A whole definition.
    Definition,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
struct Label {
    /// `none` where nothing changed.
    severity: String,
    /// A graver answer is weaker, and sound.
    #[serde(default)]
    at_least: bool,
    /// It breaks by the rules of contracts, though no value shows it.
    #[serde(default)]
    by_rule: bool,
}

fn of_tools() -> String {
    "tool".to_owned()
}

fn rows() -> Vec<Row> {
    serde_json::from_str(include_str!("../sets/severity.json")).unwrap()
}

impl Row {
    fn kind(&self) -> Kind {
        match self.kind.as_str() {
            "tool" => Kind::Tool,
            "prompt" => Kind::Prompt,
            "resource_template" => Kind::ResourceTemplate,
            other => panic!("{}: `{other}` is no kind", self.name),
        }
    }

    fn schemas(&self) -> [Value; 2] {
        [&self.before, &self.after].map(|part| match self.of {
            Of::Property => json!({"type": "object", "properties": {"v": part}}),
            _ => part.clone(),
        })
    }

    /// Each label with the definitions that it is about.
    fn cases(&self) -> Vec<(&str, &Label, [Value; 2])> {
        let input = |schema: Value| json!({"name": "t", "inputSchema": schema});
        let output =
            |schema: Value| json!({"name": "t", "inputSchema": {"type": "object"}, "outputSchema": schema});
        let whole = || [self.before.clone(), self.after.clone()];
        let mut found = Vec::new();
        found.extend(self.input.as_ref().map(|label| ("input", label, self.schemas().map(input))));
        found.extend(self.output.as_ref().map(|label| ("output", label, self.schemas().map(output))));
        found.extend(self.whole.as_ref().map(|label| ("whole", label, whole())));
        found
    }
}

impl Label {
    fn severity(&self) -> Option<Severity> {
        match self.severity.as_str() {
            "none" => None,
            other => Some(serde_json::from_value(json!(other)).unwrap()),
        }
    }

    fn accepts(&self, found: Option<Severity>) -> bool {
        found == self.severity() || (self.at_least && found > self.severity())
    }
}

#[test]
fn each_change_is_as_grave_as_its_label() {
    let (mut wrong, mut asked, mut weaker) = (Vec::new(), 0, 0);
    for row in rows() {
        for (side, label, [before, after]) in row.cases() {
            asked += 1;
            let found = diff(row.kind(), &before.to_string(), &after.to_string());
            let found = found.map(|diff| diff.severity()).map_err(|fault| fault.to_string());
            match &found {
                Ok(found) if label.accepts(*found) => {
                    weaker += usize::from(*found != label.severity());
                }
                _ => wrong.push(format!(
                    "{} ({side}): expected {}{}, found {found:?}: {}\n    {}\n    {}",
                    row.name,
                    label.severity,
                    if label.at_least { " or graver" } else { "" },
                    row.why,
                    row.before,
                    row.after,
                )),
            }
        }
    }
    println!("{asked} labels, {} wrong, {weaker} weaker than could be", wrong.len());
    assert!(wrong.is_empty(), "{} of {asked}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_set_is_large_and_its_names_are_its_own() {
    let rows = rows();
    let mut names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), rows.len());
    assert!(rows.len() >= 90, "{}", rows.len());
    assert!(rows.iter().all(|row| !row.cases().is_empty() && !row.why.is_empty()));
    assert!(rows.iter().all(|row| (row.of == Of::Definition) == row.whole.is_some()));
}

/// A label below breaking must not be falsified by a value; one of breaking must be shown by one.
#[test]
fn values_bear_the_labels_out() {
    let mut wrong = Vec::new();
    for row in rows().iter().filter(|row| row.of != Of::Definition) {
        let [before, after] = row.schemas();
        for (label, side, from, to) in
            [(&row.input, "input", &before, &after), (&row.output, "output", &after, &before)]
        {
            let Some(label) = label else { continue };
            if label.by_rule {
                assert_eq!(label.severity, "breaking", "{}", row.name);
                continue;
            }
            assert!(compiled(from).is_some() && compiled(to).is_some(), "{}", row.name);
            let found = witness(from, to, 1, TRIES);
            match (label.severity() == Some(Severity::Breaking), found) {
                (true, None) => wrong.push(format!("{} ({side}): no value shows that it breaks", row.name)),
                (false, Some(value)) => {
                    wrong.push(format!("{} ({side}): {value} shows that it breaks", row.name))
                }
                _ => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
