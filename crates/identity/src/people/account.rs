//! A person's own page: what is known here, where one is signed in, the password, and the ways out.

mod confirm;
mod password;
mod ways_out;

use std::sync::Arc;

use aldgate_store::identity::Session;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;

pub(super) use confirm::Unsure;
pub(super) use password::{send as send_password, show as show_password};
pub(super) use ways_out::{sign_out, sign_out_everywhere};

use super::asked::{Asked, see_other};
use super::page::page_with_passkeys;
use super::session::Open;
use super::{Fault, People, sign_in};

/// The path of the page.
pub(super) const PATH: &str = "/account";
/// The path of the form that changes the password.
pub(super) const PASSWORD: &str = "/account/password";
/// Ends this session.
pub(super) const SIGN_OUT: &str = "/oauth/sign-out";
/// Ends all sessions, and what programs were granted.
pub(super) const EVERYWHERE: &str = "/oauth/sign-out-everywhere";

pub(super) async fn show(State(people): State<Arc<People>>, asked: Asked) -> Response {
    people.account_page(&asked).await.unwrap_or_else(|fault| asked.failed(&fault))
}

/// A time for people, and for programs.
#[must_use]
pub fn clock(at: OffsetDateTime) -> Markup {
    let written = |form| at.format(form).unwrap_or_default();
    let day = written(format_description!("[year]-[month]-[day]"));
    let minute = written(format_description!("[hour]:[minute] UTC"));
    html! {
        time datetime=(at.format(&Rfc3339).unwrap_or_default()) { span.whole { (day) } " " span.whole { (minute) } }
    }
}

/// A form with nothing to fill in. `csrf` is the session's, `kind` the style of its button, `told` what stands on it.
#[must_use]
pub fn button(path: &str, csrf: &str, kind: &str, told: &str) -> Markup {
    html! {
        form method="post" action=(path) {
            input type="hidden" name="csrf" value=(csrf);
            button type="submit" class=(kind) { (told) }
        }
    }
}

impl People {
    async fn account_page(&self, asked: &Asked) -> Result<Response, Fault> {
        let open = match self.open(&asked.headers, &asked.key, asked.now).await? {
            None => return Ok(see_other(&format!("{}?continue=%2Faccount", sign_in::PATH))),
            Some(open) if open.must_change() => return Ok(see_other(&open.key.at(PASSWORD))),
            Some(open) => open,
        };
        let sessions = self.store.sessions_of(&open.account.id).await?;
        let sessions: Vec<Session> =
            sessions.into_iter().filter(|session| self.end_of(session) > asked.now).collect();
        let account = &open.account;
        let roles: Vec<&str> = account.roles.iter().map(String::as_str).collect();
        let body = html! {
            dl {
                dt { "Name" } dd { (account.display_name) }
                dt { "Signs in as" } dd { (account.name) }
                dt { "Tenant" } dd { (account.tenant) }
                dt { "Roles" } dd { @if roles.is_empty() { "none" } @else { (roles.join(", ")) } }
                dt { "Signed in" } dd { (clock(open.at())) }
            }
            h2 { "Where you are signed in" }
            (self.session_table(&sessions, &open))
            h2 { "Change the password" }
            (password::form(&open, super::account::PATH, html! {}))
            (self.passkeys(asked, &open).await?)
            h2 { "Sign out" }
            (button(&open.key.at(SIGN_OUT), &open.csrf, "second", "Sign out of this browser"))
            p.hint { "Ends every session above, and takes back what programs were granted in your name." }
            (button(&open.key.at(EVERYWHERE), &open.csrf, "grave", "Sign out everywhere"))
        };
        let passkeys = self.relying_party().is_some();
        Ok(page_with_passkeys(StatusCode::OK, "Your account", &body, passkeys))
    }

    fn session_table(&self, sessions: &[Session], open: &Open) -> Markup {
        html! {
            table {
                thead { tr { th scope="col" { "Since" } th scope="col" { "Last used" } th scope="col" { "Ends" } } }
                tbody {
                    @for session in sessions {
                        tr {
                            td {
                                (clock(super::keys::kept(session.signed_in_at)))
                                @if session.hash == open.session.hash { " " strong { "this browser" } }
                            }
                            td { (clock(super::keys::kept(session.seen_at))) }
                            td { (clock(self.end_of(session))) }
                        }
                    }
                }
            }
        }
    }
}
