//! Contracts that are not offered because nobody signed them who counts.

use aldgate_contract::Pin;
use aldgate_contract::signature::SignatureFault;

use super::spelled;
use crate::settings::Signatures;

impl Signatures {
    /// Why a pinned contract is not offered; `None` where it may be. Where signatures are not required, one by an unknown key
    /// is as good as none; one that is wrong or revoked never is.
    pub(crate) fn unsigned(&self, upstream: &str, pin: &Pin) -> Option<String> {
        match self.keyring.verify(&pin.statement(upstream), pin.signature.as_deref()) {
            Ok(_) => None,
            Err(SignatureFault::Missing | SignatureFault::UnknownKey { .. }) if !self.required => None,
            Err(fault) => {
                let what = spelled(upstream, &pin.kind.item(&pin.name));
                Some(format!("{fault}; a reviewer signs it with `aldgate contracts sign {what} --key …`"))
            }
        }
    }
}
