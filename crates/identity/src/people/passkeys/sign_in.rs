//! Signing in with a passkey.

use std::sync::Arc;

use aldgate_store::identity::Account;
use axum::Form;
use axum::extract::State;
use axum::extract::rejection::FormRejection;
use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};
use serde::Deserialize;

use super::answered::Unanswered;
use super::{Ceremony, SIGN_IN, request};
use crate::people::asked::{Asked, Whom, alert};
use crate::people::cookies::Cookie;
use crate::people::destination::Destination;
use crate::people::keys::session_hash;
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
    let Some(sent) = asked.sent(sent) else { return asked.foreign(PATH) };
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
            form method="post" action=(SIGN_IN) hidden {
                input type="hidden" name="csrf" value=(csrf);
                input type="hidden" name="continue" value=(destination.as_str());
                input type="hidden" name="challenge" value=(field);
                input type="hidden" name="credential" value="";
                p role="alert" hidden {}
                button type="submit" class="second" data-passkey="get" data-options=(options) { "Sign in with a passkey" }
            }
        })
    }

    async fn sign_in_by_passkey(&self, asked: &Asked, sent: &Sent) -> Result<Response, Fault> {
        let destination = Destination::read(&sent.r#continue);
        let refused = async |step: &'static str, whom: Whom<'_>| {
            asked.log(step, whom);
            let message = html! { (alert(REFUSED)) (asked.named()) };
            self.form(asked, StatusCode::FORBIDDEN, &destination, "", message).await
        };
        if !self.is_own_form(asked, &sent.csrf) {
            return refused("csrf", Whom::Nobody).await;
        }
        let bound = Cookie::Form.read(&asked.headers, self.settings.is_secure()).unwrap_or_default();
        let opened = self.opened(Ceremony::Get, bound.as_bytes(), &sent.challenge, asked.now);
        let Some(challenge) = opened else { return refused("passkey challenge", Whom::Nobody).await };
        let account = match self.answered(asked, &challenge, &sent.credential, None).await? {
            Ok(account) => account,
            Err(Unanswered { step, account }) => {
                return refused(step, account.as_deref().map_or(Whom::Nobody, Whom::Account)).await;
            }
        };
        let whom = Whom::Account(&account.id);
        let Some(fresh) = self.begin_by_passkey(asked, &account, &destination).await? else {
            return refused("disabled", whom).await;
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
