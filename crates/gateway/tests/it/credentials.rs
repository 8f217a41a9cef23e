//! What the gateway shows an upstream, where that changes from request to request; and that it is never the caller's token.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use aldgate_gateway::settings::Credential;
use aldgate_identity::client::upstream::{Caller, CredentialFault, UpstreamCredential, UpstreamHeader};
use aldgate_testkit::Behaviour;
use http::HeaderValue;
use http::header::AUTHORIZATION;
use time::OffsetDateTime;

use crate::world::{UPSTREAM_TOKEN, World, code, token};

/// A source whose tokens have a number; a refused one is not given out again.
#[derive(Debug, Default)]
struct Numbered {
    number: AtomicU32,
    refused: Mutex<Vec<String>>,
    gone: AtomicBool,
}

#[async_trait::async_trait]
impl UpstreamCredential for Numbered {
    async fn authorization(
        &self,
        caller: Option<&Caller>,
        _: OffsetDateTime,
    ) -> Result<Option<UpstreamHeader>, CredentialFault> {
        assert!(caller.is_none(), "nobody's own credential is asked for");
        if self.gone.load(Ordering::SeqCst) {
            return Err(CredentialFault::Value { place: "the file".to_owned() });
        }
        let text = match self.number.load(Ordering::SeqCst) {
            0 => format!("Bearer {UPSTREAM_TOKEN}"),
            number => format!("Bearer {UPSTREAM_TOKEN}-{number}"),
        };
        Ok(Some(UpstreamHeader { name: AUTHORIZATION, value: HeaderValue::try_from(text).unwrap() }))
    }

    fn refused(&self, _: Option<&Caller>, header: &UpstreamHeader) {
        self.refused.lock().unwrap().push(header.value.to_str().unwrap().to_owned());
        self.number.fetch_add(1, Ordering::SeqCst);
    }
}

async fn world(source: &Arc<Numbered>) -> World {
    let source = source.clone();
    World::start(move |config| config.up().credential = Credential::Current(source)).await
}

#[tokio::test]
async fn an_upstream_is_shown_what_its_source_has_now_and_never_the_callers_token() {
    let source = Arc::new(Numbered::default());
    let world = world(&source).await;
    let look = r#"{"text":"x"}"#;
    assert_eq!(world.call("look", look).await.status, 200);
    source.number.store(7, Ordering::SeqCst);
    assert_eq!(world.call("look", look).await.status, 200);
    let shown: Vec<String> =
        world.up.calls("look").iter().map(|seen| seen.header("authorization").to_owned()).collect();
    assert_eq!(shown, [format!("Bearer {UPSTREAM_TOKEN}"), format!("Bearer {UPSTREAM_TOKEN}-7")]);
    assert!(world.up.seen().iter().all(|seen| !seen.mentions(&token("agent"))));
}

#[tokio::test]
async fn nothing_is_sent_where_there_is_no_credential() {
    let source = Arc::new(Numbered::default());
    let world = world(&source).await;
    source.gone.store(true, Ordering::SeqCst);
    let before = world.up.seen().len();
    let refused = world.call("note", r#"{"text":"x"}"#).await;
    assert_eq!(code(&refused), "AG-UPSTREAM-CREDENTIAL", "{}", refused.text());
    assert_eq!(world.up.seen().len(), before);
    // Nothing went out, so that whoever asked may ask again.
    let rows = world.rows().await;
    let outcome = rows.iter().rfind(|row| row["kind"] == "outcome").unwrap();
    assert_eq!((outcome["outcome"].as_str(), outcome["tool"].as_str()), (Some("failed"), Some("up/note")));
}

#[tokio::test]
async fn a_header_that_was_refused_is_given_up() {
    let source = Arc::new(Numbered::default());
    let world = world(&source).await;
    world.up.does("look", Behaviour::status(401));
    let refused = world.call("look", r#"{"text":"x"}"#).await;
    assert_eq!(code(&refused), "AG-UPSTREAM-CREDENTIAL", "{}", refused.text());
    assert_eq!(*source.refused.lock().unwrap(), [format!("Bearer {UPSTREAM_TOKEN}")]);
}
