use expect_test::{Expect, expect};

use crate::config::schema;

fn said(text: &str, expected: &Expect) {
    let file = toml::de::DeTable::parse(text).expect("TOML");
    let found = super::first_unknown(file.get_ref(), &schema()).map(|unknown| {
        let place = text.get(unknown.span.clone()).expect("inside").to_owned();
        format!("{} at `{place}`: {}", unknown.path, unknown.help)
    });
    expected.assert_eq(&found.unwrap_or_else(|| "all known".to_owned()));
}

#[test]
fn the_nearest_key_is_named() {
    said("[gateway]\nlisten = \"127.0.0.1:1\"", &expect!["all known"]);
    said("[gateway]\nlisen = \"127.0.0.1:1\"", &expect!["gateway.lisen at `lisen`: did you mean `listen`?"]);
    said("[gatway]", &expect!["gatway at `gatway`: did you mean `gateway`?"]);
    said(
        "[upstreams.tickets]\nkind = \"http\"\nuri = \"x\"",
        &expect!["upstreams.tickets.uri at `uri`: did you mean `url`?"],
    );
    said(
        "[[principals]]\nname = \"a\"\ntoken = \"x\"",
        &expect![
            "principals.token at `token`: expected one of `name`, `display_name`, `kind`, `tenant`, `roles`, `scopes`, `token_sha256`, `expires_at`"
        ],
    );
    said(
        "[registry.\"tickets/get_ticket\"]\nauthority = \"automatic\"\nlables = []",
        &expect!["registry.tickets/get_ticket.lables at `lables`: did you mean `labels`?"],
    );
}

#[test]
fn what_a_person_may_write_freely_is_not_checked() {
    said(
        "[registry.\"parts/order\"]\nlabels = []\n[registry.\"parts/order\".answer]\nkey = \"k\"\n[registry.\"parts/order\".answer.fill]\nanything = { at = \"all\" }",
        &expect!["all known"],
    );
}

#[test]
fn settings_of_dev_are_explained() {
    said(
        "default_authority = \"automatic\"",
        &expect![
            "default_authority at `default_authority`: a configured gateway neither pins on first use nor has a default authority; only `aldgate dev` does"
        ],
    );
}
