//! A challenge that was answered with a passkey.

use aldgate_store::identity::{Account, PasskeyUse};

use super::proof::Answered;
use super::{Challenge, request};
use crate::people::keys::stored;
use crate::people::{Asked, Fault, People};

/// The step at which an answer was refused, and the id of the account that it is about, where there is one.
pub(in crate::people) struct Unanswered {
    pub(in crate::people) step: &'static str,
    pub(in crate::people) account: Option<String>,
}

impl People {
    /// What a browser is asked for where somebody proves anew who it is; nothing, where that person has no passkey.
    pub(in crate::people) async fn passkey_request(
        &self,
        account: &str,
        challenge: &str,
    ) -> Result<Option<String>, Fault> {
        let Some(relying_party) = self.relying_party() else { return Ok(None) };
        let there = !self.store.passkeys_of(account).await?.is_empty();
        Ok(there.then(|| request(relying_party, challenge).to_string()))
    }

    /// Whose passkey answered a challenge, `of` whom alone where somebody is named. The challenge is spent with it.
    pub(in crate::people) async fn answered(
        &self,
        asked: &Asked,
        challenge: &Challenge,
        credential: &str,
        of: Option<&str>,
    ) -> Result<Result<Account, Unanswered>, Fault> {
        let nobody = |step| Ok(Err(Unanswered { step, account: None }));
        let origin = self.origin();
        let Some(expected) = self.expected(&origin, challenge) else {
            return nobody("passkey relying party");
        };
        let Ok(answered) = serde_json::from_str::<Answered>(credential) else {
            return nobody("passkey form");
        };
        let Some((passkey, account)) = self.store.passkey(&answered.id).await? else {
            return nobody("passkey credential id");
        };
        let refused = |step| Ok(Err(Unanswered { step, account: Some(account.id.clone()) }));
        if of.is_some_and(|id| id != account.id) {
            return refused("passkey of somebody else");
        }
        let counter = match answered.counted(&expected, &account.id, passkey.algorithm, &passkey.public_key) {
            Ok(counter) => counter,
            Err(fault) => return refused(fault.step()),
        };
        let used = PasskeyUse {
            id: &passkey.id,
            counter,
            challenge: &challenge.text,
            until: challenge.until,
            at: stored(asked.now),
        };
        if self.store.use_passkey(&used).await? { Ok(Ok(account)) } else { refused("passkey used twice") }
    }
}
