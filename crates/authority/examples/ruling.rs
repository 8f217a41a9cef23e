//! Prints what one ruling costs, with and without policies that read the arguments.
//!
//! `cargo run -p aldgate-authority --example ruling` (add `--release` for numbers that mean something).

use std::collections::BTreeSet;
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use aldgate_authority::{
    Action, Authority, Authorizer, Entry, Item, PolicySet, Principal, PrincipalKind, Question, Registry,
};
use serde_json::value::RawValue;

const AGENT: &str = "@id(\"agent\") permit(principal is Service in Role::\"agent\", action in [Action::\"call\", \
                     Action::\"call_unattended\"], resource is Tool);";
const LIMIT: &str = "@id(\"limit\") forbid(principal, action == Action::\"call\", resource == \
                     Tool::\"parts/order\") when { context.args has quantity && context.args.quantity > 10 };";
const ROUNDS: u32 = 5_000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = RawValue::from_string(
        r#"{"part_no":"TV-250-S","quantity":1,"ticket_id":"SR-20031","justification":"worn"}"#.to_owned(),
    )?;
    let principal = Principal {
        issuer: "host".to_owned(),
        subject: "bot".to_owned(),
        tenant: "demo".to_owned(),
        kind: PrincipalKind::Service,
        roles: BTreeSet::from(["agent".to_owned()]),
        name: "Bot".to_owned(),
        client: "example".to_owned(),
        actors: Vec::new(),
    };
    let elsewhere: String =
        (0..100).map(|n| format!("forbid(principal, action, resource == Tool::\"other/t{n}\");\n")).collect();
    for (name, policies) in [
        ("1 policy, arguments not read", AGENT.to_owned()),
        ("1 policy and 100 for other tools", format!("{AGENT}\n{elsewhere}")),
        ("2 policies, arguments read", format!("{AGENT}\n{LIMIT}")),
    ] {
        let registry = Registry::new([("parts/order".to_owned(), Entry::of(Authority::Automatic))])?;
        let authorizer = Authorizer::new(registry, PolicySet::parse(&[("p.cedar".to_owned(), policies)])?)?;
        let question = Question {
            principal: &principal,
            action: Action::Call,
            target: Item::tool("parts", "order", "sha256:c").into(),
            uri: None,
            argument: None,
            arguments: Some(&arguments),
            input_responses: None,
            client: "example",
        };
        let started = Instant::now();
        for _ in 0..ROUNDS {
            black_box(authorizer.rule(black_box(&question)));
        }
        println!("{name}: {:.1} µs a ruling", started.elapsed().as_secs_f64() * 1e6 / f64::from(ROUNDS));
    }
    Ok(())
}
