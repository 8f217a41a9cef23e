//! One approval: its caller sees how it stands, and who may decide it sees what would be done, and decides.

use aldgate_approval::{RecordState, Verdict};
use aldgate_gateway::{Earlier, Seen};
use aldgate_identity::people::{Asked, Fault, Looks, Proof, Unproved, alert, page, see_other, wait_for};
use aldgate_identity::scopes;
use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};
use serde::Deserialize;

use super::shown::{call, earlier, is_whole, state};
use super::{Desk, PATH, Person, not_done, told, unknown};

/// What callers are told who would decide themselves.
pub(super) const OWN: &str =
    "Nothing was done: this is your own call, and no page takes a decision of yours.";

/// A decision.
#[derive(Deserialize)]
pub(super) struct Sent {
    decision: Verdict,
    #[serde(default)]
    note: String,
    #[serde(flatten)]
    proof: Proof,
}

/// What a proof is bound to.
fn act(verdict: Verdict, id: &str) -> String {
    let does = match verdict {
        Verdict::Approve => "approve",
        Verdict::Deny => "deny",
    };
    format!("{does} {id}")
}

impl Desk {
    /// The page of an approval; `message` says what became of a form.
    pub(super) async fn shown(
        &self,
        asked: &Asked,
        person: &Person,
        id: &str,
        status: StatusCode,
        message: Option<&str>,
    ) -> Response {
        let (seen, before) = match self.0.approvals.one(&person.identity.principal, id).await {
            Ok(found) => found,
            Err(fault) => return told(person, &fault),
        };
        if seen.own {
            return own(person, &seen);
        }
        if !decides(person) {
            return unknown();
        }
        let body = self.for_others(asked, person, &seen, &before, message).await;
        match body {
            Ok(body) => self.0.people.page(status, "May this be done?", &body),
            Err(fault) => asked.failed(&fault),
        }
    }

    async fn for_others(
        &self,
        asked: &Asked,
        person: &Person,
        seen: &Seen,
        before: &[Earlier],
        message: Option<&str>,
    ) -> Result<Markup, Fault> {
        let list = person.signed_in.key.at(PATH);
        Ok(html! {
            @if let Some(message) = message { (alert(message)) }
            p { a href=(list) { "What waits for a decision" } }
            (state(seen))
            (call(seen))
            (earlier(before))
            @if seen.state == RecordState::Pending {
                h2 { "Your decision" }
                p.quiet {
                    "You are signed in as " strong { (person.signed_in.user.display_name) } " (" (person.signed_in.user.name)
                    "). Each decision needs your password or passkey, within five minutes."
                }
                @if is_whole(seen) {
                    (self.form(asked, person, seen, Verdict::Approve, Looks { does: "Approve", class: None, id: "approve" }).await?)
                } @else {
                    p { "Nobody can see here all that would be done, so it can be denied alone." }
                }
                (self.form(asked, person, seen, Verdict::Deny, Looks { does: "Deny", class: Some("grave"), id: "deny" }).await?)
            }
        })
    }

    async fn form(
        &self,
        asked: &Asked,
        person: &Person,
        seen: &Seen,
        verdict: Verdict,
        looks: Looks<'_>,
    ) -> Result<Markup, Fault> {
        let id = seen.record.id.as_str();
        let (does, note) = (looks.id, format!("{}-note", looks.id));
        let proof = self.0.people.proof_fields(asked, &person.signed_in, &act(verdict, id), looks).await?;
        Ok(html! {
            form method="post" action=(person.signed_in.key.at(&format!("{PATH}/{id}"))) aria-label=(looks.does) {
                input type="hidden" name="decision" value=(does);
                label for=(note) { "Note, for who asks and for the record (may be left out)" }
                input id=(note) name="note" type="text" maxlength="500" autocomplete="off";
                (proof)
            }
        })
    }

    /// Takes a form.
    pub(super) async fn sent(&self, asked: &Asked, person: &Person, id: &str, sent: Sent) -> Response {
        let Sent { decision, note, proof } = sent;
        let seen = match self.0.approvals.one(&person.identity.principal, id).await {
            Ok((seen, _)) => seen,
            Err(fault) => return told(person, &fault),
        };
        if !seen.own && !decides(person) {
            return unknown();
        }
        let here = person.signed_in.key.at(&format!("{PATH}/{id}"));
        if !self.0.people.is_from_page(asked, &person.signed_in, proof.csrf()) {
            return asked.foreign(&here);
        }
        let principal = person.identity.principal.clone();
        if seen.own {
            let (code, why) = ("AG-DECIDE-SELF", "a page takes no decision of the caller");
            self.0.approvals.refused(principal, id, code, why).await;
            return not_done(person, StatusCode::FORBIDDEN, "Your own call", OWN, code);
        }
        if decision == Verdict::Approve && !is_whole(&seen) && seen.state == RecordState::Pending {
            let told = "Nothing was done: what cannot be shown whole cannot be approved on this page.";
            return self.shown(asked, person, id, StatusCode::CONFLICT, Some(told)).await;
        }
        let user = match self.0.people.proved(asked, &person.signed_in, &act(decision, id), &proof).await {
            Err(fault) => return asked.failed(&fault),
            Ok(Ok(user)) => user,
            Ok(Err(unproved)) => {
                let mut message = unproved.to_string();
                if unproved == Unproved::Wrong {
                    let (code, why) =
                        ("AG-DECIDE-PROOF", "who decides did not prove with the decision who it is");
                    self.0.approvals.refused(principal, id, code, why).await;
                    message = format!("{message} ({code})");
                }
                let status = match unproved {
                    Unproved::Wait(_) => StatusCode::TOO_MANY_REQUESTS,
                    _ => StatusCode::FORBIDDEN,
                };
                let shown = self.shown(asked, person, id, status, Some(&message)).await;
                return match unproved {
                    Unproved::Wait(wait) => wait_for(shown, wait),
                    _ => shown,
                };
            }
        };
        // Whoever was proved decides, as the account is then, not as it was when the page was asked for.
        let Some(identity) = self.identity_of(&user) else { return unknown() };
        match self.0.approvals.decide(&identity, id, decision, note).await {
            Ok(_) => see_other(&here),
            Err(fault) => told(person, &fault),
        }
    }
}

/// Whether somebody may grant what decisions need.
fn decides(person: &Person) -> bool {
    person.identity.scopes.has(scopes::APPROVALS_DECIDE)
}

/// Who decides what somebody asked for, in words for them.
pub(super) fn who_decides(own: &Seen) -> &'static str {
    if own.may_decide {
        "You may decide it yourself, with `aldgate approvals` and not on this page; so may others."
    } else {
        "Somebody else decides it."
    }
}

/// The page of a caller. It takes no decision, and is not loaded anew by itself: who reads slowly, or hears it read, would begin
/// again and again (WCAG 2.2.1).
fn own(person: &Person, seen: &Seen) -> Response {
    let at = |path: &str| person.signed_in.key.at(path);
    let body = html! {
        (state(seen))
        @if seen.state == RecordState::Pending {
            p { (who_decides(seen)) " You can go on in your program, which hears of the decision when it asks again." }
            p { a href=(at(&format!("{PATH}/{}", seen.record.id))) { "See how it stands now" } }
        }
        (call(seen))
        p { a href=(at(PATH)) { "All that waits" } }
    };
    let title = match seen.state {
        RecordState::Pending => "Your call waits for a person",
        _ => "Your call",
    };
    page(StatusCode::OK, title, &body)
}
