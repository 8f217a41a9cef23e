use super::*;

const ROUTES: [(&str, &str); 14] = [
    ("GET", "/oauth/sign-in"),
    ("POST", "/oauth/sign-in"),
    ("GET", "/account"),
    ("GET", "/account/password"),
    ("POST", "/account/password"),
    ("POST", "/oauth/sign-out"),
    ("POST", "/oauth/sign-out-everywhere"),
    ("POST", "/oauth/passkey"),
    ("POST", "/account/passkeys"),
    ("POST", "/account/passkeys/remove"),
    ("GET", "/oauth/style.css"),
    ("GET", "/oauth/passkey.js"),
    ("PUT", "/account"),
    ("GET", "/oauth/nowhere"),
];

#[tokio::test]
async fn no_answer_can_be_framed_kept_or_scripted() {
    let site = Site::new().await;
    let (_, signed_in) = site.person("maya").await;
    for mut browser in [site.browser(), signed_in] {
        for (method, path) in ROUTES {
            let request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
            let answer = browser.send(request).await;
            let header =
                |name| answer.header(name).unwrap_or_else(|| panic!("{method} {path} has no {name}"));
            // Pages that can do something with passkeys have one script, of this server.
            let script = if answer.body.contains("data-passkey=") { "script-src 'self'; " } else { "" };
            let policy = format!(
                "default-src 'none'; {script}style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
            );
            assert_eq!(header("content-security-policy"), policy);
            assert_eq!(header("x-frame-options"), "DENY");
            assert_eq!(header("x-content-type-options"), "nosniff");
            assert_eq!(header("referrer-policy"), "same-origin");
            assert_eq!(header("strict-transport-security"), "max-age=31536000");
            let is_file = path.ends_with(".css") || path.ends_with(".js");
            let kept = if is_file { "public, max-age=31536000, immutable" } else { "no-store" };
            assert_eq!(header("cache-control"), kept, "{method} {path}");
            if !is_file {
                for tag in answer.body.split('<').skip(1).map(|tag| tag.split('>').next().unwrap()) {
                    let own = tag.starts_with("script src=\"/oauth/passkey.js?v=") && !script.is_empty();
                    assert!(own || !tag.starts_with("script"), "{method} {path}: {tag}");
                    for scripted in ["javascript:", " on", "style=", "<style"] {
                        assert!(!format!("<{tag}").contains(scripted), "{method} {path}: {tag}");
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn every_field_that_people_fill_in_has_a_label() {
    let site = Site::new().await;
    let (_, mut browser) = site.person("maya").await;
    for path in ["/oauth/sign-in?again=1", "/account", "/account/password"] {
        let page = browser.get(path).await.body;
        assert!(page.contains("<html lang=\"en\">") && page.contains("width=device-width"));
        assert_eq!((page.matches("<h1>").count(), page.matches("<main>").count()), (1, 1), "{path}");
        let mut filled = 0;
        for field in page.split("<input").skip(1).map(|rest| rest.split('>').next().unwrap()) {
            if field.contains("type=\"hidden\"") || field.contains(" hidden") {
                continue;
            }
            let id = field.split("id=\"").nth(1).unwrap().split('"').next().unwrap();
            assert!(page.contains(&format!("<label for=\"{id}\">")), "{path}: {field}");
            assert!(field.contains("autocomplete="), "{path}: {field}");
            filled += 1;
        }
        assert!(filled >= 2, "{path}");
    }
}

#[tokio::test]
async fn what_people_are_called_is_text() {
    let site = Site::new().await;
    let person = NewPerson {
        name: "m<b>aya".to_owned(),
        display_name: Some("<script>alert(1)</script>".to_owned()),
        tenant: "main".to_owned(),
        roles: ["a&b".to_owned()].into(),
    };
    let (_, once) = site.accounts.add(&person, START).await.unwrap();
    let mut browser = site.browser();
    browser.sign_in("m<b>aya", &once.password).await;
    browser.change("", GOOD).await;
    let page = browser.get("/account").await.body;
    assert!(
        page.contains("&lt;script&gt;") && page.contains("a&amp;b") && page.contains("m&lt;b&gt;aya"),
        "{page}"
    );
    let echoed = browser.sign_in("\"><img src=x>", "x").await;
    assert!(!echoed.body.contains("<img"), "{}", echoed.body);
}

#[tokio::test]
async fn the_style_sheet_is_at_the_address_that_pages_name() {
    let site = Site::new().await;
    let page = site.browser().get("/oauth/sign-in").await.body;
    let address = page.split("href=\"/oauth/style.css").nth(1).unwrap().split('"').next().unwrap();
    let style = site.browser().get(&format!("/oauth/style.css{address}")).await;
    assert_eq!(style.header("content-type"), Some("text/css; charset=utf-8"));
    for needed in ["prefers-color-scheme: dark", ":focus-visible", "max-width: 30rem"] {
        assert!(style.body.contains(needed), "{needed}");
    }
}
