//! The pages on which people connect accounts of theirs at upstreams, and disconnect them.

use std::collections::BTreeSet;
use std::sync::Arc;

use aldgate_identity::client::upstream::{ConnectionFault, Connections, Who};
use aldgate_identity::people::{
    Asked, Fault, PageKey, People, SignedIn, Visitor, alert, button, clock, page, page_going_to, see_other,
};
use axum::Router;
use axum::extract::rejection::FormRejection;
use axum::extract::{Form, FromRef, Path, RawQuery, State};
use axum::response::Response;
use axum::routing::{get, post};
use http::StatusCode;
use maud::{Markup, html};
use serde::Deserialize;

use crate::config::Credentials;

/// The list of what a person has connected.
const PATH: &str = "/connections";

#[derive(Clone)]
struct Pages {
    people: Arc<People>,
    credentials: Arc<Credentials>,
    /// The tenants whose people are known here, as for their tokens.
    tenants: Arc<BTreeSet<String>>,
}

impl FromRef<Pages> for Arc<People> {
    fn from_ref(pages: &Pages) -> Self {
        pages.people.clone()
    }
}

/// What the forms hold.
#[derive(Deserialize)]
struct Sent {
    #[serde(default)]
    csrf: String,
}

/// A form, or why it cannot be read.
type Read = Result<Form<Sent>, FormRejection>;

/// A request of somebody who signed in, about an upstream whose users have accounts.
struct At {
    asked: Asked,
    signed_in: SignedIn,
    upstream: String,
    connections: Arc<Connections>,
}

pub(super) fn router(
    people: Arc<People>,
    credentials: Arc<Credentials>,
    tenants: BTreeSet<String>,
) -> Router {
    let state = Pages { people: people.clone(), credentials, tenants: Arc::new(tenants) };
    let pages = Router::new()
        .route(PATH, get(list))
        .route("/connections/{upstream}", get(show).post(begin))
        .route("/connections/{upstream}/callback", get(callback))
        .route("/connections/{upstream}/disconnect", post(disconnect))
        .with_state(state);
    people.guarded(pages)
}

fn own(upstream: &str) -> String {
    format!("{PATH}/{upstream}")
}

/// Where a person goes on from here.
fn back(key: &PageKey) -> Markup {
    html! { p { a href=(key.at(PATH)) { "Your connected accounts" } } }
}

/// The page of an upstream that there is not, or that is not used with accounts, for this person.
fn unknown(asked: &Asked, key: &PageKey) -> Response {
    let body = html! {
        (alert("There is no server of this name that is used with accounts of people."))
        (back(key)) (asked.named())
    };
    page(StatusCode::NOT_FOUND, "Nothing to connect", &body)
}

impl Pages {
    /// Who asks for the page at `path`; the response, where nobody does.
    async fn visitor(&self, asked: &Asked, path: &str) -> Result<SignedIn, Box<Response>> {
        match self.people.visitor(asked, path).await {
            Ok(Visitor::Person(signed_in)) => Ok(signed_in),
            Ok(Visitor::Nobody(way)) => Err(Box::new(way)),
            Err(fault) => Err(Box::new(asked.failed(&fault))),
        }
    }

    /// The accounts at an upstream that a person can call.
    fn connections(&self, signed_in: &SignedIn, upstream: &str) -> Option<Arc<Connections>> {
        let tenant = &signed_in.user.tenant;
        // A token of theirs would be refused: their tenant may not be asserted here any more.
        let known = self.tenants.contains(tenant);
        self.credentials.connections(tenant, upstream).filter(|_| known)
    }

    fn at(&self, asked: Asked, signed_in: SignedIn, upstream: String) -> Result<At, Box<Response>> {
        match self.connections(&signed_in, &upstream) {
            Some(connections) => Ok(At { asked, signed_in, upstream, connections }),
            None => Err(Box::new(unknown(&asked, &signed_in.key))),
        }
    }

    /// Who sent a form, which has to be from a page of this session.
    async fn sent(&self, asked: &Asked, upstream: &str, form: Read) -> Result<SignedIn, Box<Response>> {
        let signed_in = self.visitor(asked, &own(upstream)).await?;
        match form {
            Ok(Form(Sent { csrf })) if self.people.is_from_page(asked, &signed_in, &csrf) => Ok(signed_in),
            _ => Err(Box::new(asked.foreign(&signed_in.key.at(&own(upstream))))),
        }
    }
}

impl At {
    /// What the answer of the upstream's authorization server is bound to.
    fn who(&self) -> Who<'_> {
        Who { user: &self.signed_in.user.id, session: &self.signed_in.csrf }
    }

    fn key(&self) -> &PageKey {
        &self.signed_in.key
    }

    fn failed(&self, step: &'static str, fault: &ConnectionFault) -> Response {
        failed(&self.asked, &self.signed_in, &self.upstream, (step, fault))
    }
}

