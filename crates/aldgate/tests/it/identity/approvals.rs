//! What waits for a person, on pages: of the caller, and of who decides.

use aldgate_testkit::{Call, Reply};
use serde_json::{Value, json};

use super::browser::{Browser, Page};
use super::succeeds;
use super::world::{Someone, World};

/// An order with a text that would fool a reader, were it shown as it is.
const HOSTILE: &str = "</code></pre><script>alert(1)</script> approved\u{202e}lla rof";

fn order(justification: &str) -> Call {
    let arguments = json!({
        "ticket_id": "SR-20031", "part_no": "AC250-TV-S1", "quantity": 1, "justification": justification,
    });
    Call::tool("raise_parts_order", &arguments.to_string()).declaring(json!({"elicitation": {"url": {}}}))
}

/// Where a call that waits leads to, and the state that it comes back with.
fn elicited(reply: &Reply) -> (String, String) {
    let result = reply.result().expect("a result");
    let asked = &result["inputRequests"]["approval"];
    assert_eq!(
        (&asked["method"], &asked["params"]["mode"]),
        (&json!("elicitation/create"), &json!("url")),
        "{result}"
    );
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    (text(&asked["params"]["url"]), text(&result["requestState"]))
}

/// Alice signs in from the command line, and calls what needs a person.
fn asked(world: &World, alice: &mut Someone<'_>, justification: &str) -> (String, String, String) {
    succeeds(&alice.signs_in(&["login"]));
    let token = alice.access_token(false);
    let (url, state) = elicited(&world.sends(&token, &order(justification)));
    assert!(url.starts_with(&format!("{}/approvals/", world.url.trim_end_matches("/mcp"))), "{url}");
    (url, state, token)
}

/// Opens a page as somebody who signs in for it.
pub(super) fn signed_in(world: &World, who: &mut Someone<'_>, at: &str) -> (Browser, Page) {
    let mut browser = Browser::new(&world.url);
    let page = browser.open(at);
    let (page, password) = browser.sign_in(&page, who.name(), &who.password);
    who.password = password;
    (browser, page)
}

fn signed_in_to_nothing(world: &World, who: &mut Someone<'_>, at: &str) -> (Browser, Page) {
    let mut browser = Browser::new(&world.url);
    let page = browser.open("/account");
    let (page, password) = browser.sign_in(&page, who.name(), &who.password);
    who.password = password;
    let key = page.at.split_once("key=").expect("a key").1.to_owned();
    let path = at.strip_prefix(&browser.origin).unwrap_or(at);
    let page = browser.open(&format!("{path}?key={key}"));
    (browser, page)
}

fn rows_of(world: &World, kind: &str, code: &str) -> Vec<Value> {
    world.rows(kind).into_iter().filter(|row| code.is_empty() || row["code"] == code).collect()
}

pub(super) fn is_a_guarded_page(page: &Page) {
    let policy = page.header("content-security-policy");
    for directive in ["default-src 'none'", "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'"]
    {
        assert!(policy.contains(directive), "{directive} in {policy} of {}", page.at);
    }
    assert!(!policy.contains("script-src"), "{policy}");
    for (name, value) in [
        ("x-frame-options", "DENY"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "same-origin"),
        ("cache-control", "no-store"),
    ] {
        assert_eq!(page.header(name), value, "{name} of {}", page.at);
    }
    assert!(!page.body.contains("<script"), "{}", page.body);
}

