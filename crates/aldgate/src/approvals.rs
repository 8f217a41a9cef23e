//! Pages on which people see what waits for a person: callers how their own call stands, and others what they may decide.
//!
//! **Invariant:** a page decides nothing but through [`Approvals::decide`], and asks it only with a proof, sent together with
//! the decision, of who decides. A session alone decides nothing.
//!
//! **Invariant:** what somebody may not see, and what there is not, are one page.

mod approval;
mod listing;
mod shown;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use aldgate_approval::ApprovalId;
use aldgate_gateway::{Approvals, DecisionFault};
use aldgate_identity::Identity;
use aldgate_identity::authorization::AuthorizationServer;
use aldgate_identity::people::{Asked, Fault, People, SignedIn, User, Visitor, alert, page};
use axum::Router;
use axum::extract::{FromRef, Path, State};
use axum::response::Response;
use axum::routing::get;
use http::StatusCode;
use maud::html;

/// The path of the list; each approval is below it.
const PATH: &str = "/approvals";

/// What the pages are made from.
#[derive(Clone)]
struct Desk(Arc<Parts>);

struct Parts {
    people: Arc<People>,
    server: Arc<AuthorizationServer>,
    /// The tenants whose people are known here, as for their tokens.
    tenants: BTreeSet<String>,
    approvals: Approvals,
}

impl FromRef<Desk> for Arc<People> {
    fn from_ref(desk: &Desk) -> Self {
        desk.0.people.clone()
    }
}

/// Somebody who signed in, in a tenant that is known here.
struct Person {
    signed_in: SignedIn,
    identity: Identity,
}

/// The pages, to be mounted where the authorization server is.
pub(crate) fn router(
    people: Arc<People>,
    server: Arc<AuthorizationServer>,
    tenants: BTreeSet<String>,
    approvals: Approvals,
) -> Router {
    let desk = Desk(Arc::new(Parts { people: people.clone(), server, tenants, approvals }));
    let pages = Router::new()
        .route(PATH, get(list))
        .route("/approvals/{id}", get(show).post(decide))
        .with_state(desk);
    people.guarded(pages)
}

async fn list(State(desk): State<Desk>, asked: Asked) -> Response {
    match desk.person(&asked, PATH).await {
        Ok(person) => desk.listed(&person).await,
        Err(answer) => answer.told(&asked),
    }
}

async fn show(State(desk): State<Desk>, asked: Asked, Path(id): Path<String>) -> Response {
    match desk.person_for(&asked, &id).await {
        Ok((person, id)) => desk.shown(&asked, &person, id.as_str(), StatusCode::OK, None).await,
        Err(answer) => answer.told(&asked),
    }
}

async fn decide(
    State(desk): State<Desk>,
    asked: Asked,
    Path(id): Path<String>,
    sent: Result<axum::Form<approval::Sent>, axum::extract::rejection::FormRejection>,
) -> Response {
    match (desk.person_for(&asked, &id).await, sent) {
        (Ok((person, id)), Ok(axum::Form(sent))) => desk.sent(&asked, &person, id.as_str(), sent).await,
        (Ok((person, id)), Err(_)) => asked.unread(&person.signed_in, &format!("{PATH}/{id}")),
        (Err(answer), _) => answer.told(&asked),
    }
}

/// Why no page is made for somebody.
enum Elsewhere {
    /// Nobody is signed in: the way to where people do.
    Led(Box<Response>),
    /// There is no such approval, for this person.
    Unknown,
    /// It cannot be known who is signed in.
    Failed(Fault),
}

impl From<Fault> for Elsewhere {
    fn from(fault: Fault) -> Self {
        Self::Failed(fault)
    }
}

impl Elsewhere {
    fn told(self, asked: &Asked) -> Response {
        match self {
            Self::Led(response) => *response,
            Self::Unknown => unknown(),
            Self::Failed(fault) => asked.failed(&fault),
        }
    }
}

impl Desk {
    async fn person(&self, asked: &Asked, path: &str) -> Result<Person, Elsewhere> {
        let signed_in = match self.0.people.visitor(asked, path).await? {
            Visitor::Person(signed_in) => signed_in,
            Visitor::Nobody(way) => return Err(Elsewhere::Led(Box::new(way))),
        };
        let identity = self.identity_of(&signed_in.user).ok_or(Elsewhere::Unknown)?;
        Ok(Person { signed_in, identity })
    }

    /// Who an account is here. Nobody, where a token of it would be refused: its tenant may not be asserted here any more.
    fn identity_of(&self, user: &User) -> Option<Identity> {
        self.0.tenants.contains(&user.tenant).then(|| self.0.server.identity_of(user))
    }

    /// The person who asks for the page of an approval, and its id. Who is not signed in learns nothing about the id.
    async fn person_for(&self, asked: &Asked, id: &str) -> Result<(Person, ApprovalId), Elsewhere> {
        let person = self.person(asked, &format!("{PATH}/{id}")).await?;
        let id = ApprovalId::parse(id).ok_or(Elsewhere::Unknown)?;
        Ok((person, id))
    }
}

/// The page of an approval that there is not, or not for whoever asks.
fn unknown() -> Response {
    let body = html! {
        p { "There is no approval here that you may see. It may belong to somebody else, or the address may be wrong." }
    };
    page(StatusCode::NOT_FOUND, "No such approval", &body)
}

/// The page of what the gateway did not do.
fn told(person: &Person, fault: &DecisionFault) -> Response {
    let status = StatusCode::from_u16(fault.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let (title, why) = match fault {
        DecisionFault::Unknown { .. } | DecisionFault::Scope { .. } => return unknown(),
        DecisionFault::Decided(why) => ("Not pending any more", format!("Nothing was done: {why}.")),
        DecisionFault::Forbidden { code: "AG-DECIDE-SELF", .. } => {
            ("Your own call", approval::OWN.to_owned())
        }
        DecisionFault::Forbidden { .. } => (
            "Not allowed",
            "Nothing was done: you may not decide this, as the policies stand now.".to_owned(),
        ),
        DecisionFault::Note | DecisionFault::Blind => ("Not taken", format!("Nothing was done: {fault}.")),
        DecisionFault::Failed => (
            "This did not work",
            "The gateway failed on the way. The page of the approval says how it stands now.".to_owned(),
        ),
        _ => (
            "This did not work",
            "Nothing was decided. It is not your fault; try again in some minutes.".to_owned(),
        ),
    };
    not_done(person, status, title, &why, fault.code())
}

/// A page of what was not done, with the code that the evidence and the documents have for it.
fn not_done(person: &Person, status: StatusCode, title: &str, why: &str, code: &str) -> Response {
    let list = person.signed_in.key.at(PATH);
    let body = html! {
        (alert(why))
        p { a href=(list) { "What waits for a decision" } }
        p.quiet { "Code " code { (code) } }
    };
    page(status, title, &body)
}
