use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::Kind;
use crate::digest;
use crate::template::{Template, Uri, Variables, uri};

mod answer;
mod fault;
mod section;
#[cfg(test)]
mod tests;

pub use answer::{Answer, Substitutes};
pub use fault::RegistryFault;
pub use section::{Prompts, Resources};

/// What the host lets happen without asking a person.
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

/// What a tool, resource or prompt does to the data that an agent holds.
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

/// What the host says of one tool, resource or prompt: the ceiling that no policy and no server can lift.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The most that may happen without a person.
    pub authority: Authority,
    /// What it does to data. Required; an empty list says that it does none of this.
    pub labels: BTreeSet<Label>,
    /// It changes nothing. What is not called read-only is written down before it is dispatched. Resources and prompts are
    /// taken as read-only by their nature; policies see what stands here.
    #[serde(default)]
    pub read_only: bool,
    /// The same call twice has the effect of one.
    #[serde(default)]
    pub idempotent: bool,
    /// Seconds without an answer or progress after which a call is given up; `limits.call_timeout` where this is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_s: Option<u32>,
    /// The OAuth scope that this needs; `tools:read` for what is read-only and `tools:write` for the rest, where this is left
    /// out. A token that has `tools:write` has `tools:read` too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// What it promises to stay within, in words for the people who review it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boundaries: Vec<String>,
    /// Policy may make this `requires_approval` entry automatic (action `call_unattended`).
    #[serde(default)]
    pub policy_may_relax: bool,
    /// The caller may decide its own approval.
    #[serde(default)]
    pub self_approval: bool,
    /// The name that clients see instead of the prefixed one; not for resources.
    #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
    pub expose_as: Option<String>,
    /// How the gateway answers the upstream's own confirmation once a person has approved the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
}

/// The host's registry: one [`Entry`] for each tool, resource and prompt, under the key `upstream/name`.
///
/// What is not in it is prohibited. Tools, resources and prompts do not share their keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<String, Entry>", into = "BTreeMap<String, Entry>")]
pub struct Registry {
    tools: Registrations,
    resources: Registrations,
    prompts: Registrations,
    /// For what has no entry; `aldgate dev` alone sets it.
    default: Option<Registered>,
}

type Registrations = BTreeMap<String, Registered>;

#[derive(Clone, Debug, PartialEq)]
struct Registered {
    entry: Entry,
    digest: String,
    /// Of a resource.
    template: Option<Template>,
}

