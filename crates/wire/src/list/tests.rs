use serde_json::value::RawValue;

use super::{ListFault, ListKind, Page, read, read_prompts, read_resources, read_templates, read_tools};

fn page(text: &str) -> Result<Page, ListFault> {
    read_tools(serde_json::from_str::<&RawValue>(text).unwrap())
}

fn refusals(page: &Page) -> Vec<String> {
    let shown = |name: &Option<String>| name.clone().unwrap_or_else(|| "-".to_owned());
    page.refused.iter().map(|tool| format!("{} {}: {}", tool.index, shown(&tool.key), tool.fault)).collect()
}

#[test]
fn keeps_definitions_byte_by_byte_and_in_order() {
    let b = r#"{ "name":"b","inputSchema":{"maximum":1.10,"x":12345678901234567890123},"icons":[{"theme":"sepia"}] }"#;
    let a = r#"{"name":"a","execution":{"vendor":null}}"#;
    let page = page(&format!(r#"{{"tools":[{b} , {a}],"nextCursor":"","ttlMs":5.0,"cacheScope":"public"}}"#))
        .unwrap();
    let tools: Vec<(&str, &str)> =
        page.items.iter().map(|tool| (tool.key.as_str(), tool.raw.get())).collect();
    assert_eq!(tools, [("b", b), ("a", a)]);
    assert!(page.refused.is_empty());
    assert_eq!((page.next_cursor.as_deref(), page.ttl_ms, page.public), (Some(""), 5, true));
}

#[test]
fn a_bad_element_does_not_spoil_the_others() {
    let text = r#"{"tools":[7,{"name":"good"},{"inputSchema":{}},{"name":""},{"name":5},{"name":"a","n\u0061me":"b"},{"name":"good","x":1},{"name":"m","_meta":[]},null]}"#;
    let page = page(text).unwrap();
    assert_eq!(page.items.len(), 1);
    assert_eq!(
        refusals(&page),
        [
            "0 -: a tool must be an object, found a number",
            "2 -: a tool must have `name`, a string that is not empty",
            "3 -: a tool must have `name`, a string that is not empty",
            "4 -: a tool must have `name`, a string that is not empty",
            "5 -: the definition repeats the member `name`",
            "6 good: an earlier tool of the list has the same `name`",
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
        assert!(page.items.is_empty(), "{definition}");
        assert!(refusals(&page)[0].contains("which only the gateway may set"), "{definition}");
    }
    let mention =
        r#"{"name":"t","description":"io.github.aldgate/contract","_meta":{"x":"io.github.aldgate/x"}}"#;
    assert_eq!(page(&format!(r#"{{"tools":[{mention}]}}"#)).unwrap().items.len(), 1);
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
    assert_eq!(page("{}").unwrap_err(), ListFault::NoElements { member: "tools" });
    assert_eq!(page(r#"{"tools":{}}"#).unwrap_err(), ListFault::NoElements { member: "tools" });
    assert_eq!(page(r#"{"tools":[],"nextCursor":1}"#).unwrap_err(), ListFault::Cursor);
    assert_eq!(
        page(r#"{"tools":[],"tools":[]}"#).unwrap_err(),
        ListFault::Repeated { member: "tools".to_owned() }
    );
}

#[test]
fn every_kind_keeps_its_definitions_byte_by_byte() {
    let resource = r#"{"uri":"ticket://SR-1","name":"t" ,"size":1e2,"mimeType":"text/plain","x":{"a":1.10}}"#;
    let template = r#"{"name":"t","uriTemplate":"ticket:\/\/{id}","annotations":{"priority":0.50}}"#;
    let prompt = r#"{"name":"p","arguments":[{"name":"a","required":true},{"name":"b","title":"B"}]}"#;
    for (reader, member, element, key) in [
        (read_resources as fn(&RawValue) -> Result<Page, ListFault>, "resources", resource, "ticket://SR-1"),
        (read_templates, "resourceTemplates", template, "ticket://{id}"),
        (read_prompts, "prompts", prompt, "p"),
    ] {
        let text =
            format!(r#"{{"{member}":[{element},5],"nextCursor":"n","ttlMs":7,"cacheScope":"public"}}"#);
        let page = reader(serde_json::from_str(&text).unwrap()).unwrap();
        let items: Vec<(&str, &str)> =
            page.items.iter().map(|item| (item.key.as_str(), item.raw.get())).collect();
        assert_eq!(items, [(key, element)]);
        assert_eq!((page.next_cursor.as_deref(), page.ttl_ms, page.public), (Some("n"), 7, true));
        assert_eq!((page.refused.len(), page.refused[0].index), (1, 1), "{member}");
        assert_eq!(
            reader(serde_json::from_str("{}").unwrap()).unwrap_err().to_string(),
            format!("the list must have `{member}`, an array")
        );
    }
}

#[test]
fn elements_that_a_strict_client_would_choke_on_are_named() {
    let refused = |of: ListKind, elements: &str| -> Vec<String> {
        let text = format!(r#"{{"{}":[{elements}]}}"#, of.member());
        let page = read(of, serde_json::from_str(&text).unwrap()).unwrap();
        assert!(page.items.is_empty(), "{elements}");
        refusals(&page)
    };
    assert_eq!(
        refused(
            ListKind::Resources,
            r#"{"name":"n"},{"uri":"a:b"},{"uri":"a:c","name":1},{"uri":"a:d","name":"n","size":"1"},
               {"uri":"a:e","name":"n","mimeType":null},{"uri":"a:f","name":"n","_meta":{"io.github.aldgate/x":1}},
               {"uri":"a:g","name":"n","title":"t","title":"u"},{"uri":"a:h","name":"n","_meta":1}"#
        ),
        [
            "0 -: a resource must have `uri`, a string that is not empty",
            "1 a:b: `name` of a resource must be a string, found nothing",
            "2 a:c: `name` of a resource must be a string, found a number",
            "3 a:d: `size` of a resource must be a number, found a string",
            "4 a:e: `mimeType` of a resource must be a string, found null",
            "5 a:f: `_meta` holds the key `io.github.aldgate/x`, which only the gateway may set",
            "6 a:g: the definition repeats the member `title`",
            "7 a:h: `_meta` of a resource must be an object, found a number",
        ]
    );
    assert_eq!(
        refused(ListKind::Templates, r#"{"uriTemplate":"","name":"n"},{"uriTemplate":"a:{b}"}"#),
        [
            "0 -: a resource template must have `uriTemplate`, a string that is not empty",
            "1 a:{b}: `name` of a resource template must be a string, found nothing",
        ]
    );
    assert_eq!(
        refused(
            ListKind::Prompts,
            r#"{"title":"x"},{"name":"a","arguments":{}},{"name":"b","arguments":[1]},{"name":"c","arguments":[{}]},
               {"name":"d","arguments":[{"name":"x"},{"name":"x"}]},
               {"name":"e","arguments":[{"name":"x","required":"yes"}]}"#
        ),
        [
            "0 -: a prompt must have `name`, a string that is not empty",
            "1 a: `arguments` of a prompt must be an array, found an object",
            "2 b: `arguments` of a prompt must be an array of objects, found another element",
            "3 c: `arguments` of a prompt must be an array of objects with `name`, found one without",
            "4 d: `arguments` of a prompt must be an array of objects with different `name`s, found two equal ones",
            "5 e: `arguments` of a prompt must be an array whose `required` are booleans, found another one",
        ]
    );
    let twice = r#"{"resources":[{"uri":"a:b","name":"n"},{"uri":"a:b","name":"m"}]}"#;
    let page = read_resources(serde_json::from_str(twice).unwrap()).unwrap();
    assert_eq!(refusals(&page), ["1 a:b: an earlier resource of the list has the same `uri`"]);
}
