use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::digest;

mod answer;
#[cfg(test)]
mod tests;

pub use answer::{Answer, Substitutes};

/// What the host lets a tool do without asking a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Authority {
    /// Runs by itself where policy allows it.
    Automatic,
    /// Runs once for each decision of a person.
    RequiresApproval,
    /// Never runs and is not listed.
    Prohibited,
}

/// What a tool does to the data that an agent holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    /// Its results hold text that people outside the organisation wrote.
    UntrustedInput,
    /// Its results hold data that must not leave the organisation.
    SensitiveData,
    /// It changes something that matters outside the conversation.
    Consequential,
    /// It can carry data out of the organisation.
    Exfiltration,
}

/// What the host says of one tool: the ceiling that no policy and no server can lift.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The most that the tool may do without a person.
    pub authority: Authority,
    /// What the tool does to data. Required; an empty list says that it does none of this.
    pub labels: BTreeSet<Label>,
    /// The tool changes nothing. What is not called read-only is written down before it is dispatched.
    #[serde(default)]
    pub read_only: bool,
    /// The same call twice has the effect of one.
    #[serde(default)]
    pub idempotent: bool,
    /// The OAuth scope that a caller must hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// What the tool promises to stay within, in words for the people who review it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boundaries: Vec<String>,
    /// Policy may make this `requires_approval` tool automatic (action `call_unattended`).
    #[serde(default)]
    pub policy_may_relax: bool,
    /// The caller may decide its own approval.
    #[serde(default)]
    pub self_approval: bool,
    /// The name that clients see instead of the prefixed one.
    #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
    pub expose_as: Option<String>,
    /// How the gateway answers the tool's own confirmation once a person has approved the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
}

/// The host's registry: one [`Entry`] for each tool, under the key `upstream/tool`.
///
/// A tool that is not in it is prohibited.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<String, Entry>", into = "BTreeMap<String, Entry>")]
pub struct Registry {
    tools: BTreeMap<String, Registered>,
    /// For tools without an entry; `aldgate dev` alone sets it.
    default: Option<Registered>,
}

#[derive(Clone, Debug, PartialEq)]
struct Registered {
    entry: Entry,
    digest: String,
}

/// Why a registry was refused.
#[derive(Debug, Error)]
pub enum RegistryFault {
    /// A key is not `upstream/tool`.
    #[error("`{key}` is not a tool's key; expected `upstream/tool`, such as `tickets/get_ticket`")]
    Key {
        /// The key as written.
        key: String,
    },
    /// `policy_may_relax` on a tool whose authority is not `requires_approval`.
    #[error(
        "`{key}` has `policy_may_relax = true` but authority `{authority}`, which policy cannot relax; \
         remove the line or set `authority = \"requires_approval\"`",
        authority = authority.as_str()
    )]
    NothingToRelax {
        /// The tool's key.
        key: String,
        /// Its authority.
        authority: Authority,
    },
    /// A digest in `answer.requested_schema` has another form.
    #[error(
        "`answer.requested_schema` of `{key}` is `{found}`; expected `sha256:` and 64 lower-case hex digits, \
         the digest of the schema that the tool asks with"
    )]
    Digest {
        /// The tool's key.
        key: String,
        /// The text as written.
        found: String,
    },
    /// `answer.fill` names something that the gateway cannot fill in.
    #[error(
        "`answer.fill` of `{key}` holds `{found}`; expected `${{approver.name}}`, `${{approval.note}}` or \
         `${{approval.id}}`"
    )]
    Placeholder {
        /// The tool's key.
        key: String,
        /// The placeholder as written.
        found: String,
    },
    /// An entry has no canonical form.
    #[error(
        "`{key}` cannot be digested; use only text, numbers, booleans, lists and tables in `answer.fill`"
    )]
    Digestion {
        /// The tool's key.
        key: String,
        /// What the canonical form refused.
        source: serde_json::Error,
    },
}

impl Authority {
    /// The word in `aldgate.toml`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Automatic => "automatic",
            Self::RequiresApproval => "requires_approval",
            Self::Prohibited => "prohibited",
        }
    }
}

impl Label {
    /// The word in `aldgate.toml` and in `resource.labels` of a policy.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UntrustedInput => "untrusted_input",
            Self::SensitiveData => "sensitive_data",
            Self::Consequential => "consequential",
            Self::Exfiltration => "exfiltration",
        }
    }
}