/// A registered resource that a URI can mean.
#[derive(Clone, Debug)]
pub struct ResourceMatch<'a> {
    /// The host's name of the upstream.
    pub upstream: &'a str,
    /// The URI or template as the registry writes it.
    pub template: &'a Template,
    /// What the template's variables are in the URI.
    pub variables: Variables,
    /// What the host says of it.
    pub entry: &'a Entry,
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
            timeout_s: None,
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
    /// A registry of these tools.
    ///
    /// # Errors
    /// A key that is not `upstream/tool`, or an entry that contradicts itself.
    pub fn new(tools: impl IntoIterator<Item = (String, Entry)>) -> Result<Self, RegistryFault> {
        Ok(Self { tools: section::registered(Kind::Tool, tools)?, ..Self::default() })
    }

    /// The registry with these resources instead of those that it had.
    #[must_use]
    pub fn with_resources(self, resources: Resources) -> Self {
        Self { resources: resources.0, ..self }
    }

    /// The registry with these prompts instead of those that it had.
    #[must_use]
    pub fn with_prompts(self, prompts: Prompts) -> Self {
        Self { prompts: prompts.0, ..self }
    }

    /// The registry of `aldgate dev`: everything without an entry has this authority.
    ///
    /// # Errors
    /// Never for an authority alone; the signature is that of [`Registry::new`].
    pub fn with_default(self, authority: Authority) -> Result<Self, RegistryFault> {
        Ok(Self { default: Some(Registered::new("*", Entry::of(authority), None)?), ..self })
    }

    /// Whether what has no entry has a default, as in `aldgate dev`.
    #[must_use]
    pub fn has_default(&self) -> bool {
        self.default.is_some()
    }

    /// What holds for everything that has no entry, where there is a default.
    #[must_use]
    pub fn default_entry(&self) -> Option<&Entry> {
        self.default.as_ref().map(|registered| &registered.entry)
    }

    /// What the host says of a tool; `None` means prohibited.
    #[must_use]
    pub fn get(&self, upstream: &str, tool: &str) -> Option<&Entry> {
        self.entry(Kind::Tool, upstream, tool)
    }

    /// The digest of a tool's entry: SHA-256 over its RFC 8785 form.
    #[must_use]
    pub fn digest(&self, upstream: &str, tool: &str) -> Option<&str> {
        self.entry_digest(Kind::Tool, upstream, tool)
    }

    /// Every tool's entry with its key, in the order of the keys; a default is not among them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries(Kind::Tool)
    }

    /// What the host says of something under this very name; `None` means prohibited. A resource's name is the URI or
    /// template as the registry writes it: see [`Registry::matching`] for URIs of requests.
    #[must_use]
    pub fn entry(&self, kind: Kind, upstream: &str, name: &str) -> Option<&Entry> {
        self.registered(kind, upstream, name).map(|registered| &registered.entry)
    }

    /// The digest of an entry: SHA-256 over its RFC 8785 form.
    #[must_use]
    pub fn entry_digest(&self, kind: Kind, upstream: &str, name: &str) -> Option<&str> {
        self.registered(kind, upstream, name).map(|registered| registered.digest.as_str())
    }

    /// Every entry of this kind with its key, in the order of the keys; a default is not among them.
    pub fn entries(&self, kind: Kind) -> impl Iterator<Item = (&str, &Entry)> {
        self.of(kind).iter().map(|(key, registered)| (key.as_str(), &registered.entry))
    }

    /// Every registered resource with its key, in the order of the keys.
    pub fn templates(&self) -> impl Iterator<Item = (&str, &Template)> {
        self.resources.iter().filter_map(|(key, it)| Some((key.as_str(), it.template.as_ref()?)))
    }

    /// The registered resources that the URI can mean; the first one rules, and policies are asked about each.
    ///
    /// A stricter entry that stands for another spelling of the URI counts too, though its template does not match: who
    /// rules by it refuses.
    ///
    /// That is the entry for this very URI. Without one it is the strictest of those that match, so that a wider entry
    /// never undoes a narrower one; among equally strict ones it is the one that leaves the least open. A default is
    /// not among them. With more than one upstream the registry has an overlap: see [`crate::overlaps`].
    #[must_use]
    pub fn matching(&self, uri: &Uri) -> Vec<ResourceMatch<'_>> {
        let mut found: Vec<ResourceMatch<'_>> = self
            .resources
            .iter()
            .filter_map(|(key, registered)| {
                let template = registered.template.as_ref()?;
                let (upstream, _) = split(key)?;
                let variables = template.matches(uri)?;
                Some(ResourceMatch { upstream, template, variables, entry: &registered.entry })
            })
            .collect();
        // Only what is registered can be stricter than what matches: another spelling opens nothing.
        let alike = LazyCell::new(|| -> Vec<Uri> {
            uri::alike(uri.normal()).iter().filter_map(|one| Uri::parse(one).ok()).collect()
        });
        if let Some(loosest) = found.iter().map(|one| one.entry.authority).min() {
            let all = self.resources.iter().filter_map(|(key, it)| Some((key, it.template.as_ref()?, it)));
            for (key, template, registered) in all {
                let Some((upstream, _)) = split(key) else { continue };
                let known = found.iter().any(|one| one.upstream == upstream && one.template == template);
                let stricter = registered.entry.authority > loosest;
                if !known && stricter && template.means(&alike) {
                    let (variables, entry) = (Variables::new(), &registered.entry);
                    found.push(ResourceMatch { upstream, template, variables, entry });
                }
            }
        }
        found.sort_by_key(|one| {
            let strictest = std::cmp::Reverse(one.entry.authority);
            let exact = one.template.matches(uri).is_some() && one.template.is_exact();
            (!exact, strictest, one.template.openness())
        });
        found
    }

    fn of(&self, kind: Kind) -> &Registrations {
        match kind {
            Kind::Tool => &self.tools,
            Kind::Resource => &self.resources,
            Kind::Prompt => &self.prompts,
        }
    }

    fn registered(&self, kind: Kind, upstream: &str, name: &str) -> Option<&Registered> {
        let key = key(upstream, name)?;
        self.of(kind).get(&key).or(self.default.as_ref())
    }
}

impl Registered {
    fn new(key: &str, entry: Entry, template: Option<Template>) -> Result<Self, RegistryFault> {
        if entry.policy_may_relax && entry.authority != Authority::RequiresApproval {
            return Err(RegistryFault::NothingToRelax { key: key.to_owned(), authority: entry.authority });
        }
        if entry.timeout_s == Some(0) {
            return Err(RegistryFault::NoTime { key: key.to_owned() });
        }
        if template.is_some() && entry.expose_as.is_some() {
            return Err(RegistryFault::Renamed { key: key.to_owned() });
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
        Ok(Self { entry, digest, template })
    }
}

/// The key of something; `None` where the names cannot form one.
///
/// The first `/` ends the upstream's name, so an upstream's name holds none and the other may.
pub(crate) fn key(upstream: &str, name: &str) -> Option<String> {
    (!upstream.is_empty() && !upstream.contains('/') && !name.is_empty())
        .then(|| format!("{upstream}/{name}"))
}

/// The upstream of a key, and the name.
pub(crate) fn split(key: &str) -> Option<(&str, &str)> {
    key.split_once('/').filter(|(upstream, name)| !upstream.is_empty() && !name.is_empty())
}
