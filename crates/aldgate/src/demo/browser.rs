//! What a browser does for a person who signs in, for a demonstration that nobody sits at: it goes through the same pages,
//! forms and cookies as one, with the account's own password.

mod page;

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, COOKIE, LOCATION, ORIGIN, REFERER, SET_COOKIE};
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use url::Url;

use page::Page;

/// Pages on the way to a token.
const MOST: usize = 16;
/// Bytes of a page.
const LARGEST: usize = 1 << 20;

/// Why a sign-in came to no end.
#[derive(Debug, thiserror::Error)]
pub(super) enum BrowserFault {
    /// No connection.
    #[error("`{url}` did not answer")]
    Unreachable {
        url: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A page that is none of a sign-in, or says that something is wrong.
    #[error("the page `{title}` at `{path}` leads no further (status {status})")]
    Page { title: String, path: String, status: u16 },
    /// It leads nowhere.
    #[error("the sign-in came to no end after {MOST} pages")]
    Endless,
    /// No random numbers.
    #[error("the system's random source does not work")]
    Random,
}

/// A reply that was read.
struct Reply {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

/// A browser with its cookies, closed after one sign-in.
pub(super) struct Browser {
    client: Client<HttpConnector, Full<Bytes>>,
    cookies: BTreeMap<String, String>,
}

impl Browser {
    pub(super) fn open() -> Self {
        let client = Client::builder(TokioExecutor::new()).build(HttpConnector::new());
        Self { client, cookies: BTreeMap::new() }
    }

    /// Signs in as `name` at the page that a program asks to be opened, consents to all that it asks for, and goes back to the
    /// program. A password that is good once is changed; the one that holds from then on is returned.
    pub(super) async fn sign_in(
        mut self,
        at: &Url,
        name: &str,
        password: &str,
    ) -> Result<String, BrowserFault> {
        let mut password = password.to_owned();
        let mut reply = self.send(at, None).await?;
        let mut here = at.clone();
        for _ in 0..MOST {
            let page = Page::read(&String::from_utf8_lossy(&reply.body));
            let led = reply.headers.get(LOCATION).and_then(|value| value.to_str().ok()).map(str::to_owned);
            let Some(led) = led.filter(|_| reply.status.is_redirection()).or(page.refresh.clone()) else {
                // A password that is wrong is not tried again.
                let filled = match reply.status.is_success() {
                    true => fill(&page, name, &mut password)?,
                    false => None,
                };
                let Some((action, form)) =
                    filled.and_then(|(action, form)| Some((here.join(&action).ok()?, form)))
                else {
                    let path = here.path().to_owned();
                    return Err(BrowserFault::Page {
                        title: page.title,
                        path,
                        status: reply.status.as_u16(),
                    });
                };
                reply = self.send(&action, Some((&here, &form))).await?;
                here = action;
                continue;
            };
            let Ok(next) = here.join(&led) else { return Err(BrowserFault::Endless) };
            let back = next.origin() != at.origin();
            // The cookies are the authorization server's alone.
            if back {
                self.cookies.clear();
            }
            reply = self.send(&next, None).await?;
            here = next;
            if back {
                return Ok(password);
            }
        }
        Err(BrowserFault::Endless)
    }

    async fn send(&mut self, url: &Url, form: Option<(&Url, &str)>) -> Result<Reply, BrowserFault> {
        let fault = |source: Box<dyn std::error::Error + Send + Sync>| BrowserFault::Unreachable {
            url: url.origin().ascii_serialization(),
            source,
        };
        let mut request = Request::builder().uri(url.as_str());
        if !self.cookies.is_empty() {
            let cookies: Vec<String> =
                self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            request = request.header(COOKIE, cookies.join("; "));
        }
        if let Some((from, _)) = form {
            request = request
                .method("POST")
                .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
                .header(ORIGIN, from.origin().ascii_serialization())
                .header(REFERER, from.as_str())
                .header("sec-fetch-site", "same-origin");
        }
        let body = Bytes::from(form.map(|(_, form)| form.to_owned()).unwrap_or_default());
        let request = request.body(Full::new(body)).map_err(|source| fault(source.into()))?;
        let exchange = async {
            let response = self.client.request(request).await.map_err(|source| fault(source.into()))?;
            let (head, body) = response.into_parts();
            let body = Limited::new(body, LARGEST).collect().await.map_err(fault)?;
            Ok(Reply { status: head.status, headers: head.headers, body: body.to_bytes() })
        };
        let reply = tokio::time::timeout(Duration::from_secs(30), exchange)
            .await
            .map_err(|_| fault("no answer within 30 s".into()))??;
        for cookie in reply.headers.get_all(SET_COOKIE) {
            let pair = cookie.to_str().ok().and_then(|text| text.split(';').next()?.split_once('='));
            if let Some((name, value)) = pair {
                self.cookies.insert(name.trim().to_owned(), value.trim().to_owned());
            }
        }
        Ok(reply)
    }
}

/// What the form of a page is sent with, where it is one of those on the way.
fn fill(page: &Page, name: &str, password: &mut String) -> Result<Option<(String, String)>, BrowserFault> {
    let Some(form) = page.forms.iter().find(|form| {
        form.has("password") && form.has("name") || form.has("repeated") || form.has("decision")
    }) else {
        return Ok(None);
    };
    if form.has("repeated") {
        let another = crate::random::bytes::<16>().map_err(|_| BrowserFault::Random)?;
        *password = hex::encode(another);
    }
    let mut sent = url::form_urlencoded::Serializer::new(String::new());
    for field in &form.fields {
        let value = match field.name.as_str() {
            "name" => name,
            "password" | "new" | "repeated" => password.as_str(),
            "decision" => continue,
            _ if field.left_out => continue,
            _ => field.value.as_str(),
        };
        sent.append_pair(&field.name, value);
    }
    if form.has("decision") {
        sent.append_pair("decision", "allow");
    }
    Ok(Some((form.action.clone(), sent.finish())))
}
