//! The cursor of a paged list: the last element that the client has, sealed for the principal that it was given to.

use aldgate_approval::SealKey;
use aldgate_authority::Principal;
use aldgate_wire::list::ListKind;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::clock;
use crate::refusal::Refusal;

/// For what cursors are sealed.
const PURPOSE: &str = "aldgate list cursor";

#[derive(Serialize, Deserialize)]
struct Cursor {
    list: String,
    tenant: String,
    principal: String,
    after: String,
}

/// A cursor behind the element `after`.
pub(super) fn seal(
    key: &SealKey,
    principal: &Principal,
    list: ListKind,
    after: &str,
) -> Result<String, Refusal> {
    let failed = || Refusal::host("AG-INTERNAL", "the cursor could not be sealed");
    let cursor = Cursor {
        list: list.member().to_owned(),
        tenant: principal.tenant.clone(),
        principal: principal.id(),
        after: after.to_owned(),
    };
    let plain = serde_json::to_vec(&cursor).map_err(|fault| failed().because(fault))?;
    let nonce = clock::random().map_err(|fault| failed().because(fault.to_string()))?;
    let sealed = key.seal(PURPOSE, nonce, &plain).map_err(|fault| failed().because(fault))?;
    Ok(URL_SAFE_NO_PAD.encode(sealed))
}

/// The element that a client has last, by the cursor that it brings.
pub(super) fn open(
    key: &SealKey,
    principal: &Principal,
    list: ListKind,
    cursor: &str,
) -> Result<String, Refusal> {
    let foreign =
        || Refusal::params("the cursor was not given out here, or not for this list; list again without one");
    let sealed = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| foreign())?;
    let plain = key.open(PURPOSE, &sealed).map_err(|_| foreign())?;
    let cursor: Cursor = serde_json::from_slice(&plain).map_err(|_| foreign())?;
    let own = cursor.list == list.member()
        && cursor.tenant == principal.tenant
        && cursor.principal == principal.id();
    if own { Ok(cursor.after) } else { Err(foreign()) }
}
