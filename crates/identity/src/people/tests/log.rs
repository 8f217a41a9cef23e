//! What is written down of those that are refused.

use std::io;

use super::*;

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Written {
    fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut *self.0.lock().unwrap())).unwrap()
    }
}

#[tokio::test]
async fn a_refusal_is_logged_with_its_step_and_no_secret() {
    let site = Site::new().await;
    let (user, mut maya) = site.person("maya").await;
    let (_, expired) = site.add("late").await;
    site.person("lost").await;
    site.accounts.disable("lost", START).await.unwrap();
    let written = Written::default();
    let sink = written.clone();
    let subscriber = tracing_subscriber::fmt()
        .json()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || sink.clone());
    let _guard = tracing::subscriber::set_default(subscriber.finish());
    // With one subscriber alone, `tracing` asks the thread that first comes to an event, and another test's thread has none.
    let _second = tracing::Dispatch::new(tracing_subscriber::fmt().with_writer(io::sink).finish());
    site.pass(Duration::from_secs(24 * 3600 - 3600));

    let line = |written: &Written, answer: &Answer| {
        let text = written.take();
        let line = text.lines().find(|line| line.contains("a form was refused")).unwrap().to_owned();
        let line: serde_json::Value = serde_json::from_str(&line).unwrap();
        let fields = line["fields"].clone();
        let id = fields["request"].as_str().unwrap();
        assert!(id.len() == 12 && answer.body.contains(id), "{id} in {}", answer.body);
        assert_eq!(fields["source"], "192.0.2.1");
        for secret in ["secret-in-the-name-field", "secret-in-the-password", GOOD, &expired] {
            assert!(!text.contains(secret), "{text}");
        }
        fields
    };

    let answer = site.browser().sign_in("maya", "secret-in-the-password").await;
    let fields = line(&written, &answer);
    assert_eq!((&fields["step"], &fields["account"]), (&"password".into(), &user.id.clone().into()));

    let answer = site.browser().sign_in("secret-in-the-name-field", GOOD).await;
    let fields = line(&written, &answer);
    let typed = fields["typed"].as_str().unwrap().to_owned();
    assert_eq!((&fields["step"], typed.len(), fields.get("account")), (&"name".into(), 16, None));
    // The same again is told apart from another.
    let answer = site.browser().sign_in("SECRET-in-the-name-field", GOOD).await;
    assert_eq!(line(&written, &answer)["typed"], typed.as_str());

    let answer = site.browser().sign_in("lost", GOOD).await;
    assert_eq!(line(&written, &answer)["step"], "disabled");
    site.pass(Duration::from_secs(3600));
    let answer = site.browser().sign_in("late", &expired).await;
    assert_eq!(line(&written, &answer)["step"], "one-time password expired");
    for _ in 0..5 {
        site.browser().sign_in("nobody", "secret-in-the-password").await;
    }
    written.take();
    let answer = site.browser().sign_in("nobody", "secret-in-the-password").await;
    assert_eq!(line(&written, &answer)["step"], "throttle");
    let answer = site.browser().post("/oauth/sign-in", &[("name", "x"), ("password", GOOD)]).await;
    assert_eq!(line(&written, &answer)["step"], "csrf");

    maya.sign_in("maya", GOOD).await;
    assert!(written.take().contains("somebody signed in"));
    let answer = maya.change("secret-in-the-password", "three quiet lanterns burn").await;
    assert_eq!(line(&written, &answer)["step"], "current password");
    let answer = maya.post("/oauth/sign-out", &[]).await;
    assert_eq!(line(&written, &answer)["step"], "csrf");

    // A failure is told with its causes to who runs the server, and to nobody else.
    site.people.store.close().await;
    let answer = maya.get("/account").await;
    assert_eq!((answer.status, answer.header("retry-after")), (StatusCode::SERVICE_UNAVAILABLE, Some("60")));
    let text = written.take();
    assert!(text.contains("could not look for a session: "), "{text}");
    assert!(!answer.body.contains("session") && !answer.body.contains("store"), "{}", answer.body);
    let signing_in = maya.get("/oauth/sign-in").await;
    assert_eq!(signing_in.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(site.people.signed_in(&maya.headers(), &maya.key, site.now()).await.is_err());
}
