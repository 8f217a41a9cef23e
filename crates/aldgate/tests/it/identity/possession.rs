//! Tokens that are bound to a key (RFC 9449), through a gateway that runs.

use aldgate_identity::client::DpopKey;
use aldgate_testkit::{Call, Client, Reply};
use serde_json::Value;
use time::OffsetDateTime;

use super::succeeds;
use super::world::World;
use crate::running::json_of;

/// A client that acts for itself.
struct Program<'a> {
    world: &'a World,
    secret: String,
}

impl<'a> Program<'a> {
    fn of(world: &'a World) -> Self {
        let add = ["clients", "add", "bot", "--secret", "--service", "default", "--role", "agent"];
        let added = world.run(&[&add[..], &["--scope", "tools:read tools:write", "--json"]].concat());
        succeeds(&added);
        let secret = json_of(&added)["client_secret"].as_str().expect("a secret").to_owned();
        let program = Self { world, secret };
        // The gateway looks at its clients every second, and takes what others have for revoked.
        let begun = std::time::Instant::now();
        let token = program.unbound();
        while program.lists("Bearer", &token, None).header("www-authenticate").contains("was revoked") {
            assert!(begun.elapsed() < std::time::Duration::from_secs(30), "the client is not known");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        program
    }

    fn form(&self) -> [(&str, &str); 4] {
        [
            ("grant_type", "client_credentials"),
            ("resource", &self.world.url),
            ("client_id", "bot"),
            ("client_secret", &self.secret),
        ]
    }

    fn unbound(&self) -> String {
        token_of(&self.world.token(&self.form()))
    }

    /// A token that is bound to a key.
    fn bound(&self, key: &DpopKey) -> String {
        let endpoint = format!("http://{}/oauth/token", self.world.host());
        let proof = key.proof("POST", &endpoint, None, None, OffsetDateTime::now_utc()).expect("a proof");
        // A program that proves who it is is asked for no nonce here.
        let reply = self.world.asks_for_a_token(&self.form(), &[("dpop", proof.to_str().expect("text"))]);
        assert_eq!(reply.status, 200, "{}", reply.text());
        let told: Value = reply.json().expect("JSON");
        assert_eq!(told["token_type"], "DPoP");
        token_of(&told)
    }

    /// Lists the tools with this token under this scheme, and this proof.
    fn lists(&self, scheme: &str, token: &str, proof: Option<&str>) -> Reply {
        let mut call = Call::method("tools/list").header("authorization", &format!("{scheme} {token}"));
        if let Some(proof) = proof {
            call = call.header("dpop", proof);
        }
        let address = self.world.host().parse().expect("an address");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(Client::new(address, None).send(&call)).expect("a reply")
    }

    /// A proof for a request to the MCP endpoint.
    fn proof(&self, key: &DpopKey, token: &str, nonce: &str, method: &str, url: &str) -> String {
        let proof = key.proof(method, url, Some(nonce), Some(token), OffsetDateTime::now_utc());
        proof.expect("a proof").to_str().expect("text").to_owned()
    }

    fn good(&self, key: &DpopKey, token: &str, nonce: &str) -> String {
        self.proof(key, token, nonce, "POST", &self.world.url)
    }

    /// The nonce that the gateway asks for.
    fn nonce(&self, key: &DpopKey, token: &str) -> String {
        let bare = key
            .proof("POST", &self.world.url, None, Some(token), OffsetDateTime::now_utc())
            .expect("a proof");
        let asked = self.lists("DPoP", token, bare.to_str().ok());
        assert_eq!(asked.status, 401, "{}", asked.text());
        assert!(asked.header("www-authenticate").contains("use_dpop_nonce"), "{:?}", asked.headers);
        asked.header("dpop-nonce").to_owned()
    }
}

fn token_of(told: &Value) -> String {
    told["access_token"].as_str().expect("a token").to_owned()
}

#[track_caller]
fn refused(reply: &Reply, why: &str) {
    let challenge = reply.header("www-authenticate");
    assert!(reply.status == 401 && challenge.contains(why), "{} {challenge}: {}", reply.status, reply.text());
}

#[test]
fn a_bound_token_is_good_with_a_fresh_proof_of_its_key_alone() {
    let world = World::start();
    let program = Program::of(&world);
    let (key, other) = (DpopKey::generate().expect("a key"), DpopKey::generate().expect("a key"));
    let token = program.bound(&key);
    let nonce = program.nonce(&key, &token);
    let good = program.good(&key, &token, &nonce);
    assert_eq!(program.lists("DPoP", &token, Some(&good)).status, 200);
    // Once alone; and with a fresh one again.
    refused(&program.lists("DPoP", &token, Some(&good)), "invalid_dpop_proof");
    assert_eq!(program.lists("DPoP", &token, Some(&program.good(&key, &token, &nonce))).status, 200);

    // Whoever has stolen it has not what it is good with.
    refused(&program.lists("DPoP", &token, None), "invalid_dpop_proof");
    refused(&program.lists("Bearer", &token, None), "invalid_token");
    refused(&program.lists("Bearer", &token, Some(&program.good(&key, &token, &nonce))), "invalid_token");
    refused(
        &program.lists("DPoP", &token, Some(&program.good(&other, &token, &nonce))),
        "invalid_dpop_proof",
    );
    // A proof is for one token, one method and one place.
    let second = program.bound(&key);
    refused(&program.lists("DPoP", &second, Some(&program.good(&key, &token, &nonce))), "invalid_dpop_proof");
    let elsewhere = format!("{}/v1/status", world.admin);
    for (method, url) in [("GET", world.url.as_str()), ("POST", elsewhere.as_str())] {
        let proof = program.proof(&key, &token, &nonce, method, url);
        refused(&program.lists("DPoP", &token, Some(&proof)), "invalid_dpop_proof");
    }
    let foreign = program.good(&key, &token, "a-nonce-of-somebody-else");
    refused(&program.lists("DPoP", &token, Some(&foreign)), "use_dpop_nonce");
    // What is bound to no key goes on beside it.
    let unbound = program.unbound();
    assert_eq!(program.lists("Bearer", &unbound, None).status, 200);
    refused(&program.lists("DPoP", &unbound, Some(&program.good(&key, &unbound, &nonce))), "invalid_token");
}

#[test]
fn a_gateway_may_require_proofs() {
    let world = World::start_with(|config| format!("[identity]\ndpop = \"require\"\n{config}"));
    let program = Program::of(&world);
    let key = DpopKey::generate().expect("a key");
    refused(&program.lists("Bearer", &program.unbound(), None), "bound to no key");
    let token = program.bound(&key);
    let nonce = program.nonce(&key, &token);
    assert_eq!(program.lists("DPoP", &token, Some(&program.good(&key, &token, &nonce))).status, 200);
    // Tokens of the configuration are none that an issuer gave out.
    succeeds(&world.operates(&["status"]));
}

#[test]
fn a_gateway_may_take_no_proofs() {
    let world = World::start_with(|config| format!("[identity]\ndpop = \"off\"\n{config}"));
    let program = Program::of(&world);
    let key = DpopKey::generate().expect("a key");
    let token = program.bound(&key);
    let proof =
        key.proof("POST", &world.url, None, Some(&token), OffsetDateTime::now_utc()).expect("a proof");
    refused(&program.lists("DPoP", &token, proof.to_str().ok()), "invalid_token");
    refused(&program.lists("Bearer", &token, None), "invalid_token");
    assert_eq!(program.lists("Bearer", &program.unbound(), None).status, 200);
}
