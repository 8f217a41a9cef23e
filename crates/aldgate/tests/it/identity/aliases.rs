//! Nobody decides their own call under another name.

use std::io::Write as _;

use serde_json::{Value, json};

use super::approvals::signed_in;
use super::browser::Form;
use super::world::World;
use super::{ORDER, fails_with, pending, succeeds, text};
use crate::host::principal;

/// Adds to the configuration of a gateway that runs.
fn adds(world: &World, more: &str) {
    let path = world.folder().join("aldgate.toml");
    let mut file = std::fs::OpenOptions::new().append(true).open(path).expect("a configuration");
    file.write_all(more.as_bytes()).expect("written");
}

#[test]
fn maya_cannot_decide_her_own_call_under_any_name() {
    let world = World::start();
    let mut alice = world.person("alice", &["agent", "writer"]);
    let mut maya = world.person("Maya", &["agent", "writer", "approver"]);
    let mut lena = world.person("lena", &["approver"]);
    let (by_token, entry) =
        principal(&["maya-token", "--kind", "person", "--role", "agent", "--role", "approver"]);
    let client = ["clients", "add", "maya-bot", "--secret", "--exchange-for", &world.url, "--json"];
    let bot = world.run(&client);
    succeeds(&bot);
    let secret = crate::running::json_of(&bot)["client_secret"].as_str().expect("a secret").to_owned();
    adds(
        &world,
        &format!(
            "\n{entry}\n[[people]]\nname = \"maya\"\nprincipals = [\"maya-token\"]\naccounts = [\"maya\"]\nclients = [\"maya-bot\"]\n"
        ),
    );
    let config = std::fs::read_to_string(world.folder().join("aldgate.toml")).expect("a configuration");
    // What names nobody is refused, and the gateway goes on as it was.
    for (name, wrong) in [
        ("[\"maya\"]", "[\"mara\"]"),
        ("\"maya-bot\"", "\"maya-bat\""),
        ("\"maya-token\"]\nacc", "\"maya-tok\"]\nacc"),
    ] {
        assert!(config.contains(name), "{name}");
        std::fs::write(world.folder().join("aldgate.toml"), config.replace(name, wrong)).expect("written");
        let refused = world.operates(&["reload"]);
        assert!(
            !refused.status.success() && text(&refused).contains("in `[[people]]`"),
            "{}",
            text(&refused)
        );
    }
    std::fs::write(world.folder().join("aldgate.toml"), &config).expect("written");
    succeeds(&world.operates(&["reload"]));

    succeeds(&maya.signs_in(&["login"]));
    succeeds(&maya.signs_in(&["login", "--admin", "--scope", "tools:read"]));
    // Her account calls, her token would decide.
    let asked = maya.begins(ORDER);
    let first = pending(&maya);
    for decision in ["approve", "deny"] {
        fails_with(&world.run_as(&by_token, &["approvals", decision, &first]), "AG-DECIDE-SELF");
        fails_with(&maya.signs_in(&["approvals", decision, &first]), "AG-DECIDE-SELF");
    }
    succeeds(&lena.signs_in(&["approvals", "deny", &first]));
    fails_with(&asked.wait_with_output().expect("it ends"), "AG-APPROVAL-DENIED");

    // Her token calls, her account would decide.
    let order = ORDER.iter().map(|word| word.replace("SR-20031", "SR-20032")).collect::<Vec<_>>();
    let order: Vec<&str> = order.iter().map(String::as_str).collect();
    let asked = world.begins_as(&by_token, &order);
    let second = pending(&maya);
    fails_with(&maya.signs_in(&["approvals", "approve", &second]), "AG-DECIDE-SELF");
    fails_with(&world.run_as(&by_token, &["approvals", "approve", &second]), "AG-DECIDE-SELF");
    // On its page it is a call of her own, which takes no decision.
    let (mut browser, page) = signed_in(&world, &mut maya, &format!("/approvals/{second}"));
    assert!(page.text().contains("Your call waits for a person"), "{}", page.text());
    assert!(page.text().contains("Somebody else decides it") && page.forms().is_empty(), "{}", page.text());
    let key = page.at.split_once("key=").expect("a key").1;
    let list = browser.open(&format!("/approvals?key={key}"));
    assert!(list.text().contains("Nothing waits for a decision of yours"), "{}", list.text());
    assert!(list.body.contains(&second), "{}", list.body);
    let csrf = browser.open(&format!("/account?key={key}")).form(&[]).fields["csrf"].clone();
    let form = Form { action: page.at.clone(), fields: std::collections::BTreeMap::new() };
    let form = form.with("csrf", &csrf).with("decision", "approve").with("password", &maya.password);
    let refused = browser.submit(&form);
    assert_eq!(refused.status, 403, "{}", refused.body);
    assert!(refused.text().contains("Your own call"), "{}", refused.text());
    succeeds(&lena.signs_in(&["approvals", "deny", &second]));
    fails_with(&asked.wait_with_output().expect("it ends"), "AG-APPROVAL-DENIED");

    // Her program calls in the name of Alice.
    succeeds(&alice.signs_in(&["login"]));
    let exchanged = world.token(&[
        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
        ("subject_token", &alice.access_token(false)),
        ("subject_token_type", "urn:ietf:params:oauth:token-type:access_token"),
        ("resource", &world.url),
        ("client_id", "maya-bot"),
        ("client_secret", &secret),
    ]);
    let for_alice = exchanged["access_token"].as_str().expect("a token");
    let asked = world.begins_as(for_alice, ORDER);
    let through = pending(&maya);
    fails_with(&maya.signs_in(&["approvals", "approve", &through]), "AG-DECIDE-SELF");
    fails_with(&world.run_as(&by_token, &["approvals", "approve", &through]), "AG-DECIDE-SELF");
    succeeds(&lena.signs_in(&["approvals", "approve", &through]));
    succeeds(&asked.wait_with_output().expect("it ends"));
    // Alice's own call is anybody else's to decide.
    let asked = alice.begins(ORDER);
    let hers = pending(&maya);
    succeeds(&maya.signs_in(&["approvals", "approve", &hers]));
    succeeds(&asked.wait_with_output().expect("it ends"));

    let mut refused = world.rows("refusal");
    refused.retain(|row| row["code"] == "AG-DECIDE-SELF");
    assert_eq!(refused.len(), 9, "{refused:?}");
    let of = |name: &str, approval: &str| {
        let found = |row: &&Value| row["principal"]["name"] == name && row["approval"] == approval;
        refused.iter().filter(found).count()
    };
    for (approval, hers, by_token) in [(&first, 2, 2), (&second, 2, 1), (&through, 1, 1)] {
        assert_eq!((of("maya", approval), of("maya-token", approval)), (hers, by_token), "{refused:?}");
    }
    // Who acted stands in the rows of the call.
    let acted =
        world.rows("outcome").into_iter().filter(|row| row["principal"]["actors"] == json!(["maya-bot"]));
    assert_eq!(acted.count(), 1);
    // An account is never made anew under a name that there was.
    fails_with(&world.run(&["users", "add", "MAYA"]), "already");
}