#[test]
fn a_caller_sees_how_a_call_stands_and_another_person_decides_it() {
    let world = World::start();
    let mut alice = world.person("alice", &["agent", "writer"]);
    let mut maya = world.person("maya", &["approver"]);
    let mut bob = world.person("bob", &["agent", "writer"]);
    let (url, state, token) = asked(&world, &mut alice, HOSTILE);

    // Alice sees how it stands, and decides nothing.
    let (mut hers, waiting) = signed_in(&world, &mut alice, &url);
    is_a_guarded_page(&waiting);
    for told in [
        "Your call waits for a person",
        "waits for a decision until",
        "parts/raise_parts_order",
        "AC250-TV-S1",
    ] {
        assert!(waiting.text().contains(told), "{told} in {}", waiting.text());
    }
    assert!(waiting.text().contains("See how it stands now"), "{}", waiting.text());
    assert!(!waiting.body.contains("http-equiv=\"refresh\""), "{}", waiting.body);
    assert!(waiting.forms().is_empty(), "{:?}", waiting.forms());
    let key = waiting.at.split_once("key=").expect("a key").1;
    let csrf = hers.open(&format!("/account?key={key}")).form(&[]).fields["csrf"].clone();
    for decision in ["approve", "deny"] {
        let form =
            super::browser::Form { action: waiting.at.clone(), fields: std::collections::BTreeMap::new() };
        let form = form.with("csrf", &csrf).with("decision", decision).with("password", &alice.password);
        let refused = hers.submit(&form);
        assert_eq!(refused.status, 403, "{}", refused.body);
        assert!(refused.text().contains("Your own call"), "{}", refused.text());
        assert!(refused.text().contains("AG-DECIDE-SELF"), "{}", refused.text());
    }
    assert!(hers.open(&format!("/approvals?key={key}")).text().contains("Your own calls"));

    // Bob sees what he would see of an id that there is not.
    let (mut his, nothing) = signed_in_to_nothing(&world, &mut bob, &url);
    let his_key = nothing.at.split_once("key=").expect("a key").1;
    let never = his.open(&format!("/approvals/ap_{}?key={his_key}", "0".repeat(32)));
    let no_id = his.open(&format!("/approvals/none?key={his_key}"));
    for other in [&never, &no_id] {
        assert_eq!((nothing.status, &nothing.body), (404, &other.body));
        is_a_guarded_page(other);
    }
    let list = his.open(&format!("/approvals?key={his_key}"));
    assert!(
        !list.text().contains("raise_parts_order") && list.text().contains("Nothing waits"),
        "{}",
        list.text()
    );

    // Maya comes with a password that is good once, finds it in the list, and sees all that would be done.
    let (mut approver, list) = signed_in(&world, &mut maya, "/approvals");
    is_a_guarded_page(&list);
    let id = url.rsplit('/').next().expect("an id").to_owned();
    let link = list.body.split("href=\"").skip(1).map(|rest| rest.split('"').next().expect("an end"));
    let link = link.into_iter().find(|link| link.contains(&id)).expect("a link").to_owned();
    let page = approver.open(&link);
    is_a_guarded_page(&page);
    let text = page.text();
    for told in [
        "alice",
        "a person",
        "aldgate-cli",
        "parts/raise_parts_order",
        "sha256:",
        "AC250-TV-S1",
        "SR-20031",
        "waits for a decision until",
        "changes something that matters",
        "</code></pre><script>alert(1)</script>",
        "\\u{202e}",
        "\\u202e",
        id.as_str(),
    ] {
        assert!(text.contains(told), "{told} in {text}");
    }
    assert!(!page.body.contains('\u{202e}') && !page.body.contains("<script>alert"), "{}", page.body);

    let form = page.form(&[("decision", "approve")]).with("note", "the valve leaks");
    let refused = approver.submit(&form.clone().with("password", "wrong wrong wrong"));
    assert_eq!(refused.status, 403);
    assert!(refused.text().contains("is not right") && refused.text().contains("waits for a decision"));
    assert!(refused.text().contains("AG-DECIDE-PROOF"), "{}", refused.text());
    let form = form.with("password", &maya.password);
    let decided = approver.submit(&form);
    assert_eq!(decided.status, 200);
    assert!(decided.text().contains("maya approved it on"), "{}", decided.text());
    assert!(decided.text().contains("Note: the valve leaks") && decided.forms().is_empty());
    // The same form once more, and one that was opened before.
    let replayed = approver.submit(&form);
    assert_eq!(replayed.status, 403, "{}", replayed.text());
    let before = page.form(&[("decision", "deny")]).with("password", &maya.password);
    let late = approver.submit(&before);
    assert_eq!(late.status, 409, "{}", late.text());
    assert!(late.text().contains("only a pending one can be decided"), "{}", late.text());
    assert!(late.text().contains("AG-ADMIN-DECIDED"), "{}", late.text());
    assert!(
        !approver.open(&format!("/approvals?key={}", link.split_once("key=").unwrap().1)).body.contains(&id)
    );

    // Alice's program comes again, and her page says so.
    assert!(hers.open(&waiting.at).text().contains("maya approved it on"));
    let again = order(HOSTILE).id("2").state(&state).answering(json!({"approval": {"action": "accept"}}));
    let done = world.sends(&token, &again).result().expect("a result");
    assert_eq!((&done["resultType"], &done["isError"]), (&json!("complete"), &json!(false)), "{done}");
    let seen = hers.open(&waiting.at);
    assert!(seen.text().contains("The call was made under it, once"), "{}", seen.text());
    assert!(!seen.text().contains("See how it stands now"), "{}", seen.text());

    // The evidence says who decided, and who tried.
    let rows = rows_of(&world, "approval_decided", "");
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!((&rows[0]["principal"]["name"], &rows[0]["outcome"]), (&json!("maya"), &json!("approve")));
    assert_eq!(
        (&rows[0]["principal"]["client"], &rows[0]["detail"]),
        (&json!("aldgate-pages"), &json!("the valve leaks"))
    );
    for (code, name, count) in
        [("AG-DECIDE-SELF", "alice", 2), ("AG-DECIDE-PROOF", "maya", 1), ("AG-ADMIN-DECIDED", "maya", 1)]
    {
        let rows = rows_of(&world, "refusal", code);
        assert_eq!(rows.len(), count, "{code}: {rows:?}");
        assert!(
            rows.iter().all(|row| row["principal"]["name"] == name && row["approval"] == id.as_str()),
            "{rows:?}"
        );
    }
}

