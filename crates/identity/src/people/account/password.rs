//! The change of a password, of one's own will or because it is good once.

use std::sync::Arc;

use aldgate_store::identity::PasswordChange;
use axum::Form;
use axum::extract::rejection::{FormRejection, QueryRejection};
use axum::extract::{Query, State};
use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};
use serde::Deserialize;

use super::PASSWORD;
use crate::people::asked::{Asked, Whom, alert, see_other, with_cookies};
use crate::people::destination::Destination;
use crate::people::keys::stored;
use crate::people::password::{LONGEST, Password, SHORTEST, Weak};
use crate::people::session::{Fresh, Open};
use crate::people::sign_in::go_on;
use crate::people::{Fault, People, SignInName, page, sign_in};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::people) struct Wanted {
    r#continue: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(in crate::people) struct Sent {
    csrf: String,
    r#continue: String,
    current: Password,
    new: Password,
    repeated: Password,
}

pub(in crate::people) async fn show(
    State(people): State<Arc<People>>,
    asked: Asked,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Response {
    let wanted = wanted.map(|Query(wanted)| wanted).unwrap_or_default();
    let destination = Destination::read(&wanted.r#continue);
    match people.open(&asked.headers, &asked.key, asked.now).await {
        Ok(Some(open)) => password_page(&open, StatusCode::OK, &destination, html! {}),
        Ok(None) => see_other(&destination.after(sign_in::PATH)),
        Err(fault) => asked.failed(&fault),
    }
}

pub(in crate::people) async fn send(
    State(people): State<Arc<People>>,
    asked: Asked,
    sent: Result<Form<Sent>, FormRejection>,
) -> Response {
    let Some(sent) = asked.sent(sent) else { return asked.foreign(PASSWORD) };
    people.new_password(&asked, sent).await.unwrap_or_else(|fault| asked.failed(&fault))
}

/// The form. Who has just signed in with a password that is good once is not asked for it again.
pub(super) fn form(open: &Open, destination: &str, message: Markup) -> Markup {
    html! {
        (message)
        form method="post" action=(open.key.at(PASSWORD)) {
            input type="hidden" name="csrf" value=(open.csrf);
            input type="hidden" name="continue" value=(destination);
            // Password managers keep the new password under this name.
            input type="text" name="username" value=(open.account.name) autocomplete="username" hidden readonly;
            @if !open.must_change() {
                label for="current" { "Current password" }
                input #current name="current" type="password" required autocomplete="current-password" maxlength="1024";
            }
            label for="new" { "New password" }
            p.hint id="new-hint" { "At least " (SHORTEST) " characters, " (LONGEST) " bytes at most." }
            input #new name="new" type="password" required autocomplete="new-password" minlength=(SHORTEST)
                maxlength=(LONGEST) aria-describedby="new-hint";
            label for="repeated" { "New password once more" }
            input #repeated name="repeated" type="password" required autocomplete="new-password" maxlength=(LONGEST);
            p.hint { "Ends every other session, and takes back what programs were granted in your name." }
            button type="submit" { "Change the password" }
        }
    }
}

fn password_page(open: &Open, status: StatusCode, destination: &Destination, message: Markup) -> Response {
    let body = html! {
        @if open.must_change() {
            p { "Your password was good once. Choose your own to go on." }
        }
        (form(open, destination.as_str(), message))
    };
    page(status, "Change the password", &body)
}

impl People {
    async fn new_password(&self, asked: &Asked, sent: Sent) -> Result<Response, Fault> {
        let destination = Destination::read(&sent.r#continue);
        let Some(open) = self.open(&asked.headers, &asked.key, asked.now).await? else {
            return Ok(see_other(&destination.after(sign_in::PATH)));
        };
        let whom = Whom::Account(&open.account.id);
        if !self.is_own_page(asked, &open.csrf, &sent.csrf) {
            asked.log("csrf", whom);
            return Ok(asked.foreign(PASSWORD));
        }
        let refused = |status, told: &str| {
            let message = html! { (alert(told)) (asked.named()) };
            password_page(&open, status, &destination, message)
        };
        if !sent.new.is_same(&sent.repeated) {
            let told = "The new password and its repetition are not the same.";
            return Ok(refused(StatusCode::UNPROCESSABLE_ENTITY, told));
        }
        if !open.must_change()
            && let Err(unsure) = self.confirm(asked, &open, sent.current.clone()).await?
        {
            return Ok(unsure.told(|status, told| refused(status, told)));
        }
        if let Err(weak) = self.is_good(&open, &sent).await? {
            return Ok(refused(StatusCode::UNPROCESSABLE_ENTITY, &weak.to_string()));
        }
        let anew = self.hasher.hash(sent.new).await?;
        let fresh = Fresh::new()?;
        let change = PasswordChange {
            user: &open.account.id,
            checked: &open.account.password,
            anew: &anew,
            session: &open.session.hash,
            hash: &fresh.hash,
            at: stored(asked.now),
        };
        if !self.store.change_password(&change).await? {
            asked.log("changed meanwhile", whom);
            return Ok(see_other(&destination.after(sign_in::PATH)));
        }
        tracing::info!(request = asked.id, account = open.account.id, "a password was changed");
        self.take_back(&open.account.id).await?;
        let on = go_on("The password is changed", &destination, &self.page_key(&fresh.id));
        Ok(with_cookies(on, self.cookies(&fresh, &open.account.id, asked.now)?))
    }

    /// Whether the new password is taken. One that is good once must not be kept.
    async fn is_good(&self, open: &Open, sent: &Sent) -> Result<Result<(), Weak>, Fault> {
        if !open.must_change() && sent.new.is_same(&sent.current) {
            return Ok(Err(Weak::Same));
        }
        let Ok(name) = SignInName::parse(&open.account.name) else { return Ok(Err(Weak::Name)) };
        let (new, shown) = (sent.new.clone(), open.account.display_name.clone());
        let checked = tokio::task::spawn_blocking(move || new.check(&name, &shown));
        if let Err(weak) = checked.await.map_err(|_| Fault::Stopping)? {
            return Ok(Err(weak));
        }
        if open.must_change() {
            let stored_hash = Some(open.account.password.clone());
            if self.hasher.verify(sent.new.clone(), stored_hash, true).await?.matches {
                return Ok(Err(Weak::Same));
            }
        }
        Ok(Ok(()))
    }
}
