use aldgate_contract::Kind;

use super::{Named, quoted};

#[test]
fn a_name_is_read_as_it_is_written() {
    for (text, kind, upstream, name) in [
        ("a/look", Kind::Tool, "a", "look"),
        ("a/b/c", Kind::Tool, "a", "b/c"),
        ("prompt:a/ask", Kind::Prompt, "a", "ask"),
        ("resource:a/ticket://{id}/x", Kind::ResourceTemplate, "a", "ticket://{id}/x"),
    ] {
        let named = Named::parse(text).expect("a name");
        assert_eq!((named.item.kind, &*named.upstream, &*named.item.name), (kind, upstream, name));
        assert_eq!(named.to_string(), text);
    }
    for wrong in ["", "a", "/", "a/", "/look", "prompt:a", "resource:/x"] {
        assert!(Named::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_word_can_be_copied_into_a_shell() {
    assert_eq!(quoted("a/look"), "a/look");
    assert_eq!(quoted("resource:a/ticket://{id}"), "'resource:a/ticket://{id}'");
    assert_eq!(quoted("it's; rm -rf $HOME"), r"'it'\''s; rm -rf $HOME'");
    assert_eq!(quoted(""), "''");
}