/// The page of what failed; the log has all causes under the request's id.
fn failed(
    asked: &Asked,
    signed_in: &SignedIn,
    upstream: &str,
    (step, fault): (&'static str, &ConnectionFault),
) -> Response {
    let user = &signed_in.user.id;
    let error = fault as &dyn std::error::Error;
    tracing::warn!(request = asked.id(), step, upstream, user, error, "a connection was refused");
    let body = html! {
        (alert(&fault.to_string()))
        p { a href=(signed_in.key.at(&own(upstream))) { "Open the page once more" } }
        (back(&signed_in.key)) (asked.named())
    };
    let status = match fault {
        ConnectionFault::State | ConnectionFault::Late | ConnectionFault::Callback(_) => {
            StatusCode::BAD_REQUEST
        }
        ConnectionFault::OtherUser => StatusCode::FORBIDDEN,
        ConnectionFault::Connected => StatusCode::CONFLICT,
        ConnectionFault::Store(_)
        | ConnectionFault::Sealed(_)
        | ConnectionFault::Random(_)
        | ConnectionFault::Stopped => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::BAD_GATEWAY,
    };
    page(status, "This did not work", &body)
}

async fn list(State(pages): State<Pages>, asked: Asked) -> Response {
    let signed_in = match pages.visitor(&asked, PATH).await {
        Ok(signed_in) => signed_in,
        Err(answer) => return *answer,
    };
    let found = match pages.credentials.kept() {
        Some(kept) => kept.of(&signed_in.user.id).await,
        None => Ok(Vec::new()),
    };
    let found = match found {
        Ok(found) => found,
        Err(ConnectionFault::Store(fault)) => return asked.failed(&Fault::from(fault)),
        Err(fault) => {
            tracing::error!(
                request = asked.id(),
                error = &fault as &dyn std::error::Error,
                "no list of connections"
            );
            return page(StatusCode::SERVICE_UNAVAILABLE, "This did not work", &asked.named());
        }
    };
    let body = html! {
        p { "Servers that are called with an account of yours, for programs that you let act in your name." }
        @if found.is_empty() {
            p { "You have connected no account." }
        } @else {
            table {
                thead { tr { th scope="col" { "Server" } th scope="col" { "Since" } th scope="col" { "" } } }
                tbody {
                    @for (upstream, at) in &found {
                        tr {
                            td { (upstream) }
                            td { (clock(*at)) }
                            td { (button(
                                &signed_in.key.at(&format!("{}/disconnect", own(upstream))),
                                &signed_in.csrf, "grave", "Disconnect",
                            )) }
                        }
                    }
                }
            }
        }
        p { a href=(signed_in.key.at("/account")) { "Your account" } }
    };
    page(StatusCode::OK, "Your connected accounts", &body)
}

async fn show(State(pages): State<Pages>, Path(upstream): Path<String>, asked: Asked) -> Response {
    let at = match pages.visitor(&asked, &own(&upstream)).await {
        Ok(signed_in) => pages.at(asked, signed_in, upstream),
        Err(answer) => Err(answer),
    };
    let at = match at {
        Ok(at) => at,
        Err(answer) => return *answer,
    };
    let connected = match at.connections.is_connected(&at.signed_in.user.id).await {
        Ok(connected) => connected,
        // What cannot be opened any more is connected anew.
        Err(ConnectionFault::Sealed(_)) => false,
        Err(fault) => return at.failed("look", &fault),
    };
    let program = at.connections.program();
    let path = at.key().at(&own(&at.upstream));
    let csrf = &at.signed_in.csrf;
    let body = html! {
        p {
            "Programs that you let act in your name call the server " strong { (at.upstream) }
            " with an account of yours there. You are led to " strong { (program.issuer) }
            ", where you sign in and agree. What the gateway gets is kept sealed; no program sees it."
        }
        dl {
            dt { "Signed in here as" } dd { (at.signed_in.user.display_name) " (" (at.signed_in.user.name) ")" }
            dt { "Asked for" }
            dd { @match &program.scopes { Some(scopes) => (scopes), None => "what the server gives by itself" } }
            dt { "Connected" } dd { @if connected { "yes" } @else { "no" } }
        }
        @if connected {
            p { "To connect another account, disconnect this one first." }
            (button(&at.key().at(&format!("{}/disconnect", own(&at.upstream))), csrf, "grave", "Disconnect"))
        } @else {
            (button(&path, csrf, "first", "Connect"))
        }
        (back(at.key()))
    };
    page(StatusCode::OK, "Connect an account", &body)
}

async fn begin(
    State(pages): State<Pages>,
    Path(upstream): Path<String>,
    asked: Asked,
    form: Read,
) -> Response {
    let at = match pages.sent(&asked, &upstream, form).await {
        Ok(signed_in) => pages.at(asked, signed_in, upstream),
        Err(answer) => Err(answer),
    };
    let at = match at {
        Ok(at) => at,
        Err(answer) => return *answer,
    };
    let from = at.key().at(&own(&at.upstream));
    match at.connections.begin(at.who(), &from, at.asked.now()).await {
        Ok(url) => {
            let issuer = &at.connections.program().issuer;
            let body = html! { p { a href=(url.as_str()) { "Go on to " (issuer) } } };
            page_going_to("On to the other server", url.as_str(), &body)
        }
        Err(fault) => at.failed("begin", &fault),
    }
}

/// **Invariant:** nothing that is answered here holds the key of a session. The address that another server leads back to has
/// none, the state has: who brings a state and a cookie, which another program of this computer can see, is told no key for it.
async fn callback(
    State(pages): State<Pages>,
    Path(upstream): Path<String>,
    RawQuery(query): RawQuery,
    asked: Asked,
) -> Response {
    let query = query.unwrap_or_default();
    // Its own name alone opens a state; that it is known to others of another tenant is not told.
    let connections = pages.credentials.of_any_tenant(&upstream);
    let read = connections.as_ref().ok_or(ConnectionFault::State);
    let answer = match read.and_then(|connections| connections.answer(&query, asked.now())) {
        Ok(answer) => answer,
        Err(fault) => {
            let (request, error) = (asked.id(), &fault as &dyn std::error::Error);
            tracing::warn!(request, step = "answer", upstream, error, "an account was not connected");
            let body = html! { (alert(&fault.to_string())) (asked.named()) };
            return page(StatusCode::BAD_REQUEST, "Not connected", &body);
        }
    };
    let asked = asked.at(answer.back());
    let signed_in = match pages.people.visitor(&asked, &own(&upstream)).await {
        Ok(Visitor::Person(signed_in)) => SignedIn { key: PageKey::default(), ..signed_in },
        // Somebody who is signed in no more begins again: what began ended with that session.
        Ok(Visitor::Nobody(_)) => return see_other(&own(&upstream)),
        Err(fault) => return asked.failed(&fault),
    };
    let at = match pages.at(asked, signed_in, upstream) {
        Ok(at) => at,
        Err(answer) => return *answer,
    };
    match at.connections.finish(answer, at.who(), at.asked.now()).await {
        Ok(()) => {
            let (upstream, user) = (&at.upstream, &at.signed_in.user.id);
            tracing::info!(request = at.asked.id(), upstream, user, "an account was connected");
            let body = html! {
                p { "Programs that you let act in your name can call " strong { (at.upstream) } " with it now. Go back to yours." }
                (back(at.key()))
            };
            page(StatusCode::OK, "Connected", &body)
        }
        Err(fault) => at.failed("finish", &fault),
    }
}

async fn disconnect(
    State(pages): State<Pages>,
    Path(upstream): Path<String>,
    asked: Asked,
    form: Read,
) -> Response {
    let signed_in = match pages.sent(&asked, &upstream, form).await {
        Ok(signed_in) => signed_in,
        Err(answer) => return *answer,
    };
    let told = match pages.forgotten(&signed_in, &upstream, asked.now()).await {
        Ok(Some(told)) => told,
        Ok(None) => return unknown(&asked, &signed_in.key),
        Err(fault) => return failed(&asked, &signed_in, &upstream, ("disconnect", &fault)),
    };
    let user = &signed_in.user.id;
    tracing::info!(request = asked.id(), upstream, user, "an account was disconnected");
    let body = html! {
        p {
            "No call that begins from now on is made to " strong { (upstream) } " with your account; those under way end by themselves. "
            @if !told { "That server could not be told: look there too, and take back what this gateway may." }
        }
        (back(&signed_in.key))
    };
    page(StatusCode::OK, "Disconnected", &body)
}

impl Pages {
    /// Ends what a person has connected, at the server where that is known, and here in any case: it may have been connected with
    /// another server before. Says whether the server was told; nothing where there is no such upstream for the person.
    async fn forgotten(
        &self,
        signed_in: &SignedIn,
        upstream: &str,
        now: time::OffsetDateTime,
    ) -> Result<Option<bool>, ConnectionFault> {
        let user = &signed_in.user.id;
        let Some(kept) = self.credentials.kept() else { return Ok(None) };
        if let Some(connections) = self.connections(signed_in, upstream) {
            return connections.forget(user, now).await.map(Some);
        }
        if !kept.of(user).await?.iter().any(|(name, _)| name == upstream) {
            return Ok(None);
        }
        kept.end(upstream, user).await?;
        Ok(Some(false))
    }
}
