use expect_test::{Expect, expect};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::{Authority, Entry, Registry, Resources};

fn matched(template: &str, uri: &str) -> String {
    let uri = match Uri::parse(uri) {
        Ok(uri) => uri,
        Err(fault) => return format!("refused: {fault}"),
    };
    let Some(variables) = Template::parse(template).unwrap().matches(&uri) else { return "no".to_owned() };
    variables.iter().map(|(name, value)| format!("{name}={value:?}")).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(template: &str, uri: &str, expected: &str) {
    assert_eq!(matched(template, uri), expected, "{template} {uri}");
}

#[test]
fn a_variable_is_a_part_of_one_segment() {
    check("ticket://{id}", "ticket://SR-20031", r#"id="SR-20031""#);
    check("ticket://{id}", "ticket://SR-20031/notes", "no");
    check("ticket://{id}", "ticket://SR-20031?all", "no");
    check("ticket://{id}", "ticket://", "no");
    check("ticket://{id}", "tickets://SR-1", "no");
    check("ticket://{id}/notes/{note}", "ticket://SR-1/notes/7", r#"id="SR-1" note="7""#);
    check("ticket://{id}/notes/{note}", "ticket://SR-1/notes/", "no");
    check("manual://page-{n}.html", "manual://page-12.html", r#"n="12""#);
    check("manual://page-{n}.html", "manual://page-.html", "no");
    check("manual://page-{n}.html", "manual://page-1.html.html", r#"n="1.html""#);
    check("find:x?q={q}", "find:x?q=a=b", r#"q="a=b""#);
    check("find:x?q={q}", "find:x?q=a#b", "refused: it must not have a fragment, `#` and what follows");
}

#[test]
fn a_spanning_variable_crosses_segments() {
    check("file:///{+path}", "file:///a/b/c.txt", r#"path="a/b/c.txt""#);
    check("file:///{+path}", "file:///", "no");
    check("doc://{+path}/page/{n}", "doc://a/page/b/page/3", r#"n="3" path="a/page/b""#);
    check("doc://{book}/{+path}.md", "doc://b/x/y.md", r#"book="b" path="x/y""#);
    check("doc://{+path}.md", "doc://.md", "no");
}

#[test]
fn values_are_decoded_once() {
    check("ticket://{id}", "ticket://a%20b%C3%A9", r#"id="a bé""#);
    check("ticket://{id}", "ticket://100%25", r#"id="100%""#);
    check("mail://{address}", "mail://bob%40corp", r#"address="bob@corp""#);
}

#[test]
fn equal_uris_are_matched_alike() {
    check("ticket://SR-1", "ticket://SR-1", "");
    check("ticket://SR-1", "TICKET://%53R%2D1", "");
    check("Ticket://%53R-{n}", "ticket://SR-1", r#"n="1""#);
    check("mail://bob@corp", "mail://bob%40corp", "");
    check("mail://bob%40{where}", "mail://bob@corp", r#"where="corp""#);
    check("ticket://SR-1", "ticket://sr-1", "no");
    assert_eq!(Uri::parse("TICKET://%53R%2d%5b%3a").unwrap().normal(), "ticket://SR-%5B:");
}

#[test]
fn what_servers_divide_by_is_not_encoded() {
    let refused = "refused: `/`, `\\`, `?` and `#` must not be percent-encoded in it, however often: servers differ in how \
                   they read that";
    for uri in ["a%2Fb", "a%2fb", "a%5Cb", "a%3Fb", "a%23b", "a%252Fb", "a%25252fb"] {
        for template in ["file:///{name}", "file:///{+path}"] {
            check(template, &format!("file:///{uri}"), refused);
        }
    }
}

#[test]
fn a_stricter_entry_for_another_spelling_of_a_uri_rules() {
    let entries = [
        ("f/file:///{+path}", Authority::Automatic),
        ("f/file:///secret/{+path}", Authority::Prohibited),
        ("f/file:///key.pem", Authority::Prohibited),
        ("f/host://{name}", Authority::Automatic),
        ("f/host://vault", Authority::Prohibited),
        ("f/mail://{address}", Authority::Automatic),
        ("f/mail://bob@corp", Authority::Prohibited),
    ];
    let entries = entries.map(|(key, authority)| (key.to_owned(), Entry::of(authority)));
    let registry = Registry::default().with_resources(Resources::new(entries).unwrap());
    let ruled = |uri: &str| {
        let uri = Uri::parse(uri).unwrap();
        registry.matching(&uri).first().map(|one| one.entry.authority)
    };
    for uri in [
        "file:///secret/x",
        "file:////secret/x",
        "file:///secret//x",
        "file:///%73ecret/x",
        "file:///key.pem",
        "file:///key.pem?",
        "file:///key.pem?a=b",
        "file:///key.pem/",
        "host://VAULT",
        "host://vault/",
        "mail://bob%40corp",
        "mail://bob@corp",
    ] {
        assert!(
            ruled(uri).is_none_or(|authority| authority == Authority::Prohibited),
            "{uri}: {:?}",
            ruled(uri)
        );
    }
    for uri in ["file:///public/x", "file:///secrets", "host://door", "mail://ann%40corp"] {
        assert_eq!(ruled(uri), Some(Authority::Automatic), "{uri}");
    }
}

#[test]
fn what_hides_something_is_refused() {
    let dots = "refused: it must not have `.` or `..` as a segment, nor hide one by encoding";
    for uri in [
        "file:///a/../b",
        "file:///a/./b",
        "file:///..",
        "file:..",
        "file:///%2e%2e/b",
        "file:///a%2F..%2Fb",
        "file:///a%5c..%5cb",
        "file:///a/%252e%252e/b",
        "file:///a/%25252e./b",
        "file:///a/..;x=1/b",
        "file:///a?path=../b",
    ] {
        check("file:///{+path}", uri, dots);
    }
    let deep = format!("x:{}", (0..20).fold("%2e".to_owned(), |text, _| text.replace('%', "%25")));
    check("x:{y}", &deep, dots);
    check("file:///{+path}", "file:///a..b/.hidden/...", r#"path="a..b/.hidden/...""#);
    check("x:{y}", "x:%00", "refused: what is percent-encoded must be UTF-8 text without control characters");
    check("x:{y}", "x:%ff", "refused: what is percent-encoded must be UTF-8 text without control characters");
    check("x:{y}", "x:%4", "refused: a `%` must have two hexadecimal digits behind it");
    check("x:{y}", "x:%zz", "refused: a `%` must have two hexadecimal digits behind it");
    check("x:{y}", "x:a b", "refused: ` ` cannot stand in a URI; percent-encode it");
    check("x:{y}", "x:a\u{7}", "refused: `\\u{7}` cannot stand in a URI; percent-encode it");
    check("x:{y}", "x:é", "refused: `é` cannot stand in a URI; percent-encode it");
    let scheme = "refused: it must begin with a scheme, such as `ticket:`, and go on behind it";
    for uri in ["", "x", "x:", "1x:y", ":y", "a/b:c"] {
        check("x:{y}", uri, scheme);
    }
    check("x:{y}", &format!("x:{}", "y".repeat(8191)), "refused: it has more than 8192 characters");
}

#[test]
fn templates_that_could_be_read_in_two_ways_are_refused() {
    let refused = |text: &str, expected: Expect| {
        expected.assert_eq(&Template::parse(text).unwrap_err().to_string());
    };
    refused(
        "x:{a}{b}",
        expect![
            "the variable `b` can run into the one before it; put a `/` between them, and use `{+name}` only once"
        ],
    );
    refused(
        "x:{a}-{b}",
        expect![
            "the variable `b` can run into the one before it; put a `/` between them, and use `{+name}` only once"
        ],
    );
    refused(
        "x:{+a}/{+b}",
        expect![
            "the variable `b` can run into the one before it; put a `/` between them, and use `{+name}` only once"
        ],
    );
    refused("x:{a}/{a}", expect!["the variable `a` occurs twice; give each its own name"]);
    refused(
        "x:{?a}",
        expect![
            "`{?a}` is not supported; expected `{name}` for a part of one segment or `{+name}` for several segments, with letters, digits, `_` and `.` in the name"
        ],
    );
    refused(
        "x:{a:3}",
        expect![
            "`{a:3}` is not supported; expected `{name}` for a part of one segment or `{+name}` for several segments, with letters, digits, `_` and `.` in the name"
        ],
    );
    refused(
        "x:{}",
        expect![
            "`{}` is not supported; expected `{name}` for a part of one segment or `{+name}` for several segments, with letters, digits, `_` and `.` in the name"
        ],
    );
    refused(
        "x:{a",
        expect!["`x:{a` has a `{` or `}` without the other; write `{name}`, or percent-encode the brace"],
    );
    refused(
        "x:a}",
        expect!["`x:a}` has a `{` or `}` without the other; write `{name}`, or percent-encode the brace"],
    );
    refused(
        "{a}:b",
        expect![
            "`{a}:b` is not a URI or a template of one: it must begin with a scheme, such as `ticket:`, and go on behind it"
        ],
    );
    refused(
        "ticket",
        expect![
            "`ticket` is not a URI or a template of one: it must begin with a scheme, such as `ticket:`, and go on behind it"
        ],
    );
    refused(
        "x:/../{a}",
        expect![
            "`x:/../{a}` is not a URI or a template of one: it must not have `.` or `..` as a segment, nor hide one by encoding"
        ],
    );
    refused(
        "x:%{a}",
        expect![
            "`x:%{a}` is not a URI or a template of one: a `%` must have two hexadecimal digits behind it"
        ],
    );
    assert!(Template::parse(&format!("x:{}", "y".repeat(9000))).is_err());
}

fn overlap(one: &str, other: &str) -> Option<String> {
    let entry = || Entry::of(Authority::Automatic);
    let resources = Resources::new([(format!("a/{one}"), entry()), (format!("b/{other}"), entry())]).unwrap();
    let registry = Registry::default().with_resources(resources);
    let found = overlaps(&registry);
    assert!(found.len() < 2);
    found.into_iter().next().map(|overlap| {
        assert_eq!((overlap.one, overlap.other), (format!("a/{one}"), format!("b/{other}")));
        overlap.example
    })
}

#[test]
fn overlaps_are_found_with_an_example() {
    assert_eq!(overlap("x:y", "x:y").as_deref(), Some("x:y"));
    assert_eq!(overlap("X:%79", "x:y").as_deref(), Some("x:y"));
    assert_eq!(overlap("x:{a}", "x:y").as_deref(), Some("x:y"));
    assert_eq!(overlap("x:{a}/b", "x:c/{d}").as_deref(), Some("x:c/b"));
    assert_eq!(overlap("x:{+a}", "x:b/{c}/d").as_deref(), Some("x:b/x/d"));
    assert_eq!(overlap("x:{a}.txt", "x:n-{b}").as_deref(), Some("x:n-.txt"));
    assert_eq!(overlap("x:{a}", "x:b/{c}"), None);
    assert_eq!(overlap("x:{a}", "y:{a}"), None);
    assert_eq!(overlap("x:{a}.txt", "x:{a}.pdf"), None);
    assert_eq!(overlap("x:{+a}/end", "x:{b}"), None);
    assert_eq!(overlap("x:abc", "x:{a}bcd"), None);
}

#[test]
fn resources_of_one_upstream_do_not_overlap() {
    let entry = || Entry::of(Authority::Automatic);
    let resources = Resources::new([("a/x:{b}".to_owned(), entry()), ("a/x:y".to_owned(), entry())]).unwrap();
    assert_eq!(overlaps(&Registry::default().with_resources(resources)), []);
}

/// Templates of few letters, so that they often meet.
fn template() -> impl Strategy<Value = String> {
    let segment = prop_oneof![
        "[ab]{1,2}".prop_map(|text| text),
        ("[ab]{0,1}", "[ab]{0,1}").prop_map(|(before, behind)| format!("{before}{{V}}{behind}")),
    ];
    (vec(segment, 1..4), proptest::option::of(0..4_usize)).prop_map(|(segments, spanning)| {
        let mut parts: Vec<String> = segments
            .iter()
            .enumerate()
            .map(|(index, segment)| segment.replace("{V}", &format!("{{v{index}}}")))
            .collect();
        if let Some(at) = spanning {
            parts.insert(at.min(parts.len()), "{+rest}".to_owned());
        }
        format!("x:{}", parts.join("/"))
    })
}

/// A URI that the template stands for, with these values.
fn expanded(template: &Template, values: &[String]) -> String {
    let mut values = values.iter().cycle();
    let mut text = String::new();
    for piece in &template.pieces {
        match piece {
            Piece::Literal(literal) => text.push_str(literal),
            Piece::Variable { spans, .. } => {
                let value = values.next().unwrap();
                text.push_str(if *spans { value } else { value.split('/').next().unwrap() });
            }
        }
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// **Invariant:** no overlap is missed.
    #[test]
    fn what_two_templates_match_is_an_overlap(
        one in template(), other in template(), values in vec("[ab]{1,2}(/[ab]{1,2}){0,2}", 1..4),
    ) {
        let (first, second) = (Template::parse(&one).unwrap(), Template::parse(&other).unwrap());
        let common = overlap(&one, &other);
        let uri = Uri::parse(&expanded(&first, &values)).unwrap();
        prop_assert!(first.matches(&uri).is_some(), "{} of {}", uri, one);
        if second.matches(&uri).is_some() {
            prop_assert!(common.is_some(), "{} and {} match {}", one, other, uri);
        }
        if let Some(example) = common {
            let uri = Uri::parse(&example).unwrap();
            prop_assert!(first.matches(&uri).is_some() && second.matches(&uri).is_some(), "{}", example);
        }
    }

    /// What is put into a template comes out of it.
    #[test]
    fn values_come_back(template in template(), values in vec("[ab]{1,2}", 1..2)) {
        let template = Template::parse(&template).unwrap();
        let uri = Uri::parse(&expanded(&template, &values)).unwrap();
        let found = template.matches(&uri).unwrap();
        prop_assert!(found.values().all(|value| *value == values[0]), "{:?}", found);
        prop_assert_eq!(found.len(), template.variables().count());
    }

    /// **Invariant:** no value leaves its segment or climbs, whatever a client sends.
    #[test]
    fn no_value_climbs(
        uri in "x:(a|/|\\.|%2[eEfF]|%5[cC]|%25|%2|;|\\?|=|é){0,12}",
        template in proptest::sample::select(&["x:{v}", "x:a/{v}", "x:{+v}", "x:{v}/{+w}", "x:{+v}/{w}"][..]),
    ) {
        let Ok(uri) = Uri::parse(&uri) else { return Ok(()) };
        let template = Template::parse(template).unwrap();
        for (name, value) in template.matches(&uri).unwrap_or_default() {
            let spans = template.as_str().contains(&format!("{{+{name}}}"));
            prop_assert!(!value.is_empty());
            prop_assert!(spans || !value.contains(['/', '\\']), "{}: {}", name, value);
            prop_assert!(value.split(['/', '\\']).all(|segment| segment != ".." && segment != "."), "{}", value);
        }
    }

    /// Anything can be asked for.
    #[test]
    fn every_text_is_read_or_refused(text in any::<String>(), near in "x:[a-z/{}+%.]{0,20}") {
        for text in [text, near] {
            if let (Ok(template), Ok(uri)) = (Template::parse(&text), Uri::parse(&text)) {
                prop_assert_eq!(template.matches(&uri), Some(Variables::new()));
            }
        }
    }
}
