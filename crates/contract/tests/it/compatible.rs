//! Law: what a diff does not call breaking breaks no value.

use std::collections::BTreeMap;
use std::env;

use aldgate_contract::diff::{Diff, Severity, diff};
use aldgate_contract::{Kind, Validator};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use crate::dice::Dice;
use crate::samples::{Sampler, compiled};
use crate::schemas::pair;

const CASES: u64 = 2000;
const SEED: u64 = 20_260_728;
/// Values for each pair that is called compatible.
const TRIES: usize = 80;
/// Values for each other pair: enough to know how many pairs really break.
const FEWER: usize = 25;

fn of_environment(name: &str, otherwise: u64) -> u64 {
    match env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} must be a whole number, found `{text}`")),
        Err(_) => otherwise,
    }
}

fn definitions([before, after]: [&Value; 2], output: bool) -> [String; 2] {
    [before, after].map(|schema| {
        let made = match output {
            true => json!({"name": "t", "inputSchema": {"type": "object"}, "outputSchema": schema}),
            false => json!({"name": "t", "inputSchema": schema}),
        };
        made.to_string()
    })
}

fn compared(definitions: &[String; 2], seed: u64) -> Diff {
    let [before, after] = definitions;
    diff(Kind::Tool, before, after).unwrap_or_else(|fault| panic!("seed {seed}: {fault}\n{before}\n{after}"))
}

/// The value is refused by the gateway's own validator, too.
fn refused(schema: &Value, value: &Value) -> bool {
    let raw = to_raw_value(schema).unwrap();
    Validator::compile(&raw).is_ok_and(|validator| validator.check(value).is_err())
}

#[test]
fn what_is_not_breaking_breaks_no_value() {
    let cases = of_environment("ALDGATE_COMPATIBLE_CASES", CASES);
    let first = of_environment("ALDGATE_COMPATIBLE_SEED", SEED);
    let (mut asked, mut below, mut shown, mut tried, mut told) =
        (0_u64, 0_u64, 0_u64, 0_u64, BTreeMap::new());
    let mut false_alarms = 0_u64;
    for seed in first..first + cases {
        let [before, after] = pair(&mut Dice::new(seed));
        let raw = |schema| to_raw_value(schema).unwrap();
        if Validator::compile(&raw(&before)).is_err() || Validator::compile(&raw(&after)).is_err() {
            continue;
        }
        let (Some(old), Some(new)) = (compiled(&before), compiled(&after)) else { continue };
        for output in [false, true] {
            asked += 1;
            let definitions = definitions([&before, &after], output);
            let found = compared(&definitions, seed);
            let held = found.severity() != Some(Severity::Breaking);
            *told.entry(found.severity()).or_insert(0_u64) += 1;
            below += u64::from(held && found.severity().is_some());
            let (from, to, fits, must) =
                if output { (&after, &before, &new, &old) } else { (&before, &after, &old, &new) };
            let mut sampler = Sampler::new([from, to], seed);
            let mut broke = false;
            for _ in 0..if held { TRIES } else { FEWER } {
                let value = sampler.value();
                if !fits.is_valid(&value) {
                    continue;
                }
                tried += 1;
                if !must.is_valid(&value) {
                    broke = true;
                    assert!(
                        !(held && refused(to, &value)),
                        "ALDGATE_COMPATIBLE_SEED={seed}: called {:?} on the side of {}, but {value} fitted and \
                         does not fit\nbefore {before}\nafter  {after}\n{:#?}",
                        found.severity(),
                        if output { "results" } else { "arguments" },
                        found.changes(),
                    );
                    break;
                }
            }
            shown += u64::from(broke);
            false_alarms += u64::from(!held && !broke);
        }
    }
    println!(
        "{asked} verdicts: {told:?}; {tried} values; {shown} really break, {false_alarms} called breaking without a value \
         that shows it"
    );
    if cases < 200 {
        return;
    }
    // The law is not shown by a differ that never says compatible, nor by samples that never break anything.
    assert!(below * 100 >= asked * 10, "only {below} of {asked} verdicts were below breaking");
    assert!(shown * 100 >= asked * 25, "only {shown} of {asked} pairs were shown to break");
    assert!(asked * 10 >= cases * 2 * 9, "only {asked} of {} could be asked", cases * 2);
}

#[test]
fn nothing_changed_between_a_definition_and_itself() {
    for seed in 0..500 {
        for schema in pair(&mut Dice::new(seed)) {
            for output in [false, true] {
                let found = compared(&definitions([&schema, &schema], output), seed);
                assert!(found.changes().is_empty() && found.severity().is_none(), "{schema}\n{found:#?}");
                assert!(found.summary().is_empty());
            }
        }
    }
}

/// Whatever the order, two definitions with different canonical forms differ.
#[test]
fn what_differs_is_told() {
    for seed in 0..500 {
        let [before, after] = pair(&mut Dice::new(seed));
        let texts = definitions([&before, &after], false);
        let [one, other] = texts.each_ref().map(|text| aldgate_contract::canonical(text).unwrap());
        let found = compared(&texts, seed);
        assert_eq!(found.changes().is_empty(), one == other, "seed {seed}\n{before}\n{after}");
        assert_eq!(found.severity().is_none(), one == other, "seed {seed}");
    }
}
