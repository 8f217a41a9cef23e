//! How long simulations of hostile contracts take, of 256 KiB together: `cargo run --release --example repair_time`.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a measurement that cannot go on has nothing to report"
)]

use aldgate_contract::repair::{Mode, Revision, simulate};
use serde_json::{Map, Value, json};

/// Bytes of all contracts and the arguments.
const TOTAL: usize = 256 << 10;
const VERSIONS: usize = 16;

/// Milliseconds of this thread on a processor.
fn busy() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    let nanoseconds: f64 = told.split(' ').next().unwrap().parse().unwrap();
    nanoseconds / 1e6
}

fn spent(schemas: &[Value], args: &Map<String, Value>) -> [f64; 2] {
    let definitions: Vec<Value> = schemas.iter().map(|schema| json!({"inputSchema": schema})).collect();
    let revisions: Vec<Revision<'_>> = (1..)
        .zip(&definitions)
        .map(|(version, definition)| Revision { version, definition, confirmed: &[] })
        .collect();
    [Mode::Repair, Mode::Strict].map(|mode| {
        let before = busy();
        let found = simulate(&revisions, args, mode);
        let took = busy() - before;
        println!(
            "    {} {} {}",
            found.applied,
            found.changes.len(),
            found.reason.chars().take(120).collect::<String>()
        );
        took
    })
}

/// The same schema in all versions, made as large as the total allows.
fn grown(make: impl Fn(usize, usize) -> Value, versions: usize, args: &Map<String, Value>) -> Vec<Value> {
    let room = TOTAL - Value::from(args.clone()).to_string().len();
    let made = |size: usize| -> Vec<Value> { (0..versions).map(|version| make(size, version)).collect() };
    let fits = |size: usize| made(size).iter().map(|schema| schema.to_string().len()).sum::<usize>() <= room;
    let (mut low, mut high) = (1_usize, 20_000_usize);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if fits(middle) { low = middle } else { high = middle - 1 }
    }
    made(low)
}

fn object(args: Value) -> Map<String, Value> {
    args.as_object().unwrap().clone()
}

fn word(number: usize) -> String {
    let letters = b"bcdfghklmnprstvw";
    (0..6).map(|at| char::from(letters[(number >> (at * 2)) % 16])).collect()
}

fn with_origin(mut properties: Map<String, Value>, version: usize) -> Map<String, Value> {
    if version == 0 {
        properties.insert("origin".to_owned(), json!({}));
    }
    properties
}

