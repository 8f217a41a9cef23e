//! The official Rust SDK signs in from nothing but a URL.

use std::time::Duration;

use aldgate_testkit::{RmcpFault, RmcpRegistration, RmcpSignIn};
use serde_json::{Map, Value};

use super::succeeds;
use super::world::World;
use crate::clients::python;
use crate::running::json_of;

/// At another port than the one that was written down: a program gets whichever is free (RFC 8252 §7.3).
const REDIRECT: &str = "http://127.0.0.1:33420/callback";

/// Finds the authorization server, has a person sign in, refreshes, and reads in a manual. Returns the page on which the person
/// consented, empty where there was none.
pub(super) fn signs_in(url: &str, registration: RmcpRegistration<'_>, name: &str, password: &str) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let run = async {
        let sign_in = RmcpSignIn::begin(url, registration, REDIRECT).await?;
        let browser = python("browser.py").args([sign_in.page(), name, password, "--stay"]).output();
        let browser = browser.expect("it runs");
        succeeds(&browser);
        let went = json_of(&browser);
        let client = sign_in.finish(went["answer"].as_str().expect("an answer")).await?;
        let question = [("query", "torque of the thermostatic valve cover"), ("product_family", "AC-250")];
        let question: Map<_, _> =
            question.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect();
        let found = client.call("search_manual", question).await?;
        // The SDK leaves this member out where nothing failed.
        assert_ne!(found["isError"], Value::Bool(true), "{found}");
        let passages = found["structuredContent"]["passages"].as_array();
        assert!(passages.is_some_and(|found| !found.is_empty()), "{found}");
        Ok::<_, RmcpFault>(went["consent"].as_str().expect("a text").to_owned())
    };
    let done = runtime.block_on(async { tokio::time::timeout(Duration::from_secs(60), run).await });
    done.expect("it ends").unwrap_or_else(|fault| panic!("{fault}: {fault:?}"))
}

#[test]
fn rmcp_connects_from_a_bare_url() {
    let world = World::start();
    succeeds(&world.run(&["clients", "add", "desk", "--redirect", "http://127.0.0.1/callback", "--refresh"]));
    let name = "Aldgate's Rust client";
    for (way, registration, shown) in [
        ("dynamic", RmcpRegistration::Dynamic { name }, name),
        ("registered", RmcpRegistration::Written("desk"), "desk"),
    ] {
        let someone = world.person(way, &["agent", "writer"]);
        let consent = signs_in(&world.url, registration, way, &someone.password);
        assert!(consent.contains(shown), "{consent}");
    }
}
