//! What a completion asks for: which argument of which prompt or template, and what is typed of it already.

use std::collections::BTreeMap;

use aldgate_authority::Uri;
use aldgate_wire::request::Params;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::Target;
use crate::refusal::Refusal;
use crate::snapshot::Snapshot;

/// A completion, read and ready to be asked of the upstream. Members that the protocol does not know are left out.
pub(crate) struct Completion {
    /// The name of the argument.
    pub(crate) name: String,
    /// What is typed of it.
    pub(crate) value: String,
    /// The arguments that were chosen before, an object of strings.
    pub(crate) chosen: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Reference {
    #[serde(rename = "ref/prompt")]
    Prompt { name: String },
    #[serde(rename = "ref/resource")]
    Resource { uri: String },
}

#[derive(Deserialize)]
struct Argument {
    name: String,
    value: String,
}

#[derive(Deserialize)]
struct Context {
    #[serde(default)]
    arguments: Option<BTreeMap<String, String>>,
}

impl Completion {
    /// Reads a completion, and finds what it is about.
    pub(super) fn read(
        snapshot: &Snapshot,
        tenant: &str,
        params: &Params,
    ) -> Result<(Target, String, Completion), Refusal> {
        let odd = |what: &'static str| {
            move |fault: serde_json::Error| Refusal::params(what.to_owned()).because(fault)
        };
        let reference: Reference = read(params.reference.as_deref())
            .map_err(odd("`ref` must be `{\"type\": \"ref/prompt\", \"name\": …}` or `{\"type\": \"ref/resource\", \"uri\": …}`"))?;
        let argument: Argument = read(params.argument.as_deref())
            .map_err(odd("`argument` must be `{\"name\": …, \"value\": …}` with two strings"))?;
        let context: Context = match params.context.as_deref() {
            Some(raw) => serde_json::from_str(raw.get())
                .map_err(odd("`context` must be `{\"arguments\": {…}}` with strings"))?,
            None => Context { arguments: None },
        };
        let chosen = context.arguments.map(|all| to_raw_value(&all)).transpose();
        let chosen = chosen.map_err(odd("`context` cannot be read"))?;
        let (target, named) = find(snapshot, tenant, reference)?;
        let has = match &target {
            Target::Prompt(prompt) => prompt.has(&argument.name),
            Target::Resource(resource) => resource.template.variables().any(|name| name == argument.name),
            Target::Tool(_) => false,
        };
        if !has {
            let name: String = argument.name.chars().filter(|letter| !letter.is_control()).take(64).collect();
            return Err(Refusal::params(format!("`{named}` has no argument `{name}` to complete")));
        }
        Ok((target, named, Self { name: argument.name, value: argument.value, chosen }))
    }

    /// The members of `params` for the upstream.
    pub(crate) fn members(
        &self,
        target: &Target,
    ) -> Result<Vec<(&'static str, Box<RawValue>)>, serde_json::Error> {
        let name = &target.offer().name;
        let reference = match target {
            Target::Resource(_) => json!({"type": "ref/resource", "uri": name}),
            Target::Prompt(_) | Target::Tool(_) => json!({"type": "ref/prompt", "name": name}),
        };
        let mut members = vec![
            ("ref", to_raw_value(&reference)?),
            ("argument", to_raw_value(&json!({"name": self.name, "value": self.value}))?),
        ];
        if let Some(chosen) = &self.chosen {
            members.push(("context", to_raw_value(&BTreeMap::from([("arguments", chosen)]))?));
        }
        Ok(members)
    }

    /// What is asked, as one object of arguments: for digests alone.
    pub(super) fn digested(&self) -> Result<Box<RawValue>, serde_json::Error> {
        to_raw_value(&json!({"name": self.name, "value": self.value, "chosen": self.chosen}))
    }
}

fn read<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Result<T, serde_json::Error> {
    serde_json::from_str(raw.map_or("null", RawValue::get))
}

fn find(snapshot: &Snapshot, tenant: &str, reference: Reference) -> Result<(Target, String), Refusal> {
    match reference {
        Reference::Prompt { name } => match snapshot.catalog.prompt(tenant, &name) {
            Some(prompt) => Ok((Target::Prompt(prompt.clone()), name)),
            None => Err(Refusal::unknown_prompt(&name)),
        },
        Reference::Resource { uri } => {
            let registry = snapshot.authorizer.registry();
            let by_uri = || snapshot.catalog.resource(tenant, registry, &Uri::parse(&uri).ok()?);
            match snapshot.catalog.template(tenant, &uri).or_else(by_uri) {
                Some(resource) => Ok((Target::Resource(resource), uri)),
                None => Err(Refusal::unknown_resource(&uri)),
            }
        }
    }
}
