//! What waits for a person, in one list.

use aldgate_gateway::Waiting;
use aldgate_identity::people::{alert, page};
use aldgate_identity::scopes;
use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};

use super::shown::{line, when};
use super::{Desk, PATH, Person, told};

/// Approvals in each part of the page; what is older waits until these are decided.
const PAGE: usize = 50;

impl Desk {
    pub(super) async fn listed(&self, person: &Person) -> Response {
        let found = match self.0.approvals.pending(&person.identity.principal, PAGE).await {
            Ok(found) => found,
            Err(fault) => return told(person, &fault),
        };
        // Who may not grant the scope of decisions decides nothing, whatever a policy says.
        let decides = person.identity.scopes.has(scopes::APPROVALS_DECIDE);
        let others = if decides { found.others } else { Waiting::default() };
        let body = html! {
            p.quiet { "You are signed in as " strong { (person.signed_in.user.display_name) } " (" (person.signed_in.user.name) ")." }
            @if found.unread {
                (alert("So much waits here that older requests were not looked at. Tell those who run this server."))
            }
            h2 { "For you to decide" }
            @if others.records.is_empty() { p { "Nothing waits for a decision of yours." } } @else { (table(person, &others)) }
            @if !found.own.records.is_empty() {
                h2 { "Your own calls" }
                p.hint { "Their pages take no decision of yours." }
                (table(person, &found.own))
            }
        };
        page(StatusCode::OK, "What waits for a decision", &body)
    }
}

fn table(person: &Person, waiting: &Waiting) -> Markup {
    html! {
        table {
            thead { tr { th scope="col" { "What" } th scope="col" { "Who asks" } th scope="col" { "Until" } } }
            tbody {
                @for record in &waiting.records {
                    tr {
                        td {
                            a href=(person.signed_in.key.at(&format!("{PATH}/{}", record.id))) {
                                (line(&record.binding.tool))
                            }
                        }
                        td { (line(&record.binding.caller.name)) }
                        td { (when(record.expires_at)) }
                    }
                }
            }
        }
        @if waiting.more { p.hint { "Older ones are shown when some of these were decided." } }
    }
}
