//! Forms of others that need a proof of who sends them.

use axum::Form;
use axum::extract::State;
use axum::response::IntoResponse as _;
use serde_json::{Value, json};

use super::*;
use crate::people::passkeys::Authenticator;

#[derive(serde::Deserialize)]
struct Sent {
    act: String,
    #[serde(flatten)]
    proof: Proof,
}

async fn show(State(people): State<Arc<People>>, asked: Asked) -> Response {
    match people.visitor(&asked, "/approvals/one").await.unwrap() {
        Visitor::Nobody(way) => way,
        Visitor::Person(signed_in) => {
            let looks = Looks { does: "Approve", class: None, id: "a" };
            let fields = people.proof_fields(&asked, &signed_in, "approve one", looks).await.unwrap();
            fields.into_string().into_response()
        }
    }
}

async fn send(State(people): State<Arc<People>>, asked: Asked, Form(sent): Form<Sent>) -> Response {
    match people.visitor(&asked, "/approvals/one").await.unwrap() {
        Visitor::Nobody(way) => way,
        Visitor::Person(signed_in) => match people.proved(&asked, &signed_in, &sent.act, &sent.proof).await {
            Ok(Ok(user)) => format!("Ok({})", user.name),
            Ok(Err(unproved)) => format!("Err({unproved:?})"),
            Err(fault) => format!("Fault({fault})"),
        }
        .into_response(),
    }
}

async fn site_at(issuer: &str) -> Site {
    let mut site = Site::with(settings(issuer)).await;
    let own = Router::new().route("/approvals/one", get(show).post(send));
    site.router = site.router.merge(own.with_state(Arc::clone(&site.people)));
    site
}

impl Browser {
    async fn approve(&mut self, form: &Answer, changes: &[(&str, &str)]) -> String {
        let (csrf, challenge) = (form.field("csrf"), form.field("challenge"));
        let mut fields =
            vec![("act", "approve one"), ("csrf", &csrf), ("challenge", &challenge), ("password", GOOD)];
        for (name, value) in changes {
            fields.retain(|(other, _)| other != name);
            fields.push((name, value));
        }
        let answer = self.post("/approvals/one", &fields).await;
        answer.target().unwrap_or(answer.body)
    }
}

