//! One prompt as the gateway offers it.

use std::sync::Arc;

use aldgate_authority::{Entry, Kind};
use aldgate_contract::Pin;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Source;
use super::offer::{Offer, listing};
use super::tool::ToolFault;
use crate::refusal::Refusal;

/// A pinned prompt and the host's registry entry for it.
pub(crate) struct Prompt {
    pub(crate) offer: Offer,
    pub(crate) arguments: Vec<PromptArgument>,
    /// The pinned definition, with the visible name and our `_meta` key.
    pub(crate) listing: Box<RawValue>,
}

/// One argument that the pinned definition names.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PromptArgument {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) required: bool,
}

#[derive(Deserialize)]
struct Definition {
    #[serde(default)]
    arguments: Vec<PromptArgument>,
}

impl Prompt {
    pub(super) fn build(
        source: &Arc<Source>,
        prefix: &str,
        pin: &Pin,
        entry: &Entry,
    ) -> Result<Self, ToolFault> {
        let offer = Offer::named(Kind::Prompt, source, prefix, pin, entry)?;
        let key = offer.key.clone();
        let unreadable = |why: String| ToolFault::Definition { tool: key.clone(), why };
        let definition: Definition =
            serde_json::from_str(pin.definition.get()).map_err(|fault| unreadable(fault.to_string()))?;
        let listing =
            listing(Some(&offer.visible), pin, entry).map_err(|fault| unreadable(fault.to_string()))?;
        Ok(Self { offer, arguments: definition.arguments, listing })
    }

    /// Checks the arguments against the pinned definition: none that it does not name, and all that it requires.
    pub(super) fn check(&self, arguments: Option<&RawValue>) -> Result<(), Refusal> {
        let given: std::collections::BTreeMap<String, String> = match arguments {
            Some(raw) => serde_json::from_str(raw.get()).map_err(|fault| {
                Refusal::params("`arguments` of a prompt must be an object of strings").because(fault)
            })?,
            None => Default::default(),
        };
        let visible = &self.offer.visible;
        let shown =
            |name: &str| -> String { name.chars().filter(|letter| !letter.is_control()).take(64).collect() };
        if let Some(name) = given.keys().find(|name| !self.has(name)) {
            let message = format!(
                "the prompt `{visible}` has no argument `{}`; `prompts/list` names those that it has",
                shown(name)
            );
            return Err(Refusal::params(message));
        }
        let missing = self.arguments.iter().find(|one| one.required && !given.contains_key(&one.name));
        match missing {
            Some(one) => {
                let name = shown(&one.name);
                Err(Refusal::params(format!("the prompt `{visible}` needs the argument `{name}`; send it")))
            }
            None => Ok(()),
        }
    }

    pub(super) fn has(&self, argument: &str) -> bool {
        self.arguments.iter().any(|one| one.name == argument)
    }
}
