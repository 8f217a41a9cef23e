use expect_test::{Expect, expect};

use super::*;

fn parse(toml: &str) -> Result<Registry, String> {
    toml::from_str::<Registry>(toml).map_err(|e| e.message().to_owned())
}

fn refused(toml: &str, expected: Expect) {
    expected.assert_eq(&parse(toml).unwrap_err());
}

const ORDER: &str = r#"
["parts/raise_parts_order"]
authority = "requires_approval"
labels = ["consequential"]
as = "order"
answer = { key = "approval", requested_schema = "sha256:0000000000000000000000000000000000000000000000000000000000000000", fill = { decision = "approve", by = "${approver.name}", why = ["${approval.note} (${approval.id})"], n = 1 } }
"#;

#[test]
fn reads_an_entry_with_careful_defaults() {
    let registry = parse(ORDER).unwrap();
    let entry = registry.get("parts", "raise_parts_order").unwrap();
    assert_eq!(entry.authority, Authority::RequiresApproval);
    assert_eq!(entry.expose_as.as_deref(), Some("order"));
    assert!(!entry.read_only && !entry.idempotent && !entry.policy_may_relax && !entry.self_approval);
    assert_eq!(registry.get("parts", "other"), None);
}

#[test]
fn a_key_cannot_be_reached_under_two_names() {
    let registry = Registry::new([("a/b/c".to_owned(), Entry::of(Authority::Automatic))]).unwrap();
    assert!(registry.get("a", "b/c").is_some());
    assert_eq!(registry.get("a/b", "c"), None);
    assert_eq!(registry.get("", "a/b/c"), None);
}

#[test]
fn refuses_what_contradicts_itself() {
    refused(
        "[tickets]\nauthority = 'automatic'\nlabels = []\n",
        expect!["`tickets` is not a tool's key; expected `upstream/tool`, such as `tickets/get_ticket`"],
    );
    refused("['t/x']\nauthority = 'automatic'\n", expect!["missing field `labels`"]);
    refused(
        "['t/x']\nauthority = 'automatic'\nlabels = []\nreadonly = true\n",
        expect![
            "unknown field `readonly`, expected one of `authority`, `labels`, `read_only`, `idempotent`, `scope`, `boundaries`, `policy_may_relax`, `self_approval`, `as`, `answer`"
        ],
    );
    refused(
        "['t/x']\nauthority = 'automatic'\nlabels = []\npolicy_may_relax = true\n",
        expect![[
            r#"`t/x` has `policy_may_relax = true` but authority `automatic`, which policy cannot relax; remove the line or set `authority = "requires_approval"`"#
        ]],
    );
    refused(
        &ORDER.replace("sha256:00", "sha256:G0"),
        expect![
            "`answer.requested_schema` of `parts/raise_parts_order` is `sha256:G000000000000000000000000000000000000000000000000000000000000000`; expected `sha256:` and 64 lower-case hex digits, the digest of the schema that the tool asks with"
        ],
    );
    refused(
        &ORDER.replace("${approval.id}", "${approval.secret}"),
        expect![
            "`answer.fill` of `parts/raise_parts_order` holds `${approval.secret}`; expected `${approver.name}`, `${approval.note}` or `${approval.id}`"
        ],
    );
    assert!(parse(&ORDER.replace("${approval.id}", "${approval.id")).is_err(), "an unclosed placeholder");
}

#[test]
fn an_answer_is_filled_once() {
    let registry = parse(ORDER).unwrap();
    let answer = registry.get("parts", "raise_parts_order").unwrap().answer.clone().unwrap();
    let content = answer.content(Substitutes {
        approver_name: "Ada ${approval.id}",
        approval_note: "fits",
        approval_id: "ap-1",
    });
    expect![[r#"{"by":"Ada ${approval.id}","decision":"approve","n":1,"why":["fits (ap-1)"]}"#]]
        .assert_eq(&serde_json::to_string(&content).unwrap());
}

#[test]
fn the_digest_follows_the_entry() {
    let one = parse(ORDER).unwrap();
    let spelled_out = parse(&ORDER.replace("as = ", "read_only = false\nas = ")).unwrap();
    let other = parse(&ORDER.replace("as = ", "read_only = true\nas = ")).unwrap();
    let digest = |r: &Registry| r.digest("parts", "raise_parts_order").unwrap().to_owned();
    assert!(digest::is_digest(&digest(&one)));
    assert_eq!(digest(&one), digest(&spelled_out));
    assert_ne!(digest(&one), digest(&other));
}

#[test]
fn a_default_serves_tools_without_an_entry() {
    let registry = parse(ORDER).unwrap();
    assert!(!registry.has_default());
    let dev = registry.with_default(Authority::Automatic).unwrap();
    assert_eq!(dev.get("any", "tool").unwrap().authority, Authority::Automatic);
    assert_eq!(dev.get("parts", "raise_parts_order").unwrap().authority, Authority::RequiresApproval);
    assert_eq!(dev.iter().count(), 1);
}

#[test]
fn authority_orders_by_strictness() {
    use Authority::{Automatic, Prohibited, RequiresApproval};
    assert!(Automatic < RequiresApproval && RequiresApproval < Prohibited);
}

#[test]
fn the_json_schema_names_every_key() {
    let schema = serde_json::to_string(&schemars::schema_for!(Registry)).unwrap();
    for word in ["requires_approval", "untrusted_input", "\"as\"", "requested_schema", "additionalProperties"]
    {
        assert!(schema.contains(word), "{word} in {schema}");
    }
}