#[test]
fn who_took_a_session_decides_nothing() {
    let world = World::start();
    let mut alice = world.person("alice", &["agent", "writer"]);
    let mut maya = world.person("maya", &["approver"]);
    let (url, _, _) = asked(&world, &mut alice, "the valve leaks");
    let (mut approver, page) = signed_in(&world, &mut maya, &url);
    let approve = page.form(&[("decision", "approve")]).with("password", &maya.password);
    let deny = page.form(&[("decision", "deny")]).with("password", &maya.password);
    let bare = |form: &super::browser::Form| super::browser::Form {
        action: form.action.split('?').next().expect("a path").to_owned(),
        fields: form.fields.clone(),
    };
    let pending = |browser: &mut Browser| {
        let seen = browser.open(&page.at);
        assert!(seen.text().contains("waits for a decision until"), "{}", seen.text());
    };

    // A program on another port has the cookies, and knows all but the key: it is nobody, with the right password too.
    let mut thief = approver.clone();
    for at in [url.as_str(), "/approvals", "/account"] {
        let seen = thief.open(at);
        assert!(seen.at.starts_with("/oauth/sign-in"), "{seen:?}");
        assert!(!seen.body.contains("raise_parts_order"));
    }
    let led = thief.submit(&bare(&approve));
    assert!(led.at.starts_with("/oauth/sign-in"), "{led:?}");
    let wrong_key =
        super::browser::Form { action: format!("{}?key=AAAA", bare(&approve).action), ..approve.clone() };
    assert!(thief.submit(&wrong_key).at.starts_with("/oauth/sign-in"));
    pending(&mut approver);

    // With the key as well it sees what she sees, and decides nothing without the password.
    for (name, value) in [("password", ""), ("password", "wrong wrong wrong"), ("credential", "{}")] {
        let refused = thief.submit(&approve.clone().with(name, value));
        assert_eq!(refused.status, 403, "{name}={value}: {}", refused.text());
    }
    pending(&mut approver);

    // One that cannot be read leads back to the page, in the same session.
    let unread = approver.submit(&approve.clone().with("decision", "both"));
    assert_eq!(unread.status, 403, "{}", unread.text());
    assert!(unread.body.contains(&format!("href=\"{}\"", page.at)), "{} in {}", page.at, unread.body);

    // Nor does a form from another page, or one for something else.
    let from = |headers: &[(&str, &str)], form: &super::browser::Form| {
        approver.clone().submit_from(form, headers).status
    };
    let origin = approver.origin.clone();
    for headers in [
        [("origin", "http://127.0.0.1:9"), ("sec-fetch-site", "same-site")],
        [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")],
        [("origin", "null"), ("sec-fetch-site", "same-origin")],
    ] {
        assert_eq!(from(&headers, &approve), 403, "{headers:?}");
    }
    let own = [("origin", origin.as_str()), ("sec-fetch-site", "same-origin")];
    assert_eq!(from(&own, &approve.clone().with("csrf", "")), 403);
    assert_eq!(from(&own, &approve.clone().with("decision", "deny")), 403, "a form to approve does not deny");
    let swapped = approve.clone().with("challenge", &deny.fields["challenge"]);
    assert_eq!(from(&own, &swapped), 403);
    assert_eq!(from(&own, &approve.clone().with("decision", "both")), 403);
    pending(&mut approver);
    assert!(rows_of(&world, "approval_decided", "").is_empty());
    assert!(approver.submit(&deny).text().contains("maya denied it on"));
}

#[test]
fn who_has_the_cookies_alone_answers_no_request_of_a_program() {
    let world = World::start();
    let mut alice = world.person("alice", &["agent", "writer"]);
    succeeds(&world.run(&["clients", "add", "desk", "--redirect", "http://127.0.0.1/callback"]));
    let query = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs([
            ("response_type", "code"),
            ("client_id", "desk"),
            ("redirect_uri", "http://127.0.0.1:9/callback"),
            ("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
            ("code_challenge_method", "S256"),
            ("scope", "tools:read"),
        ])
        .finish();
    let mut browser = Browser::new(&world.url);
    let sign_in = browser.open(&format!("/oauth/authorize?{query}"));
    for told in ["desk", "this computer", "http://127.0.0.1:9/callback", "Use tools that only read"] {
        assert!(sign_in.text().contains(told), "{told} in {}", sign_in.text());
    }
    let (consent, password) = browser.sign_in(&sign_in, alice.name(), &alice.password);
    alice.password = password;
    let form = consent.form(&[("csrf", &consent.forms()[0].fields["csrf"])]).with("decision", "allow");
    let key = form.action.split_once("key=").expect("a key").1.to_owned();
    let bare = super::browser::Form {
        action: form.action.split('?').next().expect("a path").to_owned(),
        fields: form.fields.clone(),
    };
    let mut thief = browser.clone();
    let refused = thief.submit(&bare);
    assert_eq!(refused.status, 400, "{}", refused.text());
    assert_eq!(refused.target(), None, "{}", refused.body);
    assert!(!refused.body.contains("code="), "{}", refused.body);
    let answered = browser.submit(&form);
    let to = answered.target().expect("the program");
    assert!(to.starts_with("http://127.0.0.1:9/callback?code=") && !to.contains(&key), "{to}");
    assert!(!answered.body.contains(&key) && answered.header("referrer-policy") == "no-referrer");
}

#[test]
fn who_may_not_grant_decisions_takes_none_on_a_page() {
    let world = World::with(
        "[identity.server]\neverybody = [\"tools:read\"]\n[identity.server.roles]\nwriter = [\"tools:write\"]\n",
    );
    let mut alice = world.person("alice", &["agent", "writer"]);
    // The policies would let her.
    let mut maya = world.person("maya", &["approver"]);
    let (url, _, _) = asked(&world, &mut alice, "the valve leaks");
    let (mut browser, nothing) = signed_in_to_nothing(&world, &mut maya, &url);
    assert_eq!(nothing.status, 404, "{}", nothing.text());
    let key = nothing.at.split_once("key=").expect("a key").1;
    let list = browser.open(&format!("/approvals?key={key}"));
    assert!(list.text().contains("Nothing waits for a decision of yours"), "{}", list.text());
    assert!(!list.body.contains("raise_parts_order"));
    let csrf = browser.open(&format!("/account?key={key}")).form(&[]).fields["csrf"].clone();
    let form = super::browser::Form { action: nothing.at.clone(), fields: std::collections::BTreeMap::new() };
    let form = form.with("csrf", &csrf).with("decision", "approve").with("password", &maya.password);
    assert_eq!(browser.submit(&form).status, 404);
    assert!(rows_of(&world, "approval_decided", "").is_empty());
}