impl Entry {
    /// An entry with this authority and everything else at its most careful default.
    #[must_use]
    pub fn of(authority: Authority) -> Self {
        Self {
            authority,
            labels: BTreeSet::new(),
            read_only: false,
            idempotent: false,
            scope: None,
            boundaries: Vec::new(),
            policy_may_relax: false,
            self_approval: false,
            expose_as: None,
            answer: None,
        }
    }
}

impl Registry {
    /// A registry of these entries.
    ///
    /// # Errors
    /// A key that is not `upstream/tool`, or an entry that contradicts itself.
    pub fn new(entries: impl IntoIterator<Item = (String, Entry)>) -> Result<Self, RegistryFault> {
        let tools = entries
            .into_iter()
            .map(|(key, entry)| {
                if split(&key).is_none() {
                    return Err(RegistryFault::Key { key });
                }
                let registered = Registered::new(&key, entry)?;
                Ok((key, registered))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { tools, default: None })
    }

    /// The registry of `aldgate dev`: every tool without an entry has this authority.
    ///
    /// # Errors
    /// Never for an authority alone; the signature is that of [`Registry::new`].
    pub fn with_default(self, authority: Authority) -> Result<Self, RegistryFault> {
        Ok(Self { default: Some(Registered::new("*", Entry::of(authority))?), ..self })
    }

    /// Whether tools without an entry have a default, as in `aldgate dev`.
    #[must_use]
    pub fn has_default(&self) -> bool {
        self.default.is_some()
    }

    /// What the host says of a tool; `None` means prohibited.
    #[must_use]
    pub fn get(&self, upstream: &str, tool: &str) -> Option<&Entry> {
        self.registered(upstream, tool).map(|(entry, _)| entry)
    }

    /// The digest of a tool's entry: SHA-256 over its RFC 8785 form.
    #[must_use]
    pub fn digest(&self, upstream: &str, tool: &str) -> Option<&str> {
        self.registered(upstream, tool).map(|(_, digest)| digest)
    }

    /// Every entry with its key, in the order of the keys; a default is not among them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.tools.iter().map(|(key, registered)| (key.as_str(), &registered.entry))
    }

    pub(crate) fn registered(&self, upstream: &str, tool: &str) -> Option<(&Entry, &str)> {
        let key = key(upstream, tool)?;
        let registered = self.tools.get(&key).or(self.default.as_ref())?;
        Some((&registered.entry, &registered.digest))
    }
}

impl Registered {
    fn new(key: &str, entry: Entry) -> Result<Self, RegistryFault> {
        if entry.policy_may_relax && entry.authority != Authority::RequiresApproval {
            return Err(RegistryFault::NothingToRelax { key: key.to_owned(), authority: entry.authority });
        }
        if let Some(answer) = &entry.answer {
            if !digest::is_digest(&answer.requested_schema) {
                let found = answer.requested_schema.clone();
                return Err(RegistryFault::Digest { key: key.to_owned(), found });
            }
            if let Some(found) = answer.unknown_placeholder() {
                return Err(RegistryFault::Placeholder { key: key.to_owned(), found });
            }
        }
        let digest = digest::canonical(&entry)
            .map_err(|source| RegistryFault::Digestion { key: key.to_owned(), source })?;
        Ok(Self { entry, digest })
    }
}

impl TryFrom<BTreeMap<String, Entry>> for Registry {
    type Error = RegistryFault;

    fn try_from(entries: BTreeMap<String, Entry>) -> Result<Self, Self::Error> {
        Self::new(entries)
    }
}

impl From<Registry> for BTreeMap<String, Entry> {
    fn from(registry: Registry) -> Self {
        registry.tools.into_iter().map(|(key, registered)| (key, registered.entry)).collect()
    }
}

impl JsonSchema for Registry {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Registry".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let mut schema = BTreeMap::<String, Entry>::json_schema(generator);
        schema.insert(
            "description".to_owned(),
            "What each tool may do, under the key `upstream/tool`. A tool that is not here is prohibited."
                .into(),
        );
        schema
    }
}

/// The key of a tool; `None` where the names cannot form one.
///
/// The first `/` ends the upstream's name, so an upstream's name holds none and a tool's may.
pub(crate) fn key(upstream: &str, tool: &str) -> Option<String> {
    (!upstream.is_empty() && !upstream.contains('/') && !tool.is_empty())
        .then(|| format!("{upstream}/{tool}"))
}

/// The upstream and tool of a key.
pub(crate) fn split(key: &str) -> Option<(&str, &str)> {
    key.split_once('/').filter(|(upstream, tool)| !upstream.is_empty() && !tool.is_empty())
}
