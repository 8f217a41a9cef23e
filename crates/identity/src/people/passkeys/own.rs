//! A person's own passkeys, on the account's page.

use std::sync::Arc;

use aldgate_store::identity::Passkey;
use axum::Form;
use axum::extract::State;
use axum::extract::rejection::FormRejection;
use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};
use serde::Deserialize;

use super::proof::Created;
use super::{ADD, Ceremony, REMOVE, creation};
use crate::people::account::{PATH, clock};
use crate::people::asked::{Asked, Whom, alert, see_other};
use crate::people::keys::{kept, stored};
use crate::people::password::Password;
use crate::people::session::Open;
use crate::people::{Fault, People, page};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(in crate::people) struct Added {
    csrf: String,
    challenge: String,
    credential: String,
    name: String,
    password: Password,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(in crate::people) struct Removed {
    csrf: String,
    id: String,
    password: Password,
}

pub(in crate::people) async fn add(
    State(people): State<Arc<People>>,
    asked: Asked,
    sent: Result<Form<Added>, FormRejection>,
) -> Response {
    let Some(sent) = asked.sent(sent) else { return asked.foreign(PATH) };
    people.add_passkey(&asked, sent).await.unwrap_or_else(|fault| asked.failed(&fault))
}

pub(in crate::people) async fn remove(
    State(people): State<Arc<People>>,
    asked: Asked,
    sent: Result<Form<Removed>, FormRejection>,
) -> Response {
    let Some(sent) = asked.sent(sent) else { return asked.foreign(PATH) };
    people.remove_passkey(&asked, sent).await.unwrap_or_else(|fault| asked.failed(&fault))
}

impl People {
    /// The part of the account's page.
    pub(in crate::people) async fn passkeys(&self, asked: &Asked, open: &Open) -> Result<Markup, Fault> {
        let Some(relying_party) = self.relying_party() else { return Ok(html! {}) };
        let there = self.store.passkeys_of(&open.account.id).await?;
        let (challenge, field) = self.challenge(Ceremony::Create, &open.session.hash, asked.now)?;
        let options = creation(relying_party, &challenge, &open.account, &there).to_string();
        // Who finds a browser open, or took its session, adds none and removes none.
        let add = html! {
            form method="post" action=(open.key.at(ADD)) hidden {
                input type="hidden" name="csrf" value=(open.csrf);
                input type="hidden" name="challenge" value=(field);
                input type="hidden" name="credential" value="";
                p role="alert" hidden {}
                label for="passkey-name" { "Name of the new passkey" }
                input #passkey-name name="name" type="text" required maxlength="64" autocomplete="off" value="Passkey";
                (password("passkey-password"))
                button type="submit" class="second" data-passkey="create" data-options=(options) { "Add a passkey" }
            }
        };
        Ok(html! {
            h2 { "Passkeys" }
            p.hint { "A passkey is kept by your device and signs you in without a password. To add or use one, the browser has to run scripts." }
            @for (index, one) in there.iter().enumerate() { (row(open, one, index)) }
            (add)
        })
    }

    async fn add_passkey(&self, asked: &Asked, sent: Added) -> Result<Response, Fault> {
        let Some(open) = self.own_form(asked, &sent.csrf).await? else { return Ok(asked.foreign(PATH)) };
        let whom = Whom::Account(&open.account.id);
        let refused = |step: &'static str, told: &str| {
            asked.log(step, whom);
            Ok(not_done(asked, &open, StatusCode::FORBIDDEN, "No passkey was added", told))
        };
        if let Err(unsure) = self.confirm(asked, &open, sent.password).await? {
            return Ok(
                unsure.told(|status, told| not_done(asked, &open, status, "No passkey was added", told))
            );
        }
        let opened = self.opened(Ceremony::Create, &open.session.hash, &sent.challenge, asked.now);
        let origin = self.origin();
        let Some(challenge) = opened else {
            return refused("passkey challenge", "That took too long. Try again.");
        };
        let Some(expected) = self.expected(&origin, &challenge) else {
            return refused("passkey relying party", "There are no passkeys here.");
        };
        let created = serde_json::from_str::<Created>(&sent.credential);
        let created = created.map_err(|_| "passkey form");
        let registered =
            created.and_then(|created| created.registered(&expected).map_err(|fault| fault.step()));
        let registered = match registered {
            Ok(registered) => registered,
            Err(step) => {
                return refused(step, "This device or browser makes passkeys that cannot be used here.");
            }
        };
        let name: String = sent.name.trim().chars().filter(|letter| !letter.is_control()).take(64).collect();
        let passkey = Passkey {
            id: registered.id,
            name: if name.is_empty() { "Passkey".to_owned() } else { name },
            algorithm: registered.algorithm,
            public_key: registered.public_key,
            counter: registered.counter,
            created_at: stored(asked.now),
            used_at: None,
        };
        if !self.store.add_passkey(&open.account.id, &passkey, &challenge.text, challenge.until).await? {
            return refused(
                "passkey not new",
                "This passkey is there already, or you have as many as you may.",
            );
        }
        tracing::info!(request = asked.id, account = open.account.id, "a passkey was added");
        Ok(see_other(&open.key.at(PATH)))
    }

    async fn remove_passkey(&self, asked: &Asked, sent: Removed) -> Result<Response, Fault> {
        let Some(open) = self.own_form(asked, &sent.csrf).await? else { return Ok(asked.foreign(PATH)) };
        if let Err(unsure) = self.confirm(asked, &open, sent.password).await? {
            return Ok(
                unsure.told(|status, told| not_done(asked, &open, status, "No passkey was removed", told))
            );
        }
        self.store.remove_passkey(&open.account.id, &sent.id).await?;
        tracing::info!(request = asked.id, account = open.account.id, "a passkey was removed");
        Ok(see_other(&open.key.at(PATH)))
    }

    /// The session that sent a form of its own; one whose password has to be changed has none.
    async fn own_form(&self, asked: &Asked, csrf: &str) -> Result<Option<Open>, Fault> {
        let open = self.open(&asked.headers, &asked.key, asked.now).await?.filter(|open| !open.must_change());
        let own = open.filter(|open| self.is_own_page(asked, &open.csrf, csrf));
        if own.is_none() {
            asked.log("csrf", Whom::Nobody);
        }
        Ok(own)
    }
}

fn not_done(asked: &Asked, open: &Open, status: StatusCode, title: &str, told: &str) -> Response {
    let body =
        html! { (alert(told)) p { a href=(open.key.at(PATH)) { "Back to your account" } } (asked.named()) };
    page(status, title, &body)
}

fn password(id: &str) -> Markup {
    html! {
        div {
            label for=(id) { "Current password" }
            input id=(id) name="password" type="password" required autocomplete="current-password"
                maxlength="1024";
        }
    }
}

fn row(open: &Open, one: &Passkey, index: usize) -> Markup {
    html! {
        form.row method="post" action=(open.key.at(REMOVE)) {
            input type="hidden" name="csrf" value=(open.csrf);
            input type="hidden" name="id" value=(one.id);
            p {
                strong { (one.name) } ", since " (clock(kept(one.created_at)))
                @if let Some(used) = one.used_at { ", last used " (clock(kept(used))) }
            }
            (password(&format!("passkey-{index}-password")))
            button type="submit" class="grave" aria-label=(format!("Remove the passkey {}", one.name)) { "Remove" }
        }
    }
}