fn cases() -> Vec<(&'static str, Vec<Value>, Map<String, Value>)> {
    let mut cases = Vec::new();
    let mut add = |name, versions: usize, args: Value, make: &dyn Fn(usize, usize) -> Value| {
        let args = object(args);
        cases.push((name, grown(make, versions, &args), args));
    };
    let name = |at: usize, version: usize| -> String {
        (0..8).map(|part| word(at * 31 + part * 7 + version * 3)).collect::<Vec<_>>().join("_")
    };
    // Known to the first version alone, so that all renames are looked for.
    let first = json!({"origin": 1});
    add("long names", VERSIONS, first.clone(), &|size, version| {
        let all: Map<String, Value> = (0..size.min(40)).map(|at| (name(at, version), json!({}))).collect();
        json!({"properties": with_origin(all, version), "additionalProperties": false})
    });
    add("long descriptions", VERSIONS, first.clone(), &|size, version| {
        let told = |at: usize| {
            (0..size.min(64)).map(|part| word(at * 5 + part * 3 + version)).collect::<Vec<_>>().join(" ")
        };
        let all: Map<String, Value> =
            (0..40).map(|at| (format!("{}{version}", word(at)), json!({"description": told(at)}))).collect();
        json!({"properties": with_origin(all, version), "additionalProperties": false})
    });
    add("short words", VERSIONS, first.clone(), &|size, version| {
        let told = |at: usize| {
            (0..64)
                .map(|part| word(at + part).chars().take(2).collect::<String>())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let all: Map<String, Value> = (0..size.min(40))
            .map(|at| {
                (name(at, version), json!({"description": told(at), "enum": ["a", "b", "c", "d", "e", "f"]}))
            })
            .collect();
        json!({"properties": with_origin(all, version), "additionalProperties": false})
    });
    add("enumerations", VERSIONS, first.clone(), &|size, version| {
        let members: Vec<usize> = (0..size.min(256)).collect();
        let all: Map<String, Value> =
            (0..40).map(|at| (format!("{}{version}", word(at)), json!({"enum": members}))).collect();
        json!({"properties": with_origin(all, version), "additionalProperties": false})
    });
    add("one description at many places", VERSIONS, first.clone(), &|size, version| {
        let told: String = (0..64).map(|part| format!("{} ", word(part))).collect();
        let mut all: Map<String, Value> =
            (0..size.min(510)).map(|at| (format!("a{at}"), json!({"$ref": "#/$defs/d"}))).collect();
        all.insert(format!("{version}x"), json!({}));
        json!({"$defs": {"d": {"description": told}}, "properties": with_origin(all, version), "additionalProperties": false})
    });
    let values: Map<String, Value> = (0..510).map(|at| (format!("a{at}"), json!("x"))).collect();
    add("many schemas in place", VERSIONS, Value::from(values.clone()), &|size, version| {
        let parts: Vec<Value> = (0..64).map(|at| json!({"$ref": format!("#/$defs/{at}")})).collect();
        let mut defs: Map<String, Value> = (0..64).map(|at| (at.to_string(), json!({}))).collect();
        defs.insert("d".to_owned(), json!({"allOf": parts}));
        let mut all: Map<String, Value> =
            (0..size.min(510)).map(|at| (format!("a{at}"), json!({"$ref": "#/$defs/d"}))).collect();
        all.insert(format!("x{version}"), json!({}));
        json!({"$defs": defs, "properties": all, "required": ["z"]})
    });
    add("many names in place", VERSIONS, Value::from(values), &|size, version| {
        let inner: Map<String, Value> = (0..size).map(|at| (format!("p{at}"), json!(true))).collect();
        let mut all: Map<String, Value> =
            (0..200).map(|at| (format!("a{at}"), json!({"$ref": "#/$defs/d"}))).collect();
        all.insert(format!("x{version}"), json!({}));
        let required: Vec<String> = inner.keys().cloned().collect();
        json!({"$defs": {"d": {"properties": inner, "required": required}}, "properties": all, "required": ["z"]})
    });
    let rows = json!({"v": vec![json!({"a": "x"}); 2040]});
    for versions in [1, 2, VERSIONS] {
        add("checks of many values", versions, rows.clone(), &|size, version| {
            let parts: Vec<Value> = (0..size.min(2000)).map(|at| json!({"minLength": at % 2})).collect();
            json!({"properties": {"v": {"items": {"properties": {"a": {"allOf": parts}}}}}, "required": ["z"], "title": version.to_string()})
        });
        add("alternatives", versions, rows.clone(), &|size, version| {
            let parts: Vec<Value> =
                (0..size.min(2000)).map(|at| json!({"const": format!("y{at}")})).collect();
            json!({"properties": {"v": {"items": {"properties": {"a": {"anyOf": parts}}}}}, "required": ["z"], "title": version.to_string()})
        });
        add("unevaluated", versions, rows.clone(), &|size, version| {
            let parts: Vec<Value> =
                (0..size.min(600)).map(|at| json!({"properties": {format!("b{at}"): true}})).collect();
            json!({"properties": {"v": {"items": {"allOf": parts, "unevaluatedProperties": false}}}, "required": ["z"], "title": version.to_string()})
        });
        add("patterns of names", versions, rows.clone(), &|size, version| {
            let all: Map<String, Value> =
                (0..size.min(2000)).map(|at| (format!("^b{at}$"), json!(true))).collect();
            json!({"properties": {"v": {"items": {"patternProperties": all, "additionalProperties": false}}}, "required": ["z"], "title": version.to_string()})
        });
        add("many properties", versions, json!({"p1": 1, "x": "1"}), &|size, version| {
            let all: Map<String, Value> =
                (0..size).map(|at| (format!("p{version}_{at}"), json!({"type": "integer"}))).collect();
            json!({"properties": all, "required": ["z"]})
        });
        add("many patterns", versions, json!({"x": "1"}), &|size, version| {
            let all: Map<String, Value> = (0..size)
                .map(|at| (format!("p{at}"), json!({"pattern": format!("^{version}[a-z]{{1,9}}x{at}$")})))
                .collect();
            json!({"properties": all, "required": ["z"]})
        });
        add("large patterns", versions, json!({"x": "1"}), &|size, version| {
            let all: Map<String, Value> = (0..size.min(20))
                .map(|at| (format!("p{at}"), json!({"pattern": format!("^{version}\\p{{L}}{{1,99}}x{at}$")})))
                .collect();
            json!({"properties": all, "required": ["z"]})
        });
    }
    add(
        "patterns that go back",
        2,
        json!({"v": vec!["a".repeat(30) + "!"; 2000]}),
        &|_, version| json!({"properties": {"v": {"items": {"pattern": "^(?=a)(a|a?)+$"}}}, "required": ["z"], "title": version.to_string()}),
    );
    let deep = (0..11).fold(json!(vec![1; 4000]), |inner, at| json!({format!("p{at}"): inner}));
    add("copies", VERSIONS, deep, &|_, version| {
        let spelled =
            |at: usize| if version % 2 == 0 { format!("namePart{at}") } else { format!("name_part{at}") };
        let inner = (0..11).fold(json!({"type": "array", "items": {"type": "string"}}), |inner, at| {
            json!({"type": "object", "properties": {if version == 0 { format!("p{at}") } else { spelled(at) }: inner, "k": {}}})
        });
        let mut inner = inner;
        inner["required"] = json!(["z"]);
        inner
    });
    let deep = (0..11).fold(json!(vec![1; 4000]), |inner, at| json!({format!("namePart{at}"): inner}));
    add("copies from the first on", VERSIONS, deep, &|_, version| {
        let spelled =
            |at: usize| if version % 2 == 0 { format!("namePart{at}") } else { format!("name_part{at}") };
        (0..11).fold(json!({"type": "array", "items": {"type": "integer"}}), |inner, at| {
            json!({"type": "object", "properties": {spelled(at): inner}, "additionalProperties": false})
        })
    });
    let rows = json!({"v": vec![json!({"timeout": 1}); 1300], "w": 1, "x": "1"});
    add("doubts", VERSIONS, rows, &|size, version| {
        let unit = ["timeout", "timeout_ms"][version.min(1)];
        let more: Map<String, Value> =
            (0..size.min(400)).map(|at| (format!("n{version}_{at}"), json!({"type": "integer"}))).collect();
        json!({"properties": {"v": {"items": {"properties": {unit: {"type": "integer"}}, "additionalProperties": false}}, "m": {"properties": more}}})
    });
    let members: Vec<String> = (0..2000).map(|at| format!("Member {at}")).collect();
    add("respelled members", 2, json!({"v": members}), &|size, version| {
        let members: Vec<String> = (0..size).map(|at| format!("MEMBER_{at}{}", ["", "_"][version])).collect();
        json!({"properties": {"v": {"items": {"enum": members}}}, "required": ["z"]})
    });
    cases
}

fn main() {
    for (name, schemas, args) in cases() {
        let total: usize = schemas.iter().map(|schema| schema.to_string().len()).sum();
        let [repair, strict] = spent(&schemas, &args);
        println!("{repair:8.1} {strict:8.1} ms  {name}, {} versions, {total} bytes", schemas.len());
    }
}
