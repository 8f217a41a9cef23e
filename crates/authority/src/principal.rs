use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

#[cfg(test)]
mod tests;

/// Whether a principal is a human being. Only a person may decide an approval.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum PrincipalKind {
    /// A human being.
    Person,
    /// A program: an agent, a job, another gateway.
    Service,
}

/// Who acts: made by the identity layer from a verified credential, never from what a client says of itself.
///
/// A principal *is* its issuer and subject; the other members describe it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Principal {
    /// Who vouches for the subject: an issuer URL, or a fixed word for tokens that the host itself gave out.
    pub issuer: String,
    /// The subject, unique within its issuer.
    pub subject: String,
    /// The tenant that the issuer asserted and was allowed to assert.
    pub tenant: String,
    /// Person or service.
    pub kind: PrincipalKind,
    /// Role names, as policies write them in `Role::"…"`.
    pub roles: BTreeSet<String>,
    /// A name to show. It identifies nobody: policies do not see it.
    pub name: String,
    /// The authenticated client that the principal acts through.
    pub client: String,
    /// The subjects of those who act for the principal (RFC 8693 §4.1), vouched for by the same issuer, the last one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actors: Vec<String>,
}

impl Principal {
    /// `issuer#subject`: names the principal across tenants.
    ///
    /// `%` and `#` in the issuer are percent-encoded, so that two principals never share an id.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}#{}", escaped(&self.issuer, &['#']), self.subject)
    }

    /// The id of the principal's Cedar entity, `tenant/issuer#subject`.
    ///
    /// `%` and `/` in the tenant are percent-encoded, for the same reason as in [`Principal::id`].
    #[must_use]
    pub fn entity_id(&self) -> String {
        format!("{}/{}", escaped(&self.tenant, &['/']), self.id())
    }

    /// Whether both are the same principal: issuer and subject, whatever else differs.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.issuer == other.issuer && self.subject == other.subject
    }
}

fn escaped(text: &str, separators: &[char]) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '%' || separators.contains(&c) {
            out.push_str(&format!("%{:02X}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out
}
