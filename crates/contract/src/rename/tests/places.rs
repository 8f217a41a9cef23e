use expect_test::{Expect, expect};
use serde_json::{Map, Value, json};

use super::super::{Confirmed, of_properties};
use super::lines;

fn check(before: &Value, after: &Value, confirmed: &[(&str, &str)], expected: &Expect) {
    let confirmed: Vec<Confirmed> = confirmed
        .iter()
        .map(|(from, to)| Confirmed { from: (*from).to_owned(), to: (*to).to_owned() })
        .collect();
    expected.assert_eq(&lines(&of_properties(before, after, &confirmed)));
}

fn object(properties: &Value) -> Value {
    json!({"type": "object", "properties": properties})
}

#[test]
fn places_below_are_compared_where_those_above_are_counterparts() {
    let line = |part: &str| object(&json!({(part): {"type": "string"}, "count": {"type": "integer"}}));
    let order = |lines: &str, part: &str| {
        json!({
            "properties": {
                (lines): {"type": "array", "items": {"$ref": "#/$defs/line"}},
                "buyer": {"anyOf": [object(&json!({(part): {"type": "string"}})), {"type": "null"}]},
            },
            "$defs": {"line": line(part)},
        })
    };
    check(
        &order("orderLines", "partId"),
        &order("order_lines", "part_id"),
        &[],
        &expect![[r#"
            orderLines=order_lines 0.98
            buyer/partId=buyer/part_id 0.98
            orderLines/*/partId=order_lines/*/part_id 0.98
        "#]],
    );
}

#[test]
fn all_of_and_anchors_are_followed_and_circles_end() {
    let tree = |label: &str| {
        json!({
            "allOf": [{"$ref": "#node"}],
            "$defs": {"node": {"$anchor": "node", "properties": {
                (label): {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#node"}},
            }}},
        })
    };
    check(
        &tree("nodeLabel"),
        &tree("node_label"),
        &[],
        &expect![[r#"
            nodeLabel=node_label 0.98
            children/*/nodeLabel=children/*/node_label 0.98
            children/*/children/*/nodeLabel=children/*/children/*/node_label 0.98
        "#]],
    );
    for lost in [json!({"$ref": "#"}), json!({"$ref": "#/$defs/x"}), json!({"$ref": "https://e.example/"})] {
        check(&lost, &lost, &[], &expect![""]);
    }
}

#[test]
fn names_are_escaped() {
    check(
        &object(&json!({"a/b~cD": {"type": "string"}})),
        &object(&json!({"a/b~c_d": {"type": "string"}})),
        &[],
        &expect![[r#"
            a~1b~0cD=a~1b~0c_d 0.98
        "#]],
    );
}

#[test]
fn what_moved_to_another_object_is_found_by_its_way_or_words() {
    let city = json!({"type": "string", "description": "City of the delivery"});
    check(
        &object(&json!({"address_city": {"type": "string"}, "addressZip": {"type": "string"}})),
        &object(&json!({"address": object(&json!({"city": {"type": "string"}, "zip": {"type": "string"}}))})),
        &[],
        &expect![[r#"
            address_city=address/city 0.93
            addressZip=address/zip 0.93
        "#]],
    );
    check(
        &object(&json!({"city": city})),
        &object(&json!({"delivery": object(&json!({"city": city}))})),
        &[],
        &expect![[r#"
            city=delivery/city 0.88
        "#]],
    );
    check(
        &object(&json!({"id": {"type": "string"}})),
        &object(&json!({"customer": object(&json!({"id": {"type": "string"}}))})),
        &[],
        &expect![[""]],
    );
}

#[test]
fn what_is_confirmed_is_certain_and_excludes_others() {
    let before = object(&json!({"q": {"type": "string"}, "kept": {}}));
    let after = object(&json!({"query": {"type": "string"}, "text": {"type": "string"}, "kept": {}}));
    check(
        &before,
        &after,
        &[("q", "text")],
        &expect![[r#"
            q=text 1 confirmed
        "#]],
    );
    check(
        &before,
        &after,
        &[("q", "none"), ("none", "query"), ("q", "q")],
        &expect![[r#"
            q=query 0.96
        "#]],
    );
    check(
        &before,
        &after,
        &[("q", "text"), ("q", "query"), ("kept", "text")],
        &expect![[r#"
            q=text 1 confirmed
        "#]],
    );
}

#[test]
fn two_candidates_that_are_nearly_alike_are_both_doubtful() {
    let text = || json!({"type": "string"});
    check(
        &object(&json!({"id": text()})),
        &object(&json!({"ticket_id": text(), "invoice_id": text()})),
        &[],
        &expect![[r#"
            id=ticket_id 0.67
        "#]],
    );
}

#[test]
fn one_of_several_that_became_one_is_doubtful() {
    let text = |words: &str| json!({"type": "string", "description": words});
    check(
        &object(&json!({"owner": text("Who owns it"), "repo": text("Repository name")})),
        &object(&json!({"repository": text("Repository, as owner and name")})),
        &[],
        &expect![[r#"
            repo=repository 0.6
        "#]],
    );
}

#[test]
fn bounds_hold() {
    let many = |suffix: &str, count: usize| -> Value {
        let properties: Map<String, Value> =
            (0..count).map(|at| (format!("p{at}{suffix}"), json!({"type": "string"}))).collect();
        object(&Value::Object(properties))
    };
    assert_eq!(of_properties(&many("Name", 60), &many("_name", 60), &[]).len(), 40);
    let deep =
        |name: &str| (0..60).fold(object(&json!({(name): {}})), |inner, _| object(&json!({"in": inner})));
    assert_eq!(of_properties(&deep("aB"), &deep("a_b"), &[]), []);
    let wide = |suffix: &str| {
        let objects: Map<String, Value> = (0..12).map(|at| (format!("o{at}"), many(suffix, 36))).collect();
        object(&Value::Object(objects))
    };
    // 2,048 pairs are those of one object and a part of the next.
    let found = of_properties(&wide("Name"), &wide("_name"), &[]);
    assert!((36..80).contains(&found.len()), "{}", found.len());
}

#[test]
fn what_stays_is_not_renamed() {
    let of = |names: &[&str]| {
        object(&names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect())
    };
    let transfer = of(&["from", "to", "n"]);
    // Both are there before and after.
    check(&transfer, &transfer, &[("from", "to")], &expect![[""]]);
    // The old name stays; the new one was there before.
    check(&of(&["a"]), &of(&["a", "b"]), &[("a", "b")], &expect![[""]]);
    check(&of(&["a", "b"]), &of(&["b"]), &[("a", "b")], &expect![[""]]);
    // Each name that stays is an end of another.
    check(
        &transfer,
        &transfer,
        &[("from", "to"), ("to", "from")],
        &expect![[r#"
        from=to 1 confirmed
        to=from 1 confirmed
    "#]],
    );
    check(
        &of(&["a", "b"]),
        &of(&["b", "c"]),
        &[("a", "b"), ("b", "c")],
        &expect![[r#"
        a=b 1 confirmed
        b=c 1 confirmed
    "#]],
    );
    // A chain that does not end.
    check(&of(&["a", "b", "c"]), &of(&["b", "c"]), &[("a", "b"), ("b", "c")], &expect![[""]]);
    check(&of(&["a", "b"]), &of(&["b"]), &[("a", "a"), ("a", "b")], &expect![[""]]);
    // Of objects that are swapped, also what is in them.
    let [billing, delivery] = [object(&json!({"zip": {}, "at": {}})), object(&json!({"zip": {}, "to": {}}))];
    check(
        &object(&json!({"billing": billing, "delivery": delivery})),
        &object(&json!({"billing": delivery, "delivery": billing})),
        &[("billing", "delivery"), ("delivery", "billing"), ("billing/zip", "delivery/zip")],
        &expect![[r#"
            billing=delivery 1 confirmed
            delivery=billing 1 confirmed
            billing/zip=delivery/zip 1 confirmed
        "#]],
    );
}
