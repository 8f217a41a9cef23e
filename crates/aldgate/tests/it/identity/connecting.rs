//! The pages on which people connect accounts: whom they are for, and what they tell whom.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use axum::Router;
use axum::routing::{get, post};
use serde_json::json;

use super::approvals::is_a_guarded_page;
use super::browser::{Browser, Form, Page};
use super::world::{Someone, World};
use super::{succeeds, text};

/// Gives tokens for the code `good`, in a thread of its own. Gives its issuer.
fn authorization_server() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("it does not block");
    let issuer = format!("http://{}", listener.local_addr().expect("an address"));
    let metadata = json!({
        "issuer": issuer, "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"), "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"], "authorization_response_iss_parameter_supported": true,
    });
    let metadata = move || std::future::ready(metadata.to_string());
    let token = async |form: String| {
        let given = json!({"access_token": "given", "token_type": "Bearer", "expires_in": 300});
        match form.contains("code=good&") {
            true => (http::StatusCode::OK, given.to_string()),
            false => (http::StatusCode::BAD_REQUEST, json!({"error": "invalid_grant"}).to_string()),
        }
    };
    let app = Router::new()
        .route("/.well-known/oauth-authorization-server", get(metadata))
        .route("/token", post(token));
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
            let _ = axum::serve(listener, app).await;
        });
    });
    issuer
}

/// A gateway whose people connect accounts to `parts`, which serves one of two tenants.
fn world(issuer: &str) -> World {
    World::start_with(|config| {
        let config = config.replace("dynamic_registration = true", "tenants = [\"acme\", \"globex\"]");
        let of = |name: &str| format!("lock = \"{name}.json\"\n");
        let both = "tenants = [\"acme\", \"globex\"]\n";
        let config = config.replace(&of("tickets"), &format!("{}{both}", of("tickets")));
        let config = config.replace(&of("manuals"), &format!("{}{both}", of("manuals")));
        let config = config.replace("[[principals]]", "[[principals]]\ntenant = \"acme\"");
        let credential = format!(
            "{}tenants = [\"acme\"]\n[upstreams.parts.credential]\nkind = \"connection\"\nissuer = \"{issuer}\"\n\
             client_id = \"gateway\"\n",
            of("parts")
        );
        config.replace(&of("parts"), &credential)
    })
}

/// Somebody of a tenant who signs in for a page, and the key of the session.
fn signed_in(world: &World, name: &str, tenant: &str, at: &str) -> (Browser, Page, String) {
    let Someone { password, .. } = world.person_with(name, &["agent"], &["--tenant", tenant]);
    let mut browser = Browser::new(&world.url);
    let page = browser.open(at);
    let (page, _) = browser.sign_in(&page, name, &password);
    let key = page.at.split_once("key=").expect("a key").1.to_owned();
    (browser, page, key)
}

/// What is sent to the other server when a person begins.
fn begun(browser: &mut Browser, page: &Page) -> String {
    let on = browser.submit(&page.form(&[]));
    assert_eq!(on.status, 200, "{}", on.body);
    is_a_guarded_page(&on);
    on.target().expect("a way to the other server")
}

fn state_of(begun: &str) -> String {
    let url = url::Url::parse(begun).expect("a URL");
    url.query_pairs().find(|(name, _)| name == "state").expect("a state").1.into_owned()
}

fn callback(issuer: &str, more: &[(&str, &str)]) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    format!("/connections/parts/callback?{}", query.append_pair("iss", issuer).extend_pairs(more).finish())
}

