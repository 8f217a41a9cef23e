//! What is written down of requests that are refused.

use std::io;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::services::{secret_of, service};
use super::site::{Site, VERIFIER, asking, redeeming};

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("lock").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Written {
    fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut *self.0.lock().expect("lock"))).expect("text")
    }
}

/// The one refusal that was written down; what the client was told names it.
fn refusal(written: &Written, told: &str) -> Value {
    let text = written.take();
    let lines: Vec<_> =
        text.lines().filter(|line| line.contains("refused an authorization request")).collect();
    let [line] = lines.as_slice() else { panic!("{} refusals in {text}", lines.len()) };
    let fields = serde_json::from_str::<Value>(line).expect("json")["fields"].clone();
    let id = fields["request"].as_str().expect("id");
    assert!(id.len() == 16 && told.contains(id), "{id} in {told}");
    fields
}

#[tokio::test]
async fn a_refusal_is_logged_with_its_step_what_was_sent_and_expected_and_no_secret() {
    let site = Site::new().await;
    let secret = secret_of(&site, "worker", &service()).await;
    let written = Written::default();
    let sink = written.clone();
    let subscriber = tracing_subscriber::fmt()
        .json()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || sink.clone());
    let _guard = tracing::subscriber::set_default(subscriber.finish());
    // Once for nothing: a place that another test reached first is taken for one that nobody listens to, until all are asked
    // anew.
    let before = site.tokens().await;
    for _ in 0..2 {
        let refresh = before["refresh_token"].as_str().expect("token");
        site.token(&[("grant_type", "refresh_token"), ("client_id", "desk"), ("refresh_token", refresh)])
            .await;
    }
    tracing::callsite::rebuild_interest_cache();
    let code = site.code().await;
    written.take();

    let reply = site.authorize(&asking(&[("redirect_uri", "https://evil.example/cb")]), None).await;
    let fields = refusal(&written, &reply.body);
    assert_eq!(fields["step"], "redirect_uri");
    assert_eq!(fields["sent"], "https://evil.example/cb");
    assert!(fields["expected"].as_str().expect("text").contains("https://app.example.com/cb"));

    let reply = site.authorize(&asking(&[("code_challenge_method", "plain")]), None).await;
    let fields = refusal(&written, &reply.answer()["error_description"]);
    assert_eq!((&fields["step"], &fields["sent"]), (&"code_challenge_method".into(), &"plain".into()));

    let reply = site.token(&redeeming(&code, &[("client_id", "other")])).await;
    assert_eq!(refusal(&written, &reply.body)["step"], "code");
    let wrong =
        [("grant_type", "client_credentials"), ("client_id", "worker"), ("client_secret", "ags_wrong")];
    let reply = site.token(&wrong).await;
    assert_eq!(refusal(&written, &reply.body)["step"], "client secret");

    // Nothing of what is good for something is written down, at any level.
    let tokens = site.token(&redeeming(&code, &[])).await.json();
    let refresh = tokens["refresh_token"].as_str().expect("token");
    let access = tokens["access_token"].as_str().expect("token");
    let form = [("grant_type", "refresh_token"), ("client_id", "desk"), ("refresh_token", refresh)];
    site.token(&form).await;
    site.token(&form).await;
    site.token(&[("grant_type", "client_credentials"), ("client_id", "worker"), ("client_secret", &secret)])
        .await;
    let text = written.take();
    assert!(text.contains("handed out an access token") && text.contains("was used before"), "{text}");
    for secret in [code.as_str(), refresh, access, VERIFIER, &secret, "ags_wrong"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}
