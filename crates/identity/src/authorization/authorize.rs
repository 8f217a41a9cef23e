//! The authorization endpoint: `GET /oauth/authorize`, and its second half after the person signed in.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use maud::{Markup, html};

use super::AuthorizationServer;
use super::client::{Client, Known};
use super::params::Params;
use super::redirect::{self, Place};
use super::refusal::{Code, Refusal, RequestId, refuse};
use super::request::{Answer, Asked};
use crate::people::{PageKey, SignedIn, digest, page, page_going_to};

const CONTINUE: &str = "/oauth/authorize/continue";
/// The longest path that the sign-in page leads back to.
const LONGEST_WAY_BACK: usize = 2048;

/// How an answer goes to the client's redirect URI.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// By the status, at once.
    Redirect,
    /// By a page that goes on by itself. After a form was sent, browsers hold redirects to the page's `form-action`, which
    /// names this server alone.
    Page,
}

/// A refusal, and where it is told: to the client, or to the person, where nobody knows who the client is.
pub(super) struct Refused {
    pub(super) refusal: Refusal,
    pub(super) answer: Option<Answer>,
    /// The person is asked before the browser goes to the client.
    pub(super) ask_first: bool,
}

impl Refused {
    /// Before the person has answered anything. Anybody can be a client with a document or a registration of its own, and
    /// could else have this server lead people wherever it likes, by a request that is wrong on purpose (RFC 9700 §4.11.2).
    /// A loopback address leads nowhere: who listens there is a program on the person's own computer, which waits for the
    /// answer, and tells the person.
    fn before_consent(refusal: Refusal, answer: Answer, client: &Client) -> Self {
        let near = matches!(redirect::place(&answer.redirect_uri), Ok(Place::Computer));
        Self { refusal, answer: Some(answer), ask_first: client.known != Known::Beforehand && !near }
    }
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        Self { refusal, answer: None, ask_first: false }
    }
}

/// A client sends a person here.
pub(super) async fn begin(
    State(server): State<Arc<AuthorizationServer>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let id = RequestId::fresh();
    let begun = server.begun(query.as_deref().unwrap_or_default(), &headers).await;
    match begun {
        Ok(response) => response,
        // Any page can lead a browser here: it must not end somebody's session. What the client sees of it is nothing by itself.
        Err(refused) => server.refused(&refused, Way::Redirect, &id),
    }
}

/// The person comes back from signing in.
pub(super) async fn go_on(
    State(server): State<Arc<AuthorizationServer>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let id = RequestId::fresh();
    let gone_on = server.gone_on(query.as_deref().unwrap_or_default(), &headers).await;
    match gone_on {
        Ok(response) => response,
        Err(refused) => server.parted(&headers, refused, Way::Page, &id).await,
    }
}

impl AuthorizationServer {
    async fn begun(&self, query: &str, headers: &HeaderMap) -> Result<Response, Refused> {
        let now = self.now();
        let params = Params::read(query)?;
        let client_id = params.required("client_id")?;
        let unknown = || refuse(Code::InvalidClient, "client_id", client_id, "a client that is known here");
        let client = self.client(client_id, now).await?.ok_or_else(unknown)?;
        let sent = params.get("redirect_uri");
        let redirect_uri = client.record.redirect(sent).ok_or_else(|| {
            let registered = client.record.redirect_uris.join(", ");
            let expected = format!("one that the client registered: {registered}");
            refuse(Code::InvalidRequest, "redirect_uri", sent.unwrap_or("nothing"), expected)
        })?;
        // From here on the client is told what is wrong.
        let state = params.get("state").filter(|state| state.len() <= 2048);
        let answer = Answer { redirect_uri: redirect_uri.to_owned(), state: state.map(str::to_owned) };
        let told = |refusal| Refused::before_consent(refusal, answer.clone(), &client);
        let asked = Asked::read(&params, &client, redirect_uri, &self.settings, now).map_err(told)?;
        let sealed = self.sealed(&asked).map_err(told)?;
        // Who comes from a client has no page of this server yet.
        let none = PageKey::default();
        self.proceed(&asked, &client, (headers, &none), &sealed).await.map_err(told)
    }

    async fn gone_on(&self, query: &str, headers: &HeaderMap) -> Result<Response, Refused> {
        let params = Params::read(query)?;
        let sealed = params.required("request")?;
        let asked = Asked::open(&self.seal, sealed, self.now())?;
        let answered = self.store.request_was_answered(&asked.id).await;
        if answered.map_err(|fault| Refusal::ours("answer", &fault))? {
            return Err(super::consent::answered_before().into());
        }
        let client = self.client_of(&asked).await?;
        let told = |refusal| Refused::before_consent(refusal, asked.answer(), &client);
        let key = PageKey::of_query(Some(query));
        self.proceed(&asked, &client, (headers, &key), sealed).await.map_err(told)
    }

