use super::*;

#[test]
fn forms_are_read_with_all_that_a_browser_would_send() {
    let page = Page::read(
        r#"<title>Sign in · Aldgate</title><form method="post" action="/a?x=1&amp;y=2"><input type="hidden" name="csrf" value="a&quot;b"><input id="name" name="name" value="" type="text" required><input type="checkbox" name="scope:a" value="on" checked><input type="checkbox" name="scope:b" value="on"><button type="submit">Go</button><button type="submit" name="decision" value="allow">Allow</button></form>"#,
    );
    let field =
        |name: &str, value: &str| Field { name: name.to_owned(), value: value.to_owned(), left_out: false };
    let unticked = Field { left_out: true, ..field("scope:b", "on") };
    let fields = vec![
        field("csrf", "a\"b"),
        field("name", ""),
        field("scope:a", "on"),
        unticked,
        field("decision", "allow"),
    ];
    let form = Form { action: "/a?x=1&y=2".to_owned(), fields };
    assert_eq!(page, Page { title: "Sign in · Aldgate".to_owned(), refresh: None, forms: vec![form] });
    assert!(page.forms[0].has("decision") && !page.forms[0].has("repeated"));
}

#[test]
fn where_a_page_leads_by_itself_is_read() {
    let page =
        Page::read(r#"<meta http-equiv="refresh" content="0; url=http://127.0.0.1:1/callback?a=b&amp;c=d">"#);
    assert_eq!(page.refresh.as_deref(), Some("http://127.0.0.1:1/callback?a=b&c=d"));
    assert_eq!(Page::read("no page <").forms, []);
}
