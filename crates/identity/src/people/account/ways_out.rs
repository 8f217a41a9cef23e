//! Signing out, here and everywhere.

use std::sync::Arc;

use axum::Form;
use axum::extract::State;
use axum::extract::rejection::FormRejection;
use axum::response::Response;
use http::StatusCode;
use maud::html;
use serde::Deserialize;

use super::PATH;
use crate::people::asked::{Asked, Whom, see_other, with_cookies};
use crate::people::cookies::Cookie;
use crate::people::keys::stored;
use crate::people::{Fault, People, page, sign_in};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(in crate::people) struct Sent {
    csrf: String,
}

pub(in crate::people) async fn sign_out(
    State(people): State<Arc<People>>,
    asked: Asked,
    sent: Result<Form<Sent>, FormRejection>,
) -> Response {
    people.leave(&asked, sent, false).await.unwrap_or_else(|fault| asked.failed(&fault))
}

pub(in crate::people) async fn sign_out_everywhere(
    State(people): State<Arc<People>>,
    asked: Asked,
    sent: Result<Form<Sent>, FormRejection>,
) -> Response {
    people.leave(&asked, sent, true).await.unwrap_or_else(|fault| asked.failed(&fault))
}

impl People {
    async fn leave(
        &self,
        asked: &Asked,
        sent: Result<Form<Sent>, FormRejection>,
        everywhere: bool,
    ) -> Result<Response, Fault> {
        let Some(sent) = asked.sent(sent) else { return Ok(asked.foreign(PATH)) };
        let Some(open) = self.open(&asked.headers, &asked.key, asked.now).await? else {
            return Ok(see_other(sign_in::PATH));
        };
        if !self.is_own_page(asked, &open.csrf, &sent.csrf) {
            asked.log("csrf", Whom::Account(&open.account.id));
            return Ok(asked.foreign(PATH));
        }
        let told = if everywhere {
            self.end_everything(&open.account.id, asked.now).await?;
            "All sessions ended, and what programs were granted was taken back."
        } else {
            self.store.end_session(&open.session.hash).await?;
            "The session of this browser ended."
        };
        let body = html! {
            div role="status" { p { (told) } }
            p { a href=(sign_in::PATH) { "Sign in again" } }
        };
        let cookie = Cookie::Session.clear(self.settings.is_secure());
        Ok(with_cookies(page(StatusCode::OK, "You are signed out", &body), [cookie]))
    }

    /// Ends all sessions of an account, and what programs were granted in its name.
    ///
    /// # Errors
    /// Where the store fails, or the grants could not be taken back.
    pub async fn end_everything(&self, account: &str, now: time::OffsetDateTime) -> Result<(), Fault> {
        self.store.sign_out_everywhere(account, stored(now)).await?;
        self.take_back(account).await
    }

    /// Has what programs were granted taken back here at once; the store has it noted already.
    pub(super) async fn take_back(&self, account: &str) -> Result<(), Fault> {
        match self.everywhere.get() {
            Some(hook) => hook(account.to_owned()).await.map_err(Fault::Revoking),
            None => Ok(()),
        }
    }
}
