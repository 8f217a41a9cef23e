//! What one tool takes of each step.

use aldgate_contract::diff::{Severity, diff};
use aldgate_contract::poison::{self, Neighbour};
use aldgate_contract::rename;
use aldgate_contract::repair::{Mode, Revision, simulate};
use aldgate_contract::signature::{Keyring, SigningKey, Statement};
use aldgate_contract::{Kind, fingerprint};
use serde_json::{Value, json};

use crate::definitions::Definition;
use crate::spent::{Cost, each};

const MICROSECOND: f64 = 1e3;

pub(crate) fn measure(definitions: &[Definition], rounds: usize) -> Value {
    let us = |work: &dyn Fn(&Definition)| each(definitions, rounds, MICROSECOND, work);
    let differs = |other: &dyn Fn(&Definition) -> &str, expected: Option<Severity>| {
        us(&|one| {
            let found = diff(Kind::Tool, &one.text, other(one)).expect("both can be read");
            assert_eq!(found.severity(), expected);
        })
    };
    let neighbours: Vec<Neighbour<'_>> =
        definitions.iter().map(|one| Neighbour { upstream: &one.upstream, tool: &one.name }).collect();
    json!({
        "fingerprint": us(&|one| drop(std::hint::black_box(fingerprint(&one.text)))),
        "diff_equal": differs(&|one| &one.text, None),
        "diff_word": differs(&|one| &one.reworded, Some(Severity::Behavioural)),
        "diff_schema": differs(&|one| &one.narrowed, Some(Severity::Breaking)),
        "renames": renamed(definitions, rounds, &|one, after| {
            let found = rename::of_properties(&one.value["inputSchema"], &after["inputSchema"], &[]);
            assert_eq!(found.len(), 1);
        }),
        "repair": renamed(definitions, rounds, &|one, after| {
            let revisions = [(1, &one.value), (2, after)];
            let revisions = revisions.map(|(version, definition)| Revision { version, definition, confirmed: &[] });
            let found = simulate(&revisions, &one.arguments, Mode::Repair);
            assert!(found.applied, "{}", found.reason);
        }),
        "poison": us(&|one| {
            let found = poison::check(Kind::Tool, &one.text, &one.upstream, &neighbours);
            std::hint::black_box(found);
        }),
        "sign": signed(definitions, rounds, |key, _, statement, _| drop(std::hint::black_box(key.sign(statement)))),
        "verify": signed(definitions, rounds, |_, keyring, statement, signature| {
            keyring.verify(statement, Some(signature)).expect("it is signed");
        }),
    })
}

/// Those tools of which a property can be spelled in another way.
fn renamed(definitions: &[Definition], rounds: usize, work: &dyn Fn(&Definition, &Value)) -> Cost {
    let pairs: Vec<_> = definitions.iter().filter_map(|one| Some((one, one.renamed.as_ref()?))).collect();
    each(&pairs, rounds, MICROSECOND, |(one, after)| work(one, after))
}

fn signed(
    definitions: &[Definition],
    rounds: usize,
    work: impl Fn(&SigningKey, &Keyring, &Statement<'_>, &str),
) -> Cost {
    let key = SigningKey::from_seed([7; 32], None).expect("the key can be made");
    let keyring = Keyring::new([key.public().clone()], []).expect("there is one key");
    let statements: Vec<_> = definitions
        .iter()
        .map(|one| {
            let digest = fingerprint(&one.text).expect("it has a canonical form").jcs;
            let (upstream, name) = (one.upstream.as_str(), one.name.as_str());
            let statement = Statement { upstream, kind: Kind::Tool, name, version: 1, digest };
            let signature = key.sign(&statement);
            (statement, signature)
        })
        .collect();
    each(&statements, rounds, MICROSECOND, |(statement, signature)| {
        work(&key, &keyring, statement, signature)
    })
}
