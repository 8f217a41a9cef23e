//! Signing in with a passkey.

use std::sync::Arc;

use aldgate_store::identity::{Account, PasskeyUse};
use axum::Form;
use axum::extract::State;
use axum::extract::rejection::FormRejection;
use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};
use serde::Deserialize;

use super::proof::Answered;
use super::{Ceremony, SIGN_IN, request};
use crate::people::asked::{Asked, Whom, alert};
use crate::people::cookies::Cookie;
use crate::people::destination::Destination;
use crate::people::keys::{session_hash, stored};
use crate::people::session::Fresh;
use crate::people::sign_in::PATH;
use crate::people::{Fault, People};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(in crate::people) struct Sent {
    csrf: String,
    r#continue: String,
    challenge: String,
    credential: String,
}

const REFUSED: &str = "The passkey was not taken. Try again, or sign in with name and password.";

pub(in crate::people) async fn send(
    State(people): State<Arc<People>>,
    asked: Asked,
    sent: Result<Form<Sent>, FormRejection>,
) -> Response {
    let Ok(Form(sent)) = sent else {
        asked.log("form", Whom::Nobody);
        return asked.foreign(PATH);
    };
    people.sign_in_by_passkey(&asked, &sent).await.unwrap_or_else(|fault| asked.failed(&fault))
}

impl People {
    /// The form, hidden until the script shows it.
    pub(in crate::people) fn passkey_form(
        &self,
        asked: &Asked,
        bound: &str,
        csrf: &str,
        destination: &Destination,
    ) -> Result<Markup, Fault> {
        let Some(relying_party) = self.relying_party() else { return Ok(html! {}) };
        let (challenge, field) = self.challenge(Ceremony::Get, bound.as_bytes(), asked.now)?;
        let options = request(relying_party, &challenge).to_string();
        Ok(html! {
            form method="post" action=(SIGN_IN) hidden data-passkey="get" data-options=(options) {
                input type="hidden" name="csrf" value=(csrf);
                input type="hidden" name="continue" value=(destination.as_str());
                input type="hidden" name="challenge" value=(field);
                input type="hidden" name="credential" value="";
                p role="alert" hidden {}
                button type="submit" class="second" { "Sign in with a passkey" }
            }
        })
    }

    async fn sign_in_by_passkey(&self, asked: &Asked, sent: &Sent) -> Result<Response, Fault> {
        let destination = Destination::read(&sent.r#continue);
        let refused = |step: &'static str, whom: Whom<'_>| {
            asked.log(step, whom);
            let message = html! { (alert(REFUSED)) (asked.named()) };
            self.form(asked, StatusCode::FORBIDDEN, &destination, "", message)
        };
        if !self.is_own_form(asked, &sent.csrf) {
            return refused("csrf", Whom::Nobody);
        }
        let bound = Cookie::Form.read(&asked.headers, self.settings.is_secure()).unwrap_or_default();
        let opened = self.opened(Ceremony::Get, bound.as_bytes(), &sent.challenge, asked.now);
        let origin = self.origin();
        let Some(challenge) = opened else { return refused("passkey challenge", Whom::Nobody) };
        let Some(expected) = self.expected(&origin, &challenge) else {
            return refused("passkey relying party", Whom::Nobody);
        };
        let Ok(answered) = serde_json::from_str::<Answered>(&sent.credential) else {
            return refused("passkey form", Whom::Nobody);
        };
        let Some((passkey, account)) = self.store.passkey(&answered.id).await? else {
            return refused("passkey credential id", Whom::Nobody);
        };
        let whom = Whom::Account(&account.id);
        let counter = match answered.counted(&expected, &account.id, passkey.algorithm, &passkey.public_key) {
            Ok(counter) => counter,
            Err(fault) => return refused(fault.step(), whom),
        };
        let used = PasskeyUse {
            id: &passkey.id,
            counter,
            challenge: &challenge.text,
            until: challenge.until,
            at: stored(asked.now),
        };
        if !self.store.use_passkey(&used).await? {
            return refused("passkey used twice", whom);
        }
        let Some(fresh) = self.begin_by_passkey(asked, &account, &destination).await? else {
            return refused("disabled", whom);
        };
        self.welcome(asked, &account, &fresh, &destination)
    }

    async fn begin_by_passkey(
        &self,
        asked: &Asked,
        account: &Account,
        destination: &Destination,
    ) -> Result<Option<Fresh>, Fault> {
        if account.disabled || account.one_time_until.is_some() {
            return Ok(None);
        }
        let fresh = Fresh::new()?;
        let replaced = Cookie::Session.read(&asked.headers, self.settings.is_secure()).map(session_hash);
        let (replaced, request) = (replaced.as_deref(), destination.request());
        let start =
            self.start(&fresh, &account.id, &account.password, replaced, request.as_deref(), asked.now);
        Ok(self.store.begin_session(&start).await?.then_some(fresh))
    }
}
