use expect_test::{Expect, expect};

use super::super::{Lock, LockFault, Past};
use super::{AT, LATER, ODD, PLAIN, SPACED, all, lock, upstream};
use crate::{Kind, Live};

#[test]
fn the_text_is_for_review() {
    let lock = Lock::pin(upstream(), [("plain", PLAIN)], AT).unwrap();
    expect![[r#"
        {
          "format": 2,
          "upstream": {
            "name": "parts",
            "endpoint": "inproc:field-service/parts",
            "server": "Parts"
          },
          "tools": {
            "plain": {
              "version": 1,
              "digest": "sha256:738f6d3a06cb418c8e43fb1eb4332d369735a3c5130aea9170012737956761f7",
              "rawDigest": "sha256:4bf5891dcd42669a39aaa247dde063c63a66bdf928e646f7cb837fd81e0fb3fd",
              "pinnedAt": "2026-11-30T10:00:00Z",
              "definition": {
                "name": "plain",
                "inputSchema": {
                  "type": "object"
                }
              }
            }
          }
        }
    "#]]
    .assert_eq(&lock.to_pretty_json());
}

fn shown(past: &[Past]) -> String {
    past.iter().map(|past| format!("{past:?} {}\n", past.definition.get())).collect()
}

/// **Invariant:** what is served after reading a lock is what was pinned, byte by byte.
#[test]
fn the_text_gives_the_exact_bytes_back() {
    let changed = ODD.replace("1.10", "1.100");
    let lock = lock().repin([("odd", changed.as_str()), ("spaced", SPACED)], LATER).unwrap();
    let text = lock.to_pretty_json();
    let read = Lock::parse(&text).unwrap();
    for (name, pin) in &lock.tools {
        let back = &read.tools[name];
        assert_eq!(back.definition.get(), pin.definition.get());
        assert_eq!((back.digest, back.raw_digest), (pin.digest, pin.raw_digest));
        assert_eq!((back.version, &back.pinned_at), (pin.version, &pin.pinned_at));
        assert_eq!(shown(&back.history), shown(&pin.history));
    }
    assert_eq!(read.upstream, lock.upstream);
    let retired = |lock: &Lock| shown(lock.retired(Kind::Tool, "plain"));
    assert!(retired(&lock).contains(PLAIN));
    assert_eq!(retired(&read), retired(&lock));
    assert_eq!(read.to_pretty_json(), text, "writing is stable");
    assert_eq!(read.tools["odd"].history[0].definition.get(), ODD, "the history has its bytes too");
    assert!(text.contains("1.100,") && text.contains("9007199254740993,") && text.contains(r"\u00e9\/é"));
    assert_eq!(
        text.matches("\"raw\":").count(),
        1,
        "the bytes are kept only where white space would lose them"
    );
}

#[test]
fn a_lock_may_be_laid_out_anew() {
    let text = lock().to_pretty_json();
    let reflowed = text.replace("\n", "\r\n\t");
    let read = Lock::parse(&reflowed).unwrap();
    assert_eq!(read.tools["odd"].definition.get(), ODD);
    assert_eq!(read.tools["spaced"].definition.get(), SPACED);
}

fn edited(from: &str, to: &str) -> LockFault {
    let text = lock().to_pretty_json();
    assert!(text.contains(from), "{from} is not in {text}");
    Lock::parse(&text.replacen(from, to, 1)).unwrap_err()
}

fn refuses(from: &str, to: &str, expected: Expect) {
    expected.assert_eq(&edited(from, to).to_string());
}

#[test]
fn an_edited_definition_is_refused_and_named_with_both_digests() {
    refuses(
        "0.1\n",
        "0.2\n",
        expect![
            "the lock was edited: tool `odd` records digest sha256:104928767bd2cc7dc36f8e673db99ac1448d4f5c74002e684c203657d6c1bb0d, but its definition has sha256:861a08984b0a7485236e6ccfd199870cfd55202b848f809edced7416ed4983d6; restore the file, or pin it anew"
        ],
    );
    let fault = edited("\"z\": 1.10", "\"z\": 1.1");
    assert!(
        matches!(&fault, LockFault::Edited { item, what: "rawDigest", .. } if item.name == "odd"),
        "{fault}"
    );
    let fault = edited("9007199254740993", "9007199254740992");
    assert!(
        matches!(&fault, LockFault::Edited { what: "rawDigest", .. }),
        "merged by the canonical form: {fault}"
    );
    let fault = edited(r"\u00e9\/", r"é\/");
    assert!(matches!(&fault, LockFault::Edited { what: "rawDigest", .. }), "{fault}");
    let fault = edited("\"empty\": {}", "\"empty\": {\"x\": 1}");
    assert!(matches!(&fault, LockFault::Edited { what: "digest", .. }), "{fault}");
}

#[test]
fn an_edited_digest_is_refused() {
    let plain = crate::fingerprint(PLAIN).unwrap();
    let other = crate::Digest::of("other").to_string();
    let fault = edited(&plain.jcs.to_string(), &other);
    match fault {
        LockFault::Edited { item, what, recorded, computed } => {
            assert_eq!((item.name.as_str(), what), ("plain", "digest"));
            assert_eq!((recorded.to_string(), computed), (other, plain.jcs));
        }
        fault => panic!("{fault}"),
    }
}

/// The reviewer reads `definition`, the gateway serves `raw`: they must be one.
#[test]
fn kept_bytes_must_be_the_definition_that_is_shown() {
    refuses(
        r#"{\"type\":\"object\"}"#,
        r#"{\"type\":\"array\"}"#,
        expect![
            "the lock was edited: `raw` of tool `spaced` is not its `definition`; restore the file, or pin it anew"
        ],
    );
    let fault = edited(r#""raw": "{ "#, r#""raw": "{"#);
    assert!(
        matches!(&fault, LockFault::Edited { item, what: "rawDigest", .. } if item.name == "spaced"),
        "{fault}"
    );
    let fault = edited(r#""raw": "{ "#, r#""raw": "x{ "#);
    assert!(matches!(&fault, LockFault::Definition { item, .. } if item.name == "spaced"), "{fault}");
}

#[test]
fn refuses_texts_that_are_no_lock() {
    refuses(
        "\"format\": 2",
        "\"format\": 1",
        expect!["the lock has format 1, expected 2; use the version of aldgate that wrote it, or pin anew"],
    );
    refuses(
        "\"version\": 1,",
        "\"version\": 0,",
        expect!["the lock was edited: the versions of tool `odd` do not ascend from 1; restore the file"],
    );
    refuses(
        "\"odd\": {",
        "\"other\": {",
        expect![
            "the lock was edited: the definition under tool `other` has another `name`; restore the file"
        ],
    );
    refuses("\"tools\": {", "<<<<<<< HEAD\n\"tools\": {", expect!["the lock cannot be read at line 8"]);
    refuses("\"pinnedAt\":", "\"pinnedat\":", expect!["the lock has not the shape of one"]);
    let doubled = format!("\"plain\": {},\n\"plain\"", "{}");
    assert!(matches!(edited("\"plain\"", &doubled), LockFault::Unreadable { .. }));
    assert!(matches!(Lock::parse(""), Err(LockFault::Unreadable { line: 1, .. })));
    assert!(matches!(Lock::parse("[]"), Err(LockFault::Shape(_))));
}

#[test]
fn history_must_ascend() {
    let changed = PLAIN.replace("object\"}", "object\",\"x\":1}");
    let text = lock().repin([("plain", changed.as_str())], LATER).unwrap().to_pretty_json();
    assert!(Lock::parse(&text).is_ok());
    let fault = Lock::parse(&text.replacen("\"version\": 2", "\"version\": 1", 1)).unwrap_err();
    assert!(matches!(fault, LockFault::Versions { item } if item.name == "plain"));
}

/// What no program writes was written by hand.
#[test]
fn what_cannot_have_been_accepted_is_refused() {
    let at = "\"pinnedAt\": \"2026-11-30T10:00:00Z\"";
    let beside = |more: &str| format!("{at}, {more}");
    for (more, expected) in [
        (
            r#""renames": [{"from": "a", "to": "a"}]"#,
            expect!["the lock was edited: the `renames` of tool `odd` are not one to one; restore the file"],
        ),
        (
            r#""renames": [{"from": "a", "to": "b"}, {"from": "a", "to": "c"}]"#,
            expect!["the lock was edited: the `renames` of tool `odd` are not one to one; restore the file"],
        ),
        (
            r#""renames": [{"from": "a", "to": "c"}, {"from": "b", "to": "c"}]"#,
            expect!["the lock was edited: the `renames` of tool `odd` are not one to one; restore the file"],
        ),
        (
            r#""acknowledged": ["hidden_content", "nothing"]"#,
            expect![
                "the lock was edited: tool `odd` has `nothing` acknowledged, which is no check; restore the file"
            ],
        ),
        (
            r#""renamedFrom": "old""#,
            expect![
                "the lock was edited: tool `odd` is `renamedFrom` `old`, whose contracts are not in its history; restore the file"
            ],
        ),
    ] {
        refuses(at, &beside(more), expected);
    }
    refuses(
        at,
        "\"pinnedAt\": \"2026-11-31T10:00:00Z\"",
        expect![
            "the lock was edited: `pinnedAt` of tool `odd` is `2026-11-31T10:00:00Z`, expected a time of RFC 3339; restore the file"
        ],
    );
    refuses(
        "\"version\": 1,",
        "\"version\": 4294967295,",
        expect![
            "the lock was edited: tool `odd` has version 4294967295, at most 2000000000 are given; restore the file"
        ],
    );
    // A version is chosen for a lock that is written anew.
    let text = lock().to_pretty_json();
    assert!(Lock::parse(&text.replacen("\"version\": 1,", "\"version\": 7,", 1)).is_ok());
    let said =
        r#""renames": [{"from": "a", "to": "b"}, {"from": "b", "to": "a"}], "acknowledged": ["unreadable"]"#;
    assert!(Lock::parse(&text.replacen(at, &beside(said), 1)).is_ok());
}

#[test]
fn nothing_is_pinned_and_retired() {
    let retired = lock().repin([("odd", ODD), ("plain", PLAIN)], LATER).unwrap().to_pretty_json();
    let pinned = lock().to_pretty_json();
    let (_, members) = retired.split_once("\"retired\"").unwrap();
    let members = members.replacen("\"version\": 1", "\"version\": 2", 1);
    let end = pinned.trim_end().strip_suffix('}').unwrap().trim_end();
    let fault = Lock::parse(&format!("{end}, \"retired\"{members}")).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "the lock was edited: tool `spaced` is pinned, and retired as well; restore the file"
    );
}

#[test]
fn an_edited_past_is_refused() {
    let changed = PLAIN.replace("object\"}", "object\",\"x\":1}");
    let lock = lock().repin([("plain", changed.as_str())], LATER).unwrap();
    let text = lock.to_pretty_json();
    let edited = |from: &str, to: &str| {
        let (before, after) = text.rsplit_once(from).unwrap();
        Lock::parse(&format!("{before}{to}{after}")).unwrap_err()
    };
    let first = crate::fingerprint(PLAIN).unwrap();
    let other = crate::Digest::of("other").to_string();
    for (recorded, what) in [(first.jcs, "digest"), (first.raw, "rawDigest")] {
        let fault = edited(&recorded.to_string(), &other);
        assert!(
            matches!(&fault, LockFault::Edited { item, what: found, .. } if item.name == "plain" && *found == what),
            "{fault}"
        );
    }
    // Of a retired tool.
    let fault = edited("\"spaced\": [", "\"spaces\": [");
    assert!(matches!(&fault, LockFault::Name { item } if item.name == "spaces"), "{fault}");
    let fault = edited("\"version\": 1", "\"version\": 0");
    assert!(matches!(&fault, LockFault::Versions { item } if item.name == "spaced"), "{fault}");
    let fault = edited("\"pinnedAt\"", "\"history\": [{}], \"pinnedAt\"");
    assert!(matches!(&fault, LockFault::Shape(_)), "{fault}");
}

#[test]
fn every_kind_has_its_place_in_the_text() {
    let lock = all().repin(Live::default().with(Kind::Prompt, []), LATER).unwrap();
    let lock = lock
        .repin(Live::default().with(Kind::Prompt, [("p", r#"{"name":"p"}"#)]), LATER)
        .unwrap()
        .repin(Live::default().with(Kind::ResourceTemplate, [("gone://{x}", super::GONE)]), LATER)
        .unwrap();
    let text = lock.to_pretty_json();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let members: Vec<&String> = value.as_object().unwrap().keys().collect();
    assert_eq!(
        members,
        [
            "format",
            "upstream",
            "tools",
            "resourceTemplates",
            "prompts",
            "retiredResourceTemplates",
            "retiredPrompts"
        ]
    );
    let read = Lock::parse(&text).unwrap();
    assert_eq!(read.to_pretty_json(), text);
    assert_eq!(shown(read.retired(Kind::Prompt, "diagnose")), shown(lock.retired(Kind::Prompt, "diagnose")));
    assert_eq!(read.retired(Kind::Prompt, "diagnose").len(), 1);
    assert_eq!(read.retired(Kind::ResourceTemplate, "ticket://{id}").len(), 1);
    assert_eq!(read.resource_templates["gone://{x}"].definition.get(), super::GONE);
    assert_eq!(read.prompts["p"].kind, Kind::Prompt);
}

#[test]
fn an_edited_template_or_prompt_is_refused() {
    let text = all().to_pretty_json();
    let edited = |from: &str, to: &str| {
        assert!(text.contains(from), "{from} is not in {text}");
        Lock::parse(&text.replacen(from, to, 1)).unwrap_err()
    };
    let fault = edited("\"Ticket\"", "\"Tickets\"");
    assert!(matches!(&fault, LockFault::Edited { item, what: "digest", .. }
            if item.kind == Kind::ResourceTemplate && item.name == "ticket://{id}"));
    let fault = edited("\"ticket://{id}\": {", "\"ticket://{no}\": {");
    assert_eq!(
        fault.to_string(),
        "the lock was edited: the definition under resource template `ticket://{no}` has another `uriTemplate`; \
         restore the file"
    );
    let fault = edited("\"fault_code\"", "\"code\"");
    assert!(matches!(&fault, LockFault::Edited { item, .. } if item.kind == Kind::Prompt), "{fault}");
    assert!(matches!(edited("\"prompts\":", "\"prompt\":"), LockFault::Shape(_)));
}
