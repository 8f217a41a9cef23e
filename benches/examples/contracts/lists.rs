//! What it takes to compare a whole list with its lock, and to say what changed.

use aldgate_contract::diff::diff;
use aldgate_contract::{Lock, State, UpstreamIdentity};
use serde_json::{Value, json};

use crate::definitions::Definition;
use crate::spent::{Cost, each};

const MILLISECOND: f64 = 1e6;

type List = Vec<(String, String)>;

pub(crate) fn measure(definitions: &[Definition], rounds: usize, tools: usize) -> Value {
    let served = list(tools, definitions, |one, _| &one.text);
    let lock = pinned(&served);
    let text = lock.to_pretty_json();
    let one = list(tools, definitions, |one, number| if number == 0 { &one.reworded } else { &one.text });
    let words = list(tools, definitions, |one, _| &one.reworded);
    let schemas = list(tools, definitions, |one, _| &one.narrowed);
    json!({
        "read_lock": each(&[()], rounds, MILLISECOND, |()| Lock::parse(&text).expect("the lock can be read")),
        "unchanged": checked(&lock, &served, rounds, 0),
        "one_word": checked(&lock, &one, rounds, 1),
        "every_word": checked(&lock, &words, rounds, tools),
        "every_schema": checked(&lock, &schemas, rounds, tools),
    })
}

/// So many tools, each with a name of its own.
fn list<'a>(
    tools: usize,
    definitions: &'a [Definition],
    text: impl Fn(&'a Definition, usize) -> &'a String,
) -> List {
    let numbered = |(number, one): (usize, &'a Definition)| {
        let name = format!("{}_{number:05}", one.name);
        let (old, new) = (format!(r#""name":"{}""#, one.name), format!(r#""name":"{name}""#));
        (name, text(one, number).replacen(&old, &new, 1))
    };
    definitions.iter().cycle().take(tools).enumerate().map(numbered).collect()
}

fn pinned(list: &List) -> Lock {
    let identity = UpstreamIdentity {
        name: "bench".to_owned(),
        endpoint: "http://127.0.0.1/mcp".to_owned(),
        server: None,
    };
    Lock::pin(identity, pairs(list), "2026-12-01T00:00:00Z").expect("the contracts can be pinned")
}

fn pairs(list: &List) -> impl Iterator<Item = (&str, &str)> {
    list.iter().map(|(name, definition)| (name.as_str(), definition.as_str()))
}

fn checked(lock: &Lock, live: &List, rounds: usize, expected: usize) -> Cost {
    let by_name: std::collections::BTreeMap<&str, &str> = pairs(live).collect();
    each(&[()], rounds, MILLISECOND, |()| {
        let mut changed = 0;
        for finding in lock.verify(pairs(live)) {
            if let State::Changed { .. } = finding.state {
                let name = finding.item.name.as_str();
                let pin = lock.tools.get(name).expect("what changed is pinned");
                let live = by_name.get(name).expect("what changed is served");
                let found = diff(pin.kind, pin.definition.get(), live).expect("both can be read");
                changed += usize::from(found.severity().is_some());
            }
        }
        assert_eq!(changed, expected);
    })
}
