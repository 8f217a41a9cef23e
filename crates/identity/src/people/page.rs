//! The frame of every page that a person sees here, and the headers that keep it from being misused.

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use maud::{DOCTYPE, Markup, html};
use sha2::{Digest as _, Sha256};

const STYLE: &str = include_str!("style.css");

/// The address of the style sheet, another one after each change: browsers may keep what they have.
static STYLE_ADDRESS: LazyLock<String> = LazyLock::new(|| {
    let digest = hex::encode(Sha256::digest(STYLE.as_bytes()));
    format!("/oauth/style.css?v={}", digest.get(..16).unwrap_or_default())
});

const SCRIPT: &str = include_str!("passkey.js");

/// The address of the script for passkeys.
static SCRIPT_ADDRESS: LazyLock<String> = LazyLock::new(|| {
    let digest = hex::encode(Sha256::digest(SCRIPT.as_bytes()));
    format!("/oauth/passkey.js?v={}", digest.get(..16).unwrap_or_default())
});

const POLICY: &str =
    "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// What every answer carries.
///
/// The referrer is told to this origin alone. With `no-referrer` browsers would send `Origin: null` with our own forms,
/// which nobody can tell from a foreign page's.
const HEADERS: [(HeaderName, &str); 5] = [
    (header::CACHE_CONTROL, "no-store"),
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::REFERRER_POLICY, "same-origin"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
];

/// Puts the headers of every answer where they are missing; by TLS, also that the host is to be reached by TLS alone
/// (RFC 6797).
pub fn keep_from_misuse(headers: &mut HeaderMap, secure: bool) {
    for (name, value) in HEADERS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    if secure {
        let year = HeaderValue::from_static("max-age=31536000");
        headers.entry(header::STRICT_TRANSPORT_SECURITY).or_insert(year);
    }
}

/// A page without scripts, that no other page may frame, that no cache keeps, and whose address nobody is told. Its forms
/// lead nowhere but here.
#[must_use]
pub fn page(status: StatusCode, title: &str, body: &Markup) -> Response {
    framed(status, title, &html! {}, body)
}

/// As [`page`], with the one script of this server where there are passkeys: the page works without it, but for those.
pub(super) fn page_with_passkeys(status: StatusCode, title: &str, body: &Markup, there: bool) -> Response {
    if !there {
        return page(status, title, body);
    }
    let script = html! { script src=(*SCRIPT_ADDRESS) defer {} };
    let mut response = framed(status, title, &script, body);
    let policy = POLICY.replace("style-src", "script-src 'self'; style-src");
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// A page that leads on by itself. It ends a chain of redirects that began with a form, which could go no further than
/// this server.
#[must_use]
pub fn page_going_on(title: &str, path: &str) -> Response {
    page_going_to(title, path, &html! { p { a href=(path) { "Continue" } } })
}

/// As [`page_going_on`], to a URL of whatever server, with a body that has a link to it.
#[must_use]
pub fn page_going_to(title: &str, url: &str, body: &Markup) -> Response {
    let refresh = html! { meta http-equiv="refresh" content=(format!("0; url={url}")); };
    framed(StatusCode::OK, title, &refresh, body)
}

fn framed(status: StatusCode, title: &str, head: &Markup, body: &Markup) -> Response {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                (head)
                title { (title) " · Aldgate" }
                link rel="stylesheet" href=(*STYLE_ADDRESS);
            }
            body {
                header { p { "Aldgate" } }
                main { h1 { (title) } (body) }
            }
        }
    };
    let mut response = (status, markup.into_string()).into_response();
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    keep_from_misuse(response.headers_mut(), false);
    response
}

/// The style sheet of all pages.
pub(super) async fn style() -> Response {
    file(STYLE, "text/css; charset=utf-8")
}

/// The script for passkeys.
pub(super) async fn script() -> Response {
    file(SCRIPT, "text/javascript; charset=utf-8")
}

fn file(content: &'static str, kind: &'static str) -> Response {
    let mut response = content.into_response();
    for (name, value) in
        [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "public, max-age=31536000, immutable")]
    {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