#[test]
fn a_cookie_and_a_state_tell_nobody_the_key_of_the_pages() {
    let issuer = authorization_server();
    let world = world(&issuer);
    let (mut hers, page, key) = signed_in(&world, "alice", "acme", "/connections/parts");
    is_a_guarded_page(&page);
    let state = state_of(&begun(&mut hers, &page));
    // Another program of this computer is shown the cookie, and the other server the state.
    let mut thief = Browser::new(&world.url);
    thief.cookies.clone_from(&hers.cookies);
    let state = ("state", state.as_str());
    for (what, told) in [
        (vec![state, ("code", "bad")], "gave no tokens"),
        (vec![state, ("error", "access_denied")], "access_denied"),
        (vec![state], "This did not work"),
        (vec![state, ("code", "good"), ("iss", "https://evil.example")], "This did not work"),
        (vec![("state", "x"), ("code", "good")], "belongs to no connection"),
        (vec![state, ("code", "good")], "can call parts with it now"),
        (vec![state, ("code", "good")], "is connected to this server already"),
    ] {
        let found = thief.open(&callback(&issuer, &what));
        assert!(found.text().contains(told), "{told} in {}", found.text());
        is_a_guarded_page(&found);
        for text in [format!("{:?}", found.headers), found.body, found.at] {
            assert!(!text.contains(&key), "{what:?}: {text}");
        }
    }
    // Without the cookie nobody is known, and the way to the page to sign in has no key of anybody.
    let stranger = Browser::new(&world.url).open(&callback(&issuer, &[state, ("code", "good")]));
    assert!(stranger.at.starts_with("/oauth/sign-in?") && !stranger.at.contains("key"), "{}", stranger.at);
    let page = hers.open(&format!("/connections/parts?key={key}"));
    assert!(page.text().contains("Connected yes"), "{}", page.text());
    assert!(!page.text().contains("Connect another account"), "{}", page.text());
    let list = hers.open(&format!("/connections?key={key}"));
    let gone = hers.submit(&list.form(&[]));
    assert!(gone.text().contains("could not be told"), "{}", gone.text());
    assert!(hers.open(&format!("/connections?key={key}")).text().contains("You have connected no account"));
    // Once more there is nothing to take back, here or there.
    let form = list.form(&[]);
    let nothing = Form { action: form.action.replace("parts", "pasts"), ..form };
    assert_eq!(hers.submit(&nothing).status, 404);
    let until = Instant::now() + Duration::from_secs(60);
    let by = loop {
        let rows = world.rows("identity");
        if let Some(row) = rows.iter().find(|row| row["outcome"] == "disconnected") {
            break row["principal"]["name"].clone();
        }
        assert!(Instant::now() < until, "{rows:?}");
        std::thread::sleep(Duration::from_millis(100));
    };
    assert_eq!(by, "alice");
}

#[test]
fn people_of_another_tenant_see_no_upstream_that_does_not_serve_them() {
    let issuer = authorization_server();
    let world = world(&issuer);
    let (mut his, _, key) = signed_in(&world, "gus", "globex", "/connections");
    let csrf = his.open(&format!("/account?key={key}")).form(&[]).fields["csrf"].clone();
    let told = |page: &Page, name: &str| {
        let text = page.text();
        let text = text.split(" Request ").next().expect("a text");
        (page.status, text.replace(name, "NAMED"))
    };
    for path in ["", "/callback", "/disconnect"] {
        let mut answers = Vec::new();
        for name in ["parts", "pasts", "tickets"] {
            let action = format!("/connections/{name}{path}?key={key}");
            let form = Form { action: action.clone(), fields: BTreeMap::new() }.with("csrf", &csrf);
            let found = [his.open(&action), his.submit(&form)];
            assert!(found.iter().any(|page| matches!(page.status, 400 | 404)), "{found:?}");
            answers.push(found.map(|page| told(&page, name)));
        }
        assert!(answers.iter().all(|found| *found == answers[0]), "{answers:?}");
    }
    // And those whom it serves do.
    let (_, page, _) = signed_in(&world, "ann", "acme", "/connections/parts");
    assert!(page.text().contains(&issuer), "{}", page.text());
}

#[test]
fn a_form_that_cannot_be_read_is_answered_with_a_page() {
    let issuer = authorization_server();
    let world = world(&issuer);
    let (mut hers, page, _) = signed_in(&world, "alice", "acme", "/connections/parts");
    let origin = hers.origin.clone();
    let form = page.form(&[]);
    for form in [form.clone().with("more", &"x".repeat(20_000)), form.with("csrf", "x")] {
        let refused = hers.submit_from(&form, &[("origin", &origin), ("sec-fetch-site", "same-origin")]);
        assert_eq!(refused.status, 403, "{}", refused.body);
        assert!(refused.text().contains("not sent from a page of this server"), "{}", refused.text());
        is_a_guarded_page(&refused);
    }
}

#[test]
fn a_configuration_that_is_refused_changes_no_page() {
    let (first, second) = (authorization_server(), authorization_server());
    let world = world(&first);
    let (mut hers, page, key) = signed_in(&world, "alice", "acme", "/connections/parts");
    assert!(page.text().contains(&first), "{}", page.text());
    let path = world.folder().join("aldgate.toml");
    let good = std::fs::read_to_string(&path).expect("a configuration").replace(&first, &second);
    let bad =
        format!("{good}\n[[people]]\nname = \"x\"\nprincipals = [\"auditor\"]\naccounts = [\"nobody\"]\n");
    std::fs::write(&path, bad).expect("written");
    let refused = world.operates(&["reload"]);
    assert!(!refused.status.success() && text(&refused).contains("[[people]]"), "{}", text(&refused));
    let page = hers.open(&format!("/connections/parts?key={key}"));
    assert!(page.text().contains(&first), "{}", page.text());
    let begun = begun(&mut hers, &page);
    assert!(begun.starts_with(&first), "{begun}");
    std::fs::write(&path, good).expect("written");
    succeeds(&world.operates(&["reload"]));
    let page = hers.open(&format!("/connections/parts?key={key}"));
    assert!(page.text().contains(&second), "{}", page.text());
}