    /// What the person signs in for who is on the way to answer this sealed request; nothing, where it cannot be answered.
    pub async fn described(&self, sealed: &str) -> Option<Markup> {
        let asked = Asked::open(&self.seal, sealed, self.now()).ok()?;
        let client = self.client_of(&asked).await.ok()?;
        Some(super::consent::reason(&client, &asked))
    }

    /// The client of a request that was validated before, unless it changed meanwhile.
    pub(super) async fn client_of(&self, asked: &Asked) -> Result<Client, Refusal> {
        let gone = || {
            let expected = "a client that is still known here, with this redirect URI";
            refuse(Code::InvalidClient, "client_id", &asked.client, expected)
        };
        let client = self.client(&asked.client, self.now()).await?.ok_or_else(gone)?;
        match client.record.redirect(Some(&asked.redirect_uri)) {
            Some(_) => Ok(client),
            None => Err(gone()),
        }
    }

    /// Lets the person sign in, or consent.
    async fn proceed(
        &self,
        asked: &Asked,
        client: &Client,
        (headers, key): (&HeaderMap, &PageKey),
        sealed: &str,
    ) -> Result<Response, Refusal> {
        let digest = digest(sealed);
        let found = self.signed_in(headers, key).await?;
        // The page sends those on who are signed in, unless it is told to ask again.
        let again = found.is_some().then_some("1");
        let Some(signed_in) = found.filter(|one| asked.is_fresh_enough(one, &digest, self.now())) else {
            if asked.silent {
                let expected = "a person who is signed in since the time that was asked for";
                return Err(refuse(Code::LoginRequired, "prompt", "none", expected));
            }
            let back = way_back(sealed);
            return see_other(&redirect::with(
                "/oauth/sign-in",
                &[("continue", Some(&back)), ("again", again)],
            ));
        };
        let scopes = self.grantable(asked, client, &signed_in)?;
        if asked.silent {
            let expected = "consent or login: each grant is consented to";
            return Err(refuse(Code::ConsentRequired, "prompt", "none", expected));
        }
        super::consent::ask(self, asked, &digest, client, &signed_in, &scopes)
    }

    /// Who is signed in, unless the account is disabled.
    pub(super) async fn signed_in(
        &self,
        headers: &HeaderMap,
        key: &PageKey,
    ) -> Result<Option<SignedIn>, Refusal> {
        let signed_in = self.people.signed_in(headers, key, self.now()).await;
        let signed_in = signed_in.map_err(|fault| Refusal::ours("sign-in", &fault))?;
        Ok(signed_in.filter(|signed_in| !signed_in.user.disabled))
    }

    /// What of that which was asked for this person may grant to this client.
    pub(super) fn grantable(
        &self,
        asked: &Asked,
        client: &Client,
        signed_in: &SignedIn,
    ) -> Result<crate::Scopes, Refusal> {
        let allowed = self.settings.allowed(&signed_in.user.roles);
        let most = client.record.scopes().unwrap_or(Some(crate::Scopes::default()));
        let wanted = asked.scopes();
        let mut scopes = wanted.within(&allowed);
        if let Some(most) = most {
            scopes = scopes.within(&most);
        }
        if scopes.is_empty() {
            let expected = format!("scopes that the roles of the person allow: {}", super::listed(&allowed));
            return Err(refuse(Code::AccessDenied, "scope", super::listed(&wanted), expected));
        }
        Ok(scopes)
    }

    /// The request, sealed for the way by the sign-in. One that would be too long is refused at once, whether or not somebody
    /// has to sign in: a client learns of it in its first try.
    fn sealed(&self, asked: &Asked) -> Result<String, Refusal> {
        let sealed = asked.seal(&self.seal).ok_or_else(super::no_seal)?;
        if way_back(&sealed).len() > LONGEST_WAY_BACK {
            let expected =
                "fewer bytes for client_id, redirect_uri, scope and state together: 800 have always room";
            return Err(refuse(Code::InvalidRequest, "size", "more", expected));
        }
        Ok(sealed)
    }

    /// Tells of a refusal; one that leads to the client ends the session first.
    pub(super) async fn parted(
        &self,
        headers: &HeaderMap,
        refused: Refused,
        way: Way,
        id: &RequestId,
    ) -> Response {
        let response = self.refused(&refused, way, id);
        if refused.answer.is_none() {
            return response;
        }
        match self.part(headers, response).await {
            Ok(response) => response,
            Err(refusal) => self.refused(&refusal.into(), way, id),
        }
    }

