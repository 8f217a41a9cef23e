//! A browser that keeps cookies, follows where pages lead, and sends forms as browsers do.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

/// The cookies of one browser, and what it is at.
#[derive(Clone)]
pub(super) struct Browser {
    /// Scheme, host and port of the gateway.
    pub(super) origin: String,
    pub(super) cookies: BTreeMap<String, String>,
}

/// A page.
#[derive(Clone, Debug)]
pub(super) struct Page {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: String,
    /// Its path, with the query.
    pub(super) at: String,
}

/// A form of a page, with the fields that it has before anybody fills it in.
#[derive(Clone, Debug)]
pub(super) struct Form {
    pub(super) action: String,
    pub(super) fields: BTreeMap<String, String>,
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    tag.split_once(&format!(" {name}=\"")).and_then(|(_, rest)| rest.split_once('"')).map(|(value, _)| value)
}

fn plain(text: &str) -> String {
    text.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

impl Page {
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("text"))
    }

    /// Where it leads by itself.
    pub(super) fn target(&self) -> Option<String> {
        if self.status == 303 {
            return Some(self.header("location").to_owned());
        }
        let (_, rest) = self.body.split_once("content=\"0; url=")?;
        rest.split_once('"').map(|(to, _)| plain(to))
    }

    /// The forms that are shown without scripts.
    pub(super) fn forms(&self) -> Vec<Form> {
        let forms =
            self.body.split("<form").skip(1).map(|rest| rest.split("</form>").next().expect("a form"));
        let shown = forms.filter(|form| !form.split('>').next().expect("a tag").contains(" hidden"));
        let read = |form: &str| {
            let inputs = form.split("<input").skip(1).map(|rest| rest.split('>').next().expect("a tag"));
            let fields = inputs.filter_map(|tag| {
                let on = if tag.contains("type=\"checkbox\"") { "on" } else { "" };
                let value = attribute(tag, "value").unwrap_or(on);
                Some((attribute(tag, "name")?.to_owned(), plain(value)))
            });
            let action = attribute(form.split('>').next().expect("a tag"), "action").expect("an action");
            Form { action: plain(action), fields: fields.collect() }
        };
        shown.map(read).collect()
    }

    /// The form with these fields as they are.
    pub(super) fn form(&self, with: &[(&str, &str)]) -> Form {
        let has = |form: &Form| {
            with.iter().all(|(name, value)| form.fields.get(*name).is_some_and(|is| is == value))
        };
        self.forms().into_iter().find(has).unwrap_or_else(|| panic!("no form with {with:?} in {}", self.body))
    }

    /// What can be read of it.
    pub(super) fn text(&self) -> String {
        let words = self.body.split('<').map(|rest| rest.split_once('>').map_or(rest, |(_, text)| text));
        plain(&words.collect::<Vec<_>>().join(" ")).split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

impl Form {
    pub(super) fn with(mut self, name: &str, value: &str) -> Self {
        self.fields.insert(name.to_owned(), value.to_owned());
        self
    }
}

impl Browser {
    /// A browser that knows nothing of the gateway at this URL.
    pub(super) fn new(url: &str) -> Self {
        let origin = url.trim_end_matches("/mcp").to_owned();
        Self { origin, cookies: BTreeMap::new() }
    }

    fn send(&mut self, request: http::request::Builder, at: &str, body: String) -> Page {
        let cookies: Vec<_> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = request.uri(format!("{}{at}", self.origin)).header("cookie", cookies.join("; "));
        let request = request.body(Full::new(Bytes::from(body))).expect("a request");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (parts, body) = runtime.block_on(async {
            let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
            let (parts, body) = client.request(request).await.expect("an answer").into_parts();
            (parts, body.collect().await.expect("a body").to_bytes())
        });
        for cookie in parts.headers.get_all("set-cookie") {
            let (name, rest) = cookie.to_str().expect("text").split_once('=').expect("a cookie");
            if rest.contains("Max-Age=0") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), rest.split(';').next().expect("a value").to_owned());
            }
        }
        let body = String::from_utf8(body.to_vec()).expect("text");
        Page { status: parts.status.as_u16(), headers: parts.headers, body, at: at.to_owned() }
    }

    /// Follows where a page leads, as long as that is on the gateway.
    fn follow(&mut self, mut page: Page) -> Page {
        for _ in 0..8 {
            match page.target() {
                Some(to) if to.starts_with('/') => page = self.send(Request::get("/"), &to, String::new()),
                _ => return page,
            }
        }
        panic!("in a ring: {}", page.at)
    }

    /// Opens a path, or a URL of the gateway.
    pub(super) fn open(&mut self, at: &str) -> Page {
        let at = at.strip_prefix(&self.origin).unwrap_or(at).to_owned();
        let page = self.send(Request::get("/"), &at, String::new());
        self.follow(page)
    }

    /// Sends a form of a page of the gateway.
    pub(super) fn submit(&mut self, form: &Form) -> Page {
        let origin = self.origin.clone();
        let page = self.submit_from(form, &[("origin", &origin), ("sec-fetch-site", "same-origin")]);
        self.follow(page)
    }

    /// Sends a form with these headers, and follows nothing.
    pub(super) fn submit_from(&mut self, form: &Form, headers: &[(&str, &str)]) -> Page {
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(&form.fields).finish();
        let mut request = Request::post("/").header("content-type", "application/x-www-form-urlencoded");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request, &form.action, body)
    }

    /// Fills in the page to sign in; a password that is good once becomes another, which is given back.
    pub(super) fn sign_in(&mut self, page: &Page, name: &str, password: &str) -> (Page, String) {
        assert!(page.at.starts_with("/oauth/sign-in"), "{page:?}");
        let form = page.forms().remove(0).with("name", name).with("password", password);
        let signed_in = self.submit(&form);
        assert_eq!(signed_in.status, 200, "{}", signed_in.body);
        if !signed_in.at.starts_with("/account/password") {
            return (signed_in, password.to_owned());
        }
        let new = format!("{password}-changed");
        let form = signed_in.forms().remove(0).with("new", &new).with("repeated", &new);
        let changed = self.submit(&form);
        assert_eq!(changed.status, 200, "{}", changed.body);
        (changed, new)
    }
}
