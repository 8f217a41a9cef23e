use serde_json::json;

use super::{longest, objects};

#[test]
fn a_path_leads_to_the_objects_of_every_item() {
    let args = json!({"a": {"b~/": {"x": 1}}, "lines": [{"x": {}}, {"x": {"y": 1}}, {}, 7], "n": 1});
    let found = |path: &str| {
        let (pointers, looked) = objects(&args, path);
        format!("{} ({looked})", pointers.join(" "))
    };
    for (path, expected) in [
        ("", " (1)"),
        ("a", "/a (2)"),
        ("a/b~0~1", "/a/b~0~1 (3)"),
        ("n", " (2)"),
        ("none/x", " (1)"),
        ("lines", " (2)"),
        ("lines/*", "/lines/0 /lines/1 /lines/2 (6)"),
        ("lines/*/x", "/lines/0/x /lines/1/x (8)"),
        ("lines/*/x/y", " (9)"),
        // What is an array now may have been an object.
        ("lines/x", " (2)"),
        ("a/*", " (2)"),
    ] {
        assert_eq!(found(path), expected, "{path}");
    }
}

#[test]
fn an_item_is_as_long_as_the_longest_place_in_an_array() {
    for (args, expected) in [
        (json!({}), 0),
        (json!({"ab": 1, "a": {"b": 1}}), 4),
        (json!({"ab": [1]}), 8),
        (json!({"a": [[{"b": 1}], 1], "abcdef": 1}), 14),
    ] {
        assert_eq!(longest(&args), expected, "{args}");
    }
}