    /// Ends the session before the browser is led to a client that would get to see its cookie.
    pub(super) async fn part(
        &self,
        headers: &HeaderMap,
        mut response: Response,
    ) -> Result<Response, Refusal> {
        let cookies = self.people.part(headers).await;
        for cookie in cookies.map_err(|fault| Refusal::ours("sign-out", &fault))? {
            response.headers_mut().append(header::SET_COOKIE, cookie);
        }
        Ok(response)
    }

    /// Tells of a refusal: the client where it is known, else the person.
    fn refused(&self, refused: &Refused, way: Way, id: &RequestId) -> Response {
        let Refused { refusal, answer, ask_first } = refused;
        refusal.log(id);
        if let Some(answer) = answer {
            let description = refusal.description(id);
            let parameters =
                [("error", Some(refusal.code.as_str())), ("error_description", Some(&description))];
            if !ask_first {
                return self.answered(answer, &parameters, way);
            }
            let back = self.address(answer, &parameters);
            return told_here(refusal, id, Some((&answer.redirect_uri, &back)));
        }
        // Nobody is sent anywhere by somebody who is not known.
        told_here(refusal, id, None)
    }

    /// Where an answer goes, with the issuer (RFC 9207) and the client's state.
    fn address(&self, answer: &Answer, parameters: &[(&str, Option<&str>)]) -> String {
        let own = [("state", answer.state.as_deref()), ("iss", Some(self.settings.issuer.as_str()))];
        let all: Vec<_> = parameters.iter().copied().chain(own).collect();
        redirect::with(&answer.redirect_uri, &all)
    }

    /// Sends an answer to the client, with the issuer (RFC 9207) and its state.
    pub(super) fn answered(
        &self,
        answer: &Answer,
        parameters: &[(&str, Option<&str>)],
        way: Way,
    ) -> Response {
        let to = self.address(answer, parameters);
        match way {
            Way::Redirect => see_other(&to).unwrap_or_else(|refusal| refusal.response(&RequestId::fresh())),
            Way::Page => onward(&to),
        }
    }
}

/// A page that says what is wrong; with the client's redirect URI and the address of its answer, the person may go there.
fn told_here(refusal: &Refusal, id: &RequestId, to: Option<(&str, &str)>) -> Response {
    let status = match refusal.code {
        Code::InvalidClient => StatusCode::BAD_REQUEST,
        code => code.status(),
    };
    let body = html! {
        p { "The program that sent you here asked for something that this server does not do. You can close this page." }
        dl {
            dt { "What failed" } dd { (refusal.step) }
            dt { "What was sent" } dd { code { (refusal.sent) } }
            dt { "What was expected" } dd { (refusal.expected) }
            dt { "Request" } dd { code { (id) } }
        }
        @if let Some((redirect_uri, to)) = to {
            p { "Nobody here has checked that program. It wants you to come back to:" }
            p { strong { (whose(redirect_uri)) } " " code { (redirect_uri) } }
            p { "Go there only if you know it: " a href=(to) { "tell the program what failed" } }
        }
    };
    let mut response = page(status, "This request cannot be answered", &body);
    response.headers_mut().insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// Whose a redirect URI is, in plain view.
fn whose(redirect_uri: &str) -> String {
    match redirect::place(redirect_uri) {
        Ok(Place::Site(host)) => host,
        Ok(Place::Computer) => "this computer".to_owned(),
        Ok(Place::Scheme(scheme)) => format!("{scheme}:"),
        Err(_) => "an address that cannot be shown".to_owned(),
    }
}

/// Where the person comes back to after the sign-in.
fn way_back(sealed: &str) -> String {
    format!("{CONTINUE}?request={sealed}")
}

/// A page that goes on to the client by itself, and says where to.
fn onward(to: &str) -> Response {
    let body = html! {
        p { "You are being sent back to the program that you came from." }
        p { a href=(to) { "Go on, if nothing happens" } }
        p { "You can close this page when the program says that it is ready." }
    };
    let mut response = page_going_to("Back to your program", to, &body);
    response.headers_mut().insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

fn see_other(to: &str) -> Result<Response, Refusal> {
    let value = HeaderValue::from_str(to)
        .map_err(|_| refuse(Code::ServerError, "redirect", "no header value", "printable characters"))?;
    let mut response = StatusCode::SEE_OTHER.into_response();
    for (name, value) in [
        (header::LOCATION, value),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ] {
        response.headers_mut().insert(name, value);
    }
    Ok(response)
}
