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
            "unknown field `readonly`, expected one of `authority`, `labels`, `read_only`, `idempotent`, `timeout_s`, `scope`, `boundaries`, `policy_may_relax`, `self_approval`, `as`, `answer`"
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
            "`answer.requested_schema` of `parts/raise_parts_order` is `sha256:G000000000000000000000000000000000000000000000000000000000000000`; expected `sha256:` and 64 lower-case hex digits, the digest of the schema that is asked with"
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

fn section<T: for<'de> Deserialize<'de>>(toml: &str) -> Result<T, String> {
    toml::from_str::<T>(toml).map_err(|e| e.message().to_owned())
}

const READABLE: &str = "authority = 'automatic'\nlabels = []\nread_only = true\n";

#[test]
fn kinds_do_not_share_their_keys() {
    let tools: Registry = parse("['t/x:y']\nauthority = 'prohibited'\nlabels = []\n").unwrap();
    let resources: Resources = section(&format!("['t/x:y']\n{READABLE}")).unwrap();
    let prompts: Prompts = section("['t/x:y']\nauthority = 'requires_approval'\nlabels = []\n").unwrap();
    let registry = tools.with_resources(resources.clone()).with_prompts(prompts.clone());
    let authorities = Kind::ALL.map(|kind| registry.entry(kind, "t", "x:y").unwrap().authority);
    assert_eq!(authorities, [Authority::Prohibited, Authority::Automatic, Authority::RequiresApproval]);
    assert_eq!(registry.get("t", "x:y").unwrap().authority, Authority::Prohibited);
    assert_eq!(Kind::ALL.map(|kind| registry.entries(kind).count()), [1, 1, 1]);
    assert_eq!(registry.iter().count(), 1);
    let digests = Kind::ALL.map(|kind| registry.entry_digest(kind, "t", "x:y").unwrap());
    assert!(digests[0] != digests[1] && digests[1] != digests[2]);
    // The sections are written as they were read.
    assert_eq!(section::<Resources>(&toml::to_string(&resources).unwrap()), Ok(resources));
    assert_eq!(section::<Prompts>(&toml::to_string(&prompts).unwrap()), Ok(prompts));
}

#[test]
fn refuses_keys_that_no_resource_or_prompt_has() {
    let resource =
        |key: &str, more: &str| section::<Resources>(&format!("['{key}']\n{READABLE}{more}")).unwrap_err();
    expect!["`ticket` is not a resource's key; expected `upstream/URI` or `upstream/template`, such as `tickets/ticket://{ticket_id}`"]
        .assert_eq(&resource("ticket", ""));
    expect!["the resource of `t/ticket` cannot be used: `ticket` is not a URI or a template of one: it must begin with a scheme, such as `ticket:`, and go on behind it"]
        .assert_eq(&resource("t/ticket", ""));
    expect!["the resource of `t/x:{a}{b}` cannot be used: the variable `b` can run into the one before it; put a `/` between them, and use `{+name}` only once"]
        .assert_eq(&resource("t/x:{a}{b}", ""));
    expect!["`t/x:y` has `as`, but resources keep their URIs; remove the line"]
        .assert_eq(&resource("t/x:y", "as = 'z'\n"));
    expect!["`diagnose` is not a prompt's key; expected `upstream/prompt`, such as `manuals/diagnose_fault`"]
        .assert_eq(&section::<Prompts>(&format!("[diagnose]\n{READABLE}")).unwrap_err());
}

fn first(entries: &[(&str, Authority)], uri: &str) -> Option<String> {
    let entries = entries.iter().map(|(key, authority)| ((*key).to_owned(), Entry::of(*authority)));
    let registry = Registry::default().with_resources(Resources::new(entries).unwrap());
    let found = registry.matching(&Uri::parse(uri).unwrap());
    found.first().map(|one| format!("{}/{} {:?}", one.upstream, one.template, one.variables))
}

#[test]
fn the_first_match_of_a_uri_rules() {
    use Authority::{Automatic, Prohibited, RequiresApproval};
    let tickets = [("t/ticket://{id}", Automatic), ("t/ticket://SR-1", RequiresApproval)];
    assert_eq!(first(&tickets, "ticket://SR-1").as_deref(), Some("t/ticket://SR-1 {}"), "named itself");
    assert_eq!(first(&tickets, "ticket://SR-2").as_deref(), Some(r#"t/ticket://{id} {"id": "SR-2"}"#));
    assert_eq!(first(&tickets, "ticket://SR-2/x"), None);
    let files =
        [("t/f:/{+all}", RequiresApproval), ("t/f:/public/{name}", Automatic), ("t/f:/{a}/{b}", Automatic)];
    assert_eq!(
        first(&files, "f:/public/x").as_deref(),
        Some(r#"t/f:/{+all} {"all": "public/x"}"#),
        "strictest"
    );
    let equal = files.map(|(key, _)| (key, Automatic));
    assert_eq!(first(&equal, "f:/public/x").as_deref(), Some(r#"t/f:/public/{name} {"name": "x"}"#));
    assert_eq!(first(&equal, "f:/private/x").as_deref(), Some(r#"t/f:/{a}/{b} {"a": "private", "b": "x"}"#));
    let never = [("t/f:/{+all}", Automatic), ("t/f:/secret/{name}", Prohibited)];
    assert_eq!(first(&never, "f:/%73ecret/x").as_deref(), Some(r#"t/f:/secret/{name} {"name": "x"}"#));
}

#[test]
fn a_default_serves_every_kind() {
    let dev = Registry::default().with_default(Authority::Automatic).unwrap();
    for kind in Kind::ALL {
        assert_eq!(dev.entry(kind, "any", "x:y").unwrap().authority, Authority::Automatic);
        assert_eq!(dev.entries(kind).count(), 0);
    }
    assert!(dev.matching(&Uri::parse("x:y").unwrap()).is_empty());
}
