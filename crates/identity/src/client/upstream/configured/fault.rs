//! What is wrong with a configured credential.

use std::path::PathBuf;

use crate::ScopeFault;
use crate::client::address::AddressFault;
use crate::client::upstream::{ConnectionFault, CredentialFault};

/// What is wrong with the credential of an upstream. Holds no secret.
#[derive(Debug, thiserror::Error)]
#[error("the credential of upstream `{upstream}` cannot be used")]
pub struct ConfiguredFault {
    /// The upstream.
    pub upstream: String,
    /// Why.
    #[source]
    pub(super) why: Why,
}

/// Why a credential cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum Why {
    #[error("`{member}` is missing")]
    Missing { member: &'static str },
    #[error("`{member}` does nothing with `kind = \"{kind}\"`; leave it out, or choose another kind")]
    Unused { member: &'static str, kind: &'static str },
    #[error(
        "`kind = \"connection\"` needs people who sign in at the gateway's own authorization server, which does not run; see \
         `identity.server.enabled`"
    )]
    NoPeople,
    #[error("the secret has to be in one place; give either `env` or `file`")]
    Place,
    #[error("the environment variable `{name}` is not set or is empty")]
    Variable { name: String },
    #[error("the file `{path}` cannot be read")]
    File {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the file `{path}` is empty")]
    Empty { path: PathBuf },
    #[error("`header` is `{found}`, which is no name of a header")]
    Header { found: String },
    #[error("`{member}` is `{found}`; expected an absolute `https` URL")]
    Url { member: &'static str, found: String },
    #[error("`{member}` cannot be used: {fault}")]
    Address { member: &'static str, fault: AddressFault },
    #[error("`algorithm` and `key_id` belong to `client_method = \"private_key_jwt\"`; leave them out")]
    NoKey,
    #[error(
        "the private key is not one for `{algorithm}`; expected PKCS #8 as PEM, and `ES256`, `ES384`, `EdDSA` or `RS256`"
    )]
    Key { algorithm: String },
    #[error(transparent)]
    Scope(#[from] ScopeFault),
    #[error(transparent)]
    Credential(#[from] CredentialFault),
    #[error(transparent)]
    Connection(#[from] ConnectionFault),
}
