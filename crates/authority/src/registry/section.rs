//! The sections of `aldgate.toml` that hold entries: their serde and schema forms.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::{Entry, Registered, Registrations, Registry, RegistryFault, split};
use crate::action::Kind;
use crate::template::Template;

/// The resources of a registry: entries under `upstream/URI` or `upstream/template`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<String, Entry>", into = "BTreeMap<String, Entry>")]
pub struct Resources(pub(super) Registrations);

/// The prompts of a registry: entries under `upstream/name`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<String, Entry>", into = "BTreeMap<String, Entry>")]
pub struct Prompts(pub(super) Registrations);

impl Resources {
    /// These resources.
    ///
    /// # Errors
    /// A key that is not `upstream/URI` or `upstream/template`, or an entry that contradicts itself.
    pub fn new(entries: impl IntoIterator<Item = (String, Entry)>) -> Result<Self, RegistryFault> {
        registered(Kind::Resource, entries).map(Self)
    }
}

impl Prompts {
    /// These prompts.
    ///
    /// # Errors
    /// A key that is not `upstream/name`, or an entry that contradicts itself.
    pub fn new(entries: impl IntoIterator<Item = (String, Entry)>) -> Result<Self, RegistryFault> {
        registered(Kind::Prompt, entries).map(Self)
    }
}

/// Checked entries of one kind.
pub(super) fn registered(
    kind: Kind,
    entries: impl IntoIterator<Item = (String, Entry)>,
) -> Result<Registrations, RegistryFault> {
    let checked = |(key, entry): (String, Entry)| {
        let Some((_, name)) = split(&key) else { return Err(RegistryFault::Key { kind, key }) };
        let template = (kind == Kind::Resource).then(|| Template::parse(name)).transpose();
        let template = template.map_err(|fault| RegistryFault::Template { key: key.clone(), fault })?;
        let registered = Registered::new(&key, entry, template)?;
        Ok((key, registered))
    };
    entries.into_iter().map(checked).collect()
}

/// What a key looks like.
pub(super) fn form(kind: Kind) -> &'static str {
    match kind {
        Kind::Tool => "`upstream/tool`, such as `tickets/get_ticket`",
        Kind::Resource => "`upstream/URI` or `upstream/template`, such as `tickets/ticket://{ticket_id}`",
        Kind::Prompt => "`upstream/prompt`, such as `manuals/diagnose_fault`",
    }
}

fn entries(registrations: Registrations) -> BTreeMap<String, Entry> {
    registrations.into_iter().map(|(key, registered)| (key, registered.entry)).collect()
}

fn schema(generator: &mut SchemaGenerator, description: &str) -> Schema {
    let mut schema = BTreeMap::<String, Entry>::json_schema(generator);
    schema.insert("description".to_owned(), description.into());
    schema
}

macro_rules! section {
    ($section:ident, $entries:ident => $inner:expr, $description:literal) => {
        impl TryFrom<BTreeMap<String, Entry>> for $section {
            type Error = RegistryFault;

            fn try_from(entries: BTreeMap<String, Entry>) -> Result<Self, Self::Error> {
                Self::new(entries)
            }
        }

        impl From<$section> for BTreeMap<String, Entry> {
            fn from($entries: $section) -> Self {
                entries($inner)
            }
        }

        impl JsonSchema for $section {
            fn schema_name() -> Cow<'static, str> {
                stringify!($section).into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                schema(generator, $description)
            }
        }
    };
}

section!(Registry, registry => registry.tools, "What each tool may do, under the key `upstream/tool`. A tool that is not here is prohibited.");
section!(Resources, resources => resources.0, "What may happen with each resource, under the key `upstream/URI` or `upstream/template`. A resource that is not here is prohibited.");
section!(Prompts, prompts => prompts.0, "What may happen with each prompt, under the key `upstream/prompt`. A prompt that is not here is prohibited.");
