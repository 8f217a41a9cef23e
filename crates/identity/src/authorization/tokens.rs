//! What is handed out: access tokens (RFC 9068), and the sealed handles that codes and refresh tokens are.

use std::collections::BTreeSet;

use aldgate_approval::SealKey;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use super::random;

/// The claims of an access token.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Claims {
    pub(super) iss: String,
    /// The id of the person's account, or of the client that acts for itself.
    pub(super) sub: String,
    /// The one resource that it is for.
    pub(super) aud: String,
    pub(super) exp: i64,
    pub(super) iat: i64,
    pub(super) nbf: i64,
    pub(super) jti: String,
    pub(super) client_id: String,
    pub(super) scope: String,
    /// When the person last proved who it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) auth_time: Option<i64>,
    pub(super) tenant: String,
    pub(super) roles: BTreeSet<String>,
    pub(super) kind: Kind,
    pub(super) name: String,
    /// The family that it stands and falls with; a service has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) grant: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cnf: Option<Confirmation>,
    /// Who exchanged it, and who before (RFC 8693 §4.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) act: Option<Actor>,
}

/// The kind of principal that a token is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Person,
    Service,
}

/// The key that a token is bound to (RFC 9449 §6.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Confirmation {
    pub(super) jkt: String,
}

/// Who acts for the subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Actor {
    pub(super) sub: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) act: Option<Box<Actor>>,
}

impl Actor {
    /// The actor and those before it.
    pub(super) fn row(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |actor| actor.act.as_deref())
    }
}

/// The two kinds of handles. One cannot be used as the other: the purpose is part of the seal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HandleKind {
    Code,
    Refresh,
}

/// Names a grant, and how many handles of it came before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Handle {
    pub(super) grant: String,
    pub(super) generation: i64,
}

impl HandleKind {
    const fn purpose(self) -> &'static str {
        match self {
            Self::Code => "authorization code",
            Self::Refresh => "refresh token",
        }
    }

    /// What handles of the kind begin with: whoever finds one in a log knows what it is.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Code => "agc_",
            Self::Refresh => "agr_",
        }
    }
}

impl Handle {
    /// Seals it: nobody else can make one, and one that was used before is known again without being kept.
    pub(super) fn seal(&self, kind: HandleKind, key: &SealKey) -> Option<String> {
        let plain = format!("{}.{}", self.generation, self.grant);
        let sealed = key.seal(kind.purpose(), random().ok()?, plain.as_bytes()).ok()?;
        Some(format!("{}{}", kind.prefix(), URL_SAFE_NO_PAD.encode(sealed)))
    }

    /// Opens one.
    pub(super) fn open(kind: HandleKind, key: &SealKey, text: &str) -> Option<Self> {
        let sealed = URL_SAFE_NO_PAD.decode(text.strip_prefix(kind.prefix())?).ok()?;
        let plain = String::from_utf8(key.open(kind.purpose(), &sealed).ok()?).ok()?;
        let (generation, grant) = plain.split_once('.')?;
        Some(Self { generation: generation.parse().ok()?, grant: grant.to_owned() })
    }
}
