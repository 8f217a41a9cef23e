//! Acts that are taken only from somebody who proves with the very form who it is: who found a browser open, or took a
//! session, does none of them.
//!
//! A form is good for one act in one session, once, and for five minutes. The proof is the password or a passkey, and comes
//! with it.

use std::time::Duration;

use maud::{Markup, html};
use serde::Deserialize;

use super::account::Unsure;
use super::asked::Whom;
use super::keys::stored;
use super::passkeys::Ceremony;
use super::password::Password;
use super::{Asked, Fault, People, SignedIn, User};

/// What such a form carries besides its own fields.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Proof {
    csrf: String,
    challenge: String,
    credential: String,
    password: Password,
}

impl Proof {
    /// What says from which page the form was sent, whatever it proves.
    #[must_use]
    pub fn csrf(&self) -> &str {
        &self.csrf
    }
}

/// Why a form is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unproved {
    /// It was not sent from a page of this session.
    #[error("This form was not sent from a page of this server.")]
    Foreign,
    /// It is for another act, more than five minutes old, or was sent before.
    #[error(
        "This form is more than five minutes old, or was sent before. Nothing was done; send it once more."
    )]
    Late,
    /// The password or passkey is another.
    #[error("The password or passkey is not right. Nothing was done.")]
    Wrong,
    /// There were too many wrong ones.
    #[error("Too many tries. Nothing was done; wait some minutes.")]
    Wait(Duration),
}

/// How such a form looks.
#[derive(Clone, Copy)]
pub struct Looks<'a> {
    /// What its button says, such as `Approve`.
    pub does: &'a str,
    /// The class of the button.
    pub class: Option<&'a str>,
    /// What the ids of its fields begin with.
    pub id: &'a str,
}

/// What a form is bound to: the session by a value that only its pages know, and the act.
fn bound(signed_in: &SignedIn, act: &str) -> Vec<u8> {
    format!("{} {act}", signed_in.csrf).into_bytes()
}

impl People {
    /// The fields and buttons of a form that does `act`, to stand behind its own fields.
    ///
    /// # Errors
    /// Where the store fails, or there are no random numbers.
    pub async fn proof_fields(
        &self,
        asked: &Asked,
        signed_in: &SignedIn,
        act: &str,
        looks: Looks<'_>,
    ) -> Result<Markup, Fault> {
        let (challenge, field) = self.challenge(Ceremony::Act, &bound(signed_in, act), asked.now)?;
        let options = self.passkey_request(&signed_in.user.id, &challenge).await?;
        let Looks { does, class, id } = looks;
        let password = format!("{id}-password");
        Ok(html! {
            input type="hidden" name="csrf" value=(signed_in.csrf);
            input type="hidden" name="challenge" value=(field);
            input type="hidden" name="credential" value="";
            // Password managers keep the password under this name.
            input type="text" name="username" value=(signed_in.user.name) autocomplete="username" hidden readonly;
            p role="alert" hidden {}
            label for=(password) { "Your password" }
            input id=(password) name="password" type="password" required autocomplete="current-password"
                maxlength="1024";
            button type="submit" class=[class] { (does) }
            @if let Some(options) = options {
                " "
                button.second type="submit" formnovalidate hidden data-passkey="get" data-options=(options) {
                    (does) " with a passkey"
                }
            }
        })
    }

    /// Who sent a form that does `act`: the person of this session, who proved it, as the account is now. Wrong proofs are
    /// counted for the session.
    ///
    /// # Errors
    /// Where the store fails, or too many passwords wait to be compared.
    pub async fn proved(
        &self,
        asked: &Asked,
        signed_in: &SignedIn,
        act: &str,
        sent: &Proof,
    ) -> Result<Result<User, Unproved>, Fault> {
        let whom = Whom::Account(&signed_in.user.id);
        if !self.is_from_page(asked, signed_in, &sent.csrf) {
            return Ok(Err(Unproved::Foreign));
        }
        let open = self.open(&asked.headers, &asked.key, asked.now).await?;
        let Some(open) = open.filter(|open| open.account.id == signed_in.user.id && !open.must_change())
        else {
            asked.log("session", whom);
            return Ok(Err(Unproved::Foreign));
        };
        let bound = bound(signed_in, act);
        let Some(challenge) = self.opened(Ceremony::Act, &bound, &sent.challenge, asked.now) else {
            asked.log("form too old", whom);
            return Ok(Err(Unproved::Late));
        };
        let by_passkey = !sent.credential.is_empty();
        let tried = if by_passkey {
            let of = Some(open.account.id.as_str());
            let answering = async {
                let answered = self.answered(asked, &challenge, &sent.credential, of).await?;
                Ok(answered.map(|_| ()).map_err(|refused| refused.step))
            };
            self.tried(asked, &open, answering).await?
        } else {
            self.confirm(asked, &open, sent.password.clone()).await?
        };
        match tried {
            Ok(()) => {}
            Err(Unsure::Wrong) => return Ok(Err(Unproved::Wrong)),
            Err(Unsure::Wait(wait)) => return Ok(Err(Unproved::Wait(wait))),
        }
        // A passkey that answers a challenge spends it; the password spends it in the same place.
        let (text, until, now) = (&challenge.text, challenge.until, stored(asked.now));
        if !by_passkey && !self.store.spend_challenge(text, until, now).await? {
            asked.log("form sent twice", whom);
            return Ok(Err(Unproved::Late));
        }
        Ok(Ok(User::of(open.account)))
    }
}
