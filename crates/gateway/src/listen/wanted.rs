//! What a client wants to hear of.

use std::collections::BTreeSet;

use aldgate_wire::request::Request;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::refusal::Refusal;

/// Bytes of all URIs of one subscription.
const MOST_BYTES: usize = 64 << 10;

/// A list whose changes can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum ListChange {
    Tools,
    Prompts,
    /// Resources and templates alike.
    Resources,
}

impl ListChange {
    pub(crate) const ALL: [Self; 3] = [Self::Tools, Self::Prompts, Self::Resources];

    /// The member of `notifications` that asks for it.
    pub(crate) const fn member(self) -> &'static str {
        match self {
            Self::Tools => "toolsListChanged",
            Self::Prompts => "promptsListChanged",
            Self::Resources => "resourcesListChanged",
        }
    }

    /// The notification that tells it.
    pub(crate) const fn method(self) -> &'static str {
        match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Prompts => "notifications/prompts/list_changed",
            Self::Resources => "notifications/resources/list_changed",
        }
    }
}

/// Some of the lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lists {
    pub(crate) tools: bool,
    pub(crate) prompts: bool,
    pub(crate) resources: bool,
}

impl Lists {
    pub(crate) fn has(self, list: ListChange) -> bool {
        match list {
            ListChange::Tools => self.tools,
            ListChange::Prompts => self.prompts,
            ListChange::Resources => self.resources,
        }
    }

    pub(crate) fn any(self) -> bool {
        self.tools || self.prompts || self.resources
    }
}

/// What a client wants to hear of. Types that the gateway does not know are not honoured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) lists: Lists,
    pub(crate) uris: BTreeSet<String>,
}

impl Wanted {
    /// Whether anything is.
    pub(crate) fn any(&self) -> bool {
        self.lists.any() || !self.uris.is_empty()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Filter {
    tools_list_changed: Option<bool>,
    prompts_list_changed: Option<bool>,
    resources_list_changed: Option<bool>,
    resource_subscriptions: Option<Vec<String>>,
}

impl Wanted {
    /// Reads what a request asks for, of `most` resources.
    pub(crate) fn read(request: &Request, most: usize) -> Result<Self, Refusal> {
        let raw = request.params.notifications.as_deref().map_or("{}", RawValue::get);
        let filter: Filter = serde_json::from_str(raw).map_err(|fault| {
            let message = "`notifications` must have booleans `toolsListChanged`, `promptsListChanged` and \
                 `resourcesListChanged`, and `resourceSubscriptions`, an array of URIs; each may be left out";
            Refusal::params(message).because(fault)
        })?;
        let uris: BTreeSet<String> = filter.resource_subscriptions.unwrap_or_default().into_iter().collect();
        let bytes: usize = uris.iter().map(String::len).sum();
        if bytes > MOST_BYTES {
            let message = format!(
                "the URIs have {bytes} bytes together, at most {MOST_BYTES} are taken for one subscription; listen more than once"
            );
            return Err(Refusal::params(message));
        }
        if uris.len() > most {
            let message = format!(
                "{} resources are too many for one subscription, at most {most} are taken; listen more than once, or \
                 raise `listen_uris`",
                uris.len()
            );
            return Err(Refusal::params(message));
        }
        let lists = Lists {
            tools: filter.tools_list_changed == Some(true),
            prompts: filter.prompts_list_changed == Some(true),
            resources: filter.resources_list_changed == Some(true),
        };
        Ok(Self { lists, uris })
    }

    /// The same as a filter: what is not wanted is left out.
    pub(crate) fn as_filter(&self) -> Value {
        let mut filter = serde_json::Map::new();
        for list in ListChange::ALL.into_iter().filter(|list| self.lists.has(*list)) {
            filter.insert(list.member().to_owned(), true.into());
        }
        if !self.uris.is_empty() {
            filter.insert("resourceSubscriptions".to_owned(), json!(self.uris));
        }
        filter.into()
    }
}
