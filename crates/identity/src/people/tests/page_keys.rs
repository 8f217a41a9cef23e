//! Where programs on other ports get to see the cookies of a browser.

use super::*;

const HERE: &str = "http://127.0.0.1:7300";

/// What a program on another port of this computer has: the cookies, and nothing of the addresses.
fn thief(of: &Browser) -> Browser {
    Browser { key: PageKey::default(), ..of.clone() }
}

#[tokio::test]
async fn a_cookie_alone_is_nobody() {
    let site = Site::with(settings(HERE)).await;
    let (_, mut maya) = site.person("maya").await;
    let (_, bob) = site.person("bob").await;
    let csrf = site.who(&maya).await.unwrap().csrf;
    let new = "three quiet lanterns burn";
    let fields =
        [("csrf", csrf.as_str()), ("current", GOOD), ("password", GOOD), ("new", new), ("repeated", new)];
    // Neither without a key, nor with that of a session of one's own, nor with one that is made up.
    let made_up = PageKey::of_query(Some("key=bm90IHRoZSBrZXkgb2YgdGhpcyBzZXNzaW9uIGF0IGFsbC4"));
    for key in [PageKey::default(), bob.key.clone(), made_up] {
        let mut thief = Browser { key: key.clone(), ..thief(&maya) };
        assert_eq!(site.who(&thief).await, None);
        let shown = thief.get("/account").await;
        assert_eq!(shown.header("location"), Some("/oauth/sign-in?continue=%2Faccount"));
        assert!(!shown.body.contains("Your account"));
        // Even with the value of the form, which stands on no page that it gets to see.
        for path in [
            "/account/password",
            "/oauth/sign-out",
            "/oauth/sign-out-everywhere",
            "/account/passkeys",
            "/account/passkeys/remove",
        ] {
            let answer = thief.post(path, &fields).await;
            let led = answer.target().unwrap_or_default().starts_with("/oauth/sign-in");
            assert!(led || answer.status == StatusCode::FORBIDDEN, "{path}: {}", answer.body);
        }
        // Nor does the page to sign in lead on who is nobody.
        let asked = thief.get("/oauth/sign-in").await;
        assert!(asked.body.contains("autocomplete=\"current-password\""), "{}", asked.body);
    }
    assert!(site.who(&maya).await.is_some());
    assert!(maya.get("/account").await.body.contains("Your account"));
    let changed = maya.post("/account/password", &fields).await;
    assert_eq!(changed.status, StatusCode::SEE_OTHER, "the password was the same all along");
}

#[tokio::test]
async fn the_key_is_in_addresses_of_this_server_alone() {
    let site = Site::with(settings(HERE)).await;
    let (_, mut maya) = site.person("maya").await;
    let answer = maya.sign_in("maya", GOOD).await;
    let key = answer.header("location").unwrap().strip_prefix("/account?key=").unwrap().to_owned();
    assert_eq!(key.len(), 43);
    assert!(answer.cookies().iter().all(|cookie| !cookie.contains(&key)));
    let page = maya.get("/account").await;
    assert_eq!(page.header("referrer-policy"), Some("same-origin"));
    let actions: Vec<_> =
        page.body.split("action=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(actions.len() >= 3, "{}", page.body);
    for action in actions {
        assert!(action.starts_with('/') && action.ends_with(&format!("?key={key}")), "{action}");
    }
    // Who signs in again has another one, and the one before is nobody's.
    let before = maya.clone();
    maya.sign_in("maya", GOOD).await;
    assert_ne!(maya.key, before.key);
    assert_eq!(site.who(&Browser { key: before.key, ..maya.clone() }).await, None);
    // In the store is nothing of it.
    for entry in std::fs::read_dir(site.folder.path()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(key.len()).any(|window| window == key.as_bytes()));
    }
}

#[tokio::test]
async fn the_way_on_after_a_sign_in_has_the_key_and_its_own_request() {
    let site = Site::with(settings(HERE)).await;
    let (_, mut maya) = site.person("maya").await;
    for (destination, on) in [
        ("/approvals", "/approvals?key="),
        ("/approvals/ap_1", "/approvals/ap_1?key="),
        ("/connections/parts?state=a", "/connections/parts?state=a&key="),
        ("/oauth/authorize/continue?request=abc", "/oauth/authorize/continue?request=abc&key="),
    ] {
        let answer = maya.sign_in_to(destination, "maya", GOOD).await;
        let to = answer.target().unwrap();
        assert!(to.starts_with(on), "{to}");
    }
    // A key that comes twice is none.
    let key = maya.key.at("/account").split_once("key=").unwrap().1.to_owned();
    assert_eq!(PageKey::of_query(Some(&format!("key={key}&key={key}"))), PageKey::default());
}

#[tokio::test]
async fn where_no_other_program_sees_cookies_there_is_no_key() {
    let site = Site::new().await;
    let (_, mut maya) = site.person("maya").await;
    assert_eq!(maya.sign_in("maya", GOOD).await.header("location"), Some("/account"));
    assert!(!maya.get("/account").await.body.contains("?key="));
    assert!(site.who(&thief(&maya)).await.is_some());
}
