use serde_json::value::RawValue;

use super::{ListFault, ToolPage, read_tools};

fn page(text: &str) -> Result<ToolPage, ListFault> {
    read_tools(serde_json::from_str::<&RawValue>(text).unwrap())
}

fn refusals(page: &ToolPage) -> Vec<String> {
    let shown = |name: &Option<String>| name.clone().unwrap_or_else(|| "-".to_owned());
    page.refused.iter().map(|tool| format!("{} {}: {}", tool.index, shown(&tool.name), tool.fault)).collect()
}

#[test]
fn keeps_definitions_byte_by_byte_and_in_order() {
    let b = r#"{ "name":"b","inputSchema":{"maximum":1.10,"x":12345678901234567890123},"icons":[{"theme":"sepia"}] }"#;
    let a = r#"{"name":"a","execution":{"vendor":null}}"#;
    let page = page(&format!(r#"{{"tools":[{b} , {a}],"nextCursor":"","ttlMs":5.0,"cacheScope":"public"}}"#))
        .unwrap();
    let tools: Vec<(&str, &str)> =
        page.tools.iter().map(|tool| (tool.name.as_str(), tool.raw.get())).collect();
    assert_eq!(tools, [("b", b), ("a", a)]);
    assert!(page.refused.is_empty());
    assert_eq!((page.next_cursor.as_deref(), page.ttl_ms, page.public), (Some(""), 5, true));
}

#[test]
fn a_bad_element_does_not_spoil_the_others() {
    let text = r#"{"tools":[7,{"name":"good"},{"inputSchema":{}},{"name":""},{"name":5},{"name":"a","n\u0061me":"b"},{"name":"good","x":1},{"name":"m","_meta":[]},null]}"#;
    let page = page(text).unwrap();
    assert_eq!(page.tools.len(), 1);
    assert_eq!(
        refusals(&page),
        [
            "0 -: a tool must be an object, found a number",
            "2 -: a tool must have `name`, a string that is not empty",
            "3 -: a tool must have `name`, a string that is not empty",
            "4 -: a tool must have `name`, a string that is not empty",
            "5 -: the definition repeats the member `name`",
            "6 good: an earlier tool of the list has the same name",
            "7 m: `_meta` of a tool must be an object, found an array",
            "8 -: a tool must be an object, found null",
        ]
    );
}

#[test]
fn our_own_keys_are_refused_wherever_a_meta_stands() {
    for definition in [
        r#"{"name":"t","_meta":{"io.github.aldgate/contract":{}}}"#,
        r#"{"name":"t","_meta":{"a":1,"io.github.aldgate\u002fcontract":{}}}"#,
        r#"{"name":"t","_meta":{"IO.github.Aldgate/x":1}}"#,
        r#"{"name":"t","icons":[{"src":"x","_meta":{"io.github.aldgate/x":1}}]}"#,
        r#"{"name":"t","inputSchema":{"properties":{"p":{"_meta":{"io.github.aldgate/x":1}}}}}"#,
    ] {
        let page = page(&format!(r#"{{"tools":[{definition}]}}"#)).unwrap();
        assert!(page.tools.is_empty(), "{definition}");
        assert!(refusals(&page)[0].contains("which only the gateway may set"), "{definition}");
    }
    let mention =
        r#"{"name":"t","description":"io.github.aldgate/contract","_meta":{"x":"io.github.aldgate/x"}}"#;
    assert_eq!(page(&format!(r#"{{"tools":[{mention}]}}"#)).unwrap().tools.len(), 1);
}

#[test]
fn odd_caching_members_count_as_stale_and_private() {
    for members in [
        "",
        r#","ttlMs":-1"#,
        r#","ttlMs":"5""#,
        r#","ttlMs":0.5"#,
        r#","ttlMs":1e400"#,
        r#","cacheScope":"tenant""#,
    ] {
        let page = page(&format!(r#"{{"tools":[]{members}}}"#)).unwrap();
        assert_eq!((page.ttl_ms, page.public), (0, false), "{members}");
    }
    assert_eq!(page(r#"{"tools":[],"nextCursor":null}"#).unwrap().next_cursor, None);
}

#[test]
fn a_page_without_a_list_is_refused() {
    assert_eq!(page("[]").unwrap_err(), ListFault::NotObject);
    assert_eq!(page("{}").unwrap_err(), ListFault::NoTools);
    assert_eq!(page(r#"{"tools":{}}"#).unwrap_err(), ListFault::NoTools);
    assert_eq!(page(r#"{"tools":[],"nextCursor":1}"#).unwrap_err(), ListFault::Cursor);
    assert_eq!(
        page(r#"{"tools":[],"tools":[]}"#).unwrap_err(),
        ListFault::Repeated { member: "tools".to_owned() }
    );
}