#[tokio::test]
async fn a_form_is_taken_once_with_the_password_for_its_act_and_session() {
    for issuer in ["https://gate.example", "http://127.0.0.1:7300"] {
        let site = site_at(issuer).await;
        let (_, mut maya) = site.person("maya").await;
        let form = maya.get("/approvals/one").await;
        assert_eq!(maya.approve(&form, &[("password", "wrong wrong wrong")]).await, "Err(Wrong)");
        assert_eq!(maya.approve(&form, &[("password", "")]).await, "Err(Wrong)");
        assert_eq!(maya.approve(&form, &[("act", "deny one")]).await, "Err(Late)");
        assert_eq!(maya.approve(&form, &[("csrf", "")]).await, "Err(Foreign)");
        assert_eq!(maya.approve(&form, &[]).await, "Ok(maya)");
        assert_eq!(maya.approve(&form, &[]).await, "Err(Late)", "sent twice");

        let late = maya.get("/approvals/one").await;
        site.pass(Duration::from_secs(299));
        assert_eq!(maya.approve(&late, &[("password", "wrong wrong wrong")]).await, "Err(Wrong)");
        site.pass(Duration::from_secs(1));
        assert_eq!(maya.approve(&late, &[]).await, "Err(Late)");

        // A form of another session of the same person, and of another person.
        let (_, mut bob) = site.person("bob").await;
        let mut elsewhere = site.browser();
        elsewhere.sign_in("maya", GOOD).await;
        for other in [&mut elsewhere, &mut bob] {
            let form = other.get("/approvals/one").await;
            assert_eq!(maya.approve(&form, &[]).await, "Err(Foreign)");
            let csrf = site.who(&maya).await.unwrap().csrf;
            assert_eq!(maya.approve(&form, &[("csrf", &csrf)]).await, "Err(Late)");
        }
        let form = maya.get("/approvals/one").await;
        let evil = [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")];
        let (csrf, challenge) = (form.field("csrf"), form.field("challenge"));
        let fields = [("act", "approve one"), ("csrf", &csrf), ("challenge", &challenge), ("password", GOOD)];
        assert_eq!(maya.post_from("/approvals/one", &fields, &evil).await.body, "Err(Foreign)");
        assert_eq!(maya.approve(&form, &[]).await, "Ok(maya)");
    }
}

#[tokio::test]
async fn who_has_the_cookie_alone_is_led_to_the_sign_in() {
    let site = site_at("http://127.0.0.1:7300").await;
    let (_, mut maya) = site.person("maya").await;
    let form = maya.get("/approvals/one").await;
    let mut thief = Browser { key: PageKey::default(), ..maya.clone() };
    let way = "/oauth/sign-in?continue=%2Fapprovals%2Fone";
    assert_eq!(thief.get("/approvals/one").await.header("location"), Some(way));
    assert_eq!(thief.approve(&form, &[]).await, way);
    // Whose password is good once changes it first, and comes back.
    let (_, once) = site.add("new").await;
    let mut new = site.browser();
    let on = new.sign_in_to("/approvals/one", "new", &once).await.target().unwrap();
    assert!(on.starts_with("/account/password?continue=%2Fapprovals%2Fone&key="), "{on}");
    let on = new.get("/approvals/one").await.target().unwrap();
    assert!(on.starts_with("/account/password?continue=%2Fapprovals%2Fone&key="), "{on}");
}

#[tokio::test]
async fn wrong_passwords_of_a_session_are_counted() {
    let site = site_at("https://gate.example").await;
    let (_, mut maya) = site.person("maya").await;
    let form = maya.get("/approvals/one").await;
    for _ in 0..10 {
        assert_eq!(maya.approve(&form, &[("password", "wrong wrong wrong")]).await, "Err(Wrong)");
    }
    assert!(maya.approve(&form, &[]).await.starts_with("Err(Wait("));
    // Passkeys that are none count as well.
    let (_, mut lena) = site.person("lena").await;
    let form = lena.get("/approvals/one").await;
    for _ in 0..10 {
        assert_eq!(lena.approve(&form, &[("credential", "{}")]).await, "Err(Wrong)");
    }
    assert!(lena.approve(&form, &[("credential", "{}")]).await.starts_with("Err(Wait("));
    assert!(lena.approve(&form, &[]).await.starts_with("Err(Wait("));
}

#[tokio::test]
async fn a_passkey_of_the_same_person_is_a_proof_once() {
    let site = site_at("https://gate.example").await;
    let (user, mut maya) = site.person("maya").await;
    let (other, mut bob) = site.person("bob").await;
    let form = maya.get("/approvals/one").await;
    assert!(!form.body.contains("data-passkey"), "she has none: {}", form.body);
    let (own, foreign) = (Authenticator::new(&user.id), Authenticator::new(&other.id));
    maya.add_passkey(&own).await;
    bob.add_passkey(&foreign).await;

    let form = maya.get("/approvals/one").await;
    let challenge = |form: &Answer| -> Value {
        let (_, rest) = form.body.split_once("data-options=\"").unwrap();
        serde_json::from_str(&rest.split_once('"').unwrap().0.replace("&quot;", "\"")).unwrap()
    };
    let asked = challenge(&form);
    let answered = |by: &Authenticator| by.get(asked["challenge"].as_str().unwrap()).to_string();
    let nothing = [("password", ""), ("credential", "{}")];
    assert_eq!(maya.approve(&form, &nothing).await, "Err(Wrong)");
    let foreign = answered(&foreign);
    assert_eq!(maya.approve(&form, &[("credential", &foreign)]).await, "Err(Wrong)", "with her password");
    let answer = answered(&own);
    let with = [("credential", answer.as_str()), ("password", "")];
    assert_eq!(maya.approve(&form, &[with[0], with[1], ("act", "deny one")]).await, "Err(Late)");
    assert_eq!(maya.approve(&form, &with).await, "Ok(maya)");
    assert_eq!(maya.approve(&form, &with).await, "Err(Wrong)", "used twice");
    assert_eq!(maya.approve(&form, &[]).await, "Err(Late)", "used with a passkey");

    // Nor is one form good for the password, and then for a passkey.
    let form = maya.get("/approvals/one").await;
    let by_passkey = own.get(challenge(&form)["challenge"].as_str().unwrap()).to_string();
    assert_eq!(maya.approve(&form, &[]).await, "Ok(maya)");
    let with = [("credential", by_passkey.as_str()), ("password", "")];
    assert_eq!(maya.approve(&form, &with).await, "Err(Wrong)", "used with the password");
    assert_eq!(asked["userVerification"], json!("required"));
}

#[tokio::test]
async fn a_proof_that_could_not_be_looked_at_is_no_try() {
    let site = site_at("https://gate.example").await;
    let (user, mut maya) = site.person("maya").await;
    let own = Authenticator::new(&user.id);
    maya.add_passkey(&own).await;
    let form = maya.get("/approvals/one").await;
    let challenge = form.field("challenge");
    let answer = own.get(challenge.split_once('.').unwrap().0).to_string();
    let with = [("credential", answer.as_str()), ("password", "")];
    site.meddle("ALTER TABLE passkeys RENAME TO elsewhere").await;
    for _ in 0..=Tries::default().device.burst {
        let failed = maya.approve(&form, &with).await;
        assert!(failed.starts_with("Fault("), "{failed}");
    }
    site.meddle("ALTER TABLE elsewhere RENAME TO passkeys").await;
    assert_eq!(maya.approve(&form, &with).await, "Ok(maya)");
}

#[tokio::test]
async fn who_is_proved_is_the_account_as_it_is_then() {
    let site = site_at("https://gate.example").await;
    let (_, mut maya) = site.person("maya").await;
    let form = maya.get("/approvals/one").await;
    let asked = Asked {
        headers: maya.headers(),
        key: maya.key.clone(),
        source: Source::UNKNOWN,
        now: site.now(),
        id: "request".to_owned(),
    };
    let signed_in = site.who(&maya).await.unwrap();
    let sent = json!({"csrf": signed_in.csrf, "challenge": form.field("challenge"), "password": GOOD});
    let sent: Proof = serde_json::from_value(sent).unwrap();
    site.meddle(r#"UPDATE users SET roles = '["reader"]'"#).await;
    let user = site.people.proved(&asked, &signed_in, "approve one", &sent).await.unwrap().unwrap();
    let roles = |user: &User| user.roles.iter().cloned().collect::<Vec<_>>();
    assert_eq!(
        (roles(&signed_in.user), roles(&user)),
        (vec!["writer".to_owned()], vec!["reader".to_owned()])
    );
}
