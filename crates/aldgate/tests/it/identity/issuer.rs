//! An authorization server of somebody else (`oidc-provider`), by configuration alone.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use aldgate_testkit::RmcpRegistration;
use serde_json::Value;

use super::world::World;
use super::{fails_with, rmcp, succeeds};
use crate::clients::{issuer, python, typescript};
use crate::running::{aldgate, json_of};

/// `clients/issuer/issuer.mjs`, which ends with this.
struct Issuer {
    child: Child,
    said: Value,
}

impl Issuer {
    fn start() -> Self {
        let mut child = issuer("issuer.mjs")
            .args(["https://elsewhere.example.com/mcp", "https://elsewhere.example.com/other"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Node.js runs");
        let mut line = String::new();
        let mut said = BufReader::new(child.stdout.take().expect("its output"));
        said.read_line(&mut line).expect("a line");
        Self { child, said: serde_json::from_str(&line).expect("JSON") }
    }

    fn text(&self, key: &str) -> &str {
        self.said[key].as_str().expect("a text")
    }

    /// The part of the configuration that has its tokens taken.
    fn section(&self) -> String {
        format!(
            "[[identity.issuers]]\nissuer = \"{}\"\nalgorithms = [\"ES256\"]\ntenants = [\"default\"]\n\
             roles_claim = \"realm.groups\"\n",
            self.text("issuer")
        )
    }
}

impl Drop for Issuer {
    fn drop(&mut self) {
        // One that has ended already cannot be killed; that is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn clients_sign_in_at_somebody_elses_authorization_server() {
    let issuer = Issuer::start();
    let world = World::with(&issuer.section());
    let at = issuer.text("issuer");
    let clients: [fn() -> Command; 2] = [|| python("sign_in.py"), || typescript("sign-in.mjs")];
    for client in clients {
        for way in ["dynamic", "registered"] {
            let output = client().args([&world.url, "alice", "no password", way, at]).output();
            let output = output.expect("it runs");
            succeeds(&output);
            assert_eq!(json_of(&output)["refreshed"], 1);
        }
    }
    let name = "Aldgate's Rust client";
    for registration in [RmcpRegistration::Dynamic { name }, RmcpRegistration::Written("desk")] {
        rmcp::signs_in(&world.url, registration, "alice", "no password");
    }
    let calls = world.rows("outcome");
    assert!(!calls.is_empty());
    for row in calls {
        let principal = &row["principal"];
        assert_eq!((&principal["subject"], &principal["kind"]), (&"alice".into(), &"person".into()), "{row}");
    }
}

#[test]
fn an_issuer_is_added_by_a_reload_and_a_token_is_for_its_audience_alone() {
    let (first, second) = (Issuer::start(), Issuer::start());
    let world = World::with(&first.section());
    let mut alice = world.stranger("alice");
    let question = ["call", "search_manual", "--args", r#"{"query": "torque", "product_family": "AC-250"}"#];

    let login = ["login", "--issuer", second.text("issuer")];
    fails_with(&alice.signs_in(&login), second.text("issuer"));
    succeeds(&world.reload_with(&second.section()));
    succeeds(&alice.signs_in(&login));
    succeeds(&alice.run(&question));

    // Good tokens of issuers that are trusted, for a resource that is not the gateway.
    for issuer in [&first, &second] {
        for token in ["service", "person"] {
            let mut command = aldgate();
            command.args(question).env("ALDGATE_URL", &world.url).env("ALDGATE_TOKEN", issuer.text(token));
            fails_with(&command.output().expect("the binary runs"), "its `aud` is");
        }
    }
}
