//! What an upstream serves now: its identity, what it can, and its lists.
//!
//! **Invariant:** a [`HostFetch`] carries nothing that a client sent, and is made in this file alone.

use std::collections::BTreeMap;
use std::time::Duration;

use aldgate_contract::{Item, Kind};
use aldgate_wire::list::ListKind;
use aldgate_wire::request::Method;
use serde_json::value::RawValue;

use crate::chain::chain;
use crate::settings::Bounds;
use crate::upstream::{Abilities, ExchangeFault, Upstream};

/// Bytes of the live lists that are kept at most.
const MAX_BYTES: usize = 64 << 20;
/// How long an upstream may take for one page of its list, where a call may take longer.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// How long it may take for the whole of it.
const MAX_COMPARISON: Duration = Duration::from_secs(30);

/// A request that the gateway makes on its own behalf.
pub struct HostFetch {
    method: Method,
    cursor: Option<String>,
}

impl HostFetch {
    fn list(kind: ListKind, cursor: Option<String>) -> Self {
        let method = match kind {
            ListKind::Tools => Method::ListTools,
            ListKind::Resources => Method::ListResources,
            ListKind::Templates => Method::ListTemplates,
            ListKind::Prompts => Method::ListPrompts,
        };
        Self { method, cursor }
    }

    fn identity() -> Self {
        Self { method: Method::Discover, cursor: None }
    }

    pub(crate) fn method(&self) -> Method {
        self.method
    }

    pub(crate) fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }
}

/// Definitions by what names them, in the upstream's order.
pub(crate) type Definitions = Vec<(String, Box<RawValue>)>;

/// What an upstream serves now.
#[derive(Debug)]
pub(crate) struct LiveList {
    /// What is pinned and compared.
    pub(crate) contracts: BTreeMap<Kind, Definitions>,
    /// The resources that it lists, by URI. They are data, not contracts: what may be listed and read of them, the
    /// registry says.
    pub(crate) resources: Result<Definitions, LiveFault>,
    /// Elements that could not be read, in words.
    pub(crate) unreadable: Vec<String>,
    /// Those of them that have a name, with why they could not be read.
    pub(crate) refused: BTreeMap<Item, String>,
    /// `serverInfo.name`, as the upstream says it.
    pub(crate) server: Option<String>,
    /// What the upstream says that it can.
    pub(crate) abilities: Abilities,
}

/// Why a live list could not be had.
#[derive(Debug, thiserror::Error)]
pub enum LiveFault {
    /// The upstream was not reached, or did not answer as the protocol says.
    #[error("upstream `{upstream}` could not be asked for what it serves")]
    Exchange {
        /// Its name.
        upstream: String,
        /// Why not.
        source: ExchangeFault,
    },
    /// Too slow.
    #[error("upstream `{upstream}` did not list what it serves within {} s", MAX_COMPARISON.as_secs())]
    Slow {
        /// Its name.
        upstream: String,
    },
    /// An error or a result of another form.
    #[error("upstream `{upstream}` answered its list request with something else: {found}")]
    Answer {
        /// Its name.
        upstream: String,
        /// What it answered.
        found: String,
    },
    /// More than is read.
    #[error(
        "upstream `{upstream}` lists more than {items} {of}s, {pages} pages or {MAX_BYTES} bytes of them; raise `list_items` or `list_pages` if it should"
    )]
    Endless {
        /// Its name.
        upstream: String,
        /// Of what.
        of: ListKind,
        /// The most elements.
        items: usize,
        /// The most pages.
        pages: usize,
    },
}

/// Fetches an upstream's whole live lists.
pub(crate) async fn live_list(upstream: &Upstream, bounds: &Bounds) -> Result<LiveList, LiveFault> {
    let slow = || LiveFault::Slow { upstream: upstream.name().to_owned() };
    tokio::time::timeout(MAX_COMPARISON, whole(upstream, bounds)).await.unwrap_or_else(|_| Err(slow()))
}

async fn whole(upstream: &Upstream, bounds: &Bounds) -> Result<LiveList, LiveFault> {
    let bounds = &Bounds {
        call_timeout: bounds.call_timeout.min(MAX_WAIT),
        longest_call: bounds.longest_call.min(MAX_WAIT),
        ..bounds.clone()
    };
    let discovered = upstream.fetch(HostFetch::identity(), bounds).await;
    let discovered =
        discovered.map_err(|source| LiveFault::Exchange { upstream: upstream.name().to_owned(), source })?;
    let odd = |found: String| LiveFault::Answer { upstream: upstream.name().to_owned(), found };
    let result = discovered.result().map_err(odd)?;
    let mut live = LiveList {
        contracts: BTreeMap::new(),
        resources: Ok(Vec::new()),
        unreadable: Vec::new(),
        refused: BTreeMap::new(),
        server: result.server_name(),
        abilities: result.abilities(),
    };
    let mut bytes = 0;
    // Contracts first: what a server has of resources is to hold nothing else up.
    for kind in [ListKind::Tools, ListKind::Templates, ListKind::Prompts] {
        let served = match kind {
            // Older servers that have tools do not always say so.
            ListKind::Tools => true,
            ListKind::Prompts => live.abilities.prompts,
            ListKind::Resources | ListKind::Templates => live.abilities.resources,
        };
        let definitions = if served {
            list(upstream, bounds, kind, &mut live, &mut bytes).await?
        } else {
            Definitions::new()
        };
        if let Some(kind) = contract_kind(kind) {
            live.contracts.insert(kind, definitions);
        }
    }
    if live.abilities.resources {
        live.resources = list(upstream, bounds, ListKind::Resources, &mut live, &mut bytes).await;
    }
    Ok(live)
}

/// The contracts that a list holds.
fn contract_kind(kind: ListKind) -> Option<Kind> {
    match kind {
        ListKind::Tools => Some(Kind::Tool),
        ListKind::Templates => Some(Kind::ResourceTemplate),
        ListKind::Prompts => Some(Kind::Prompt),
        ListKind::Resources => None,
    }
}

/// One whole list. A server that does not know the method has nothing of the kind.
async fn list(
    upstream: &Upstream,
    bounds: &Bounds,
    kind: ListKind,
    live: &mut LiveList,
    bytes: &mut usize,
) -> Result<Definitions, LiveFault> {
    let odd = |found: String| LiveFault::Answer { upstream: upstream.name().to_owned(), found };
    let (items, pages) = (bounds.list_items, bounds.list_pages);
    let endless = || LiveFault::Endless { upstream: upstream.name().to_owned(), of: kind, items, pages };
    let mut found = Definitions::new();
    let mut unreadable = 0;
    let mut cursor = None;
    for _ in 0..pages {
        let fetched = upstream.fetch(HostFetch::list(kind, cursor), bounds).await;
        let answer =
            fetched.map_err(|source| LiveFault::Exchange { upstream: upstream.name().to_owned(), source })?;
        if answer.is_unknown_method() {
            return Ok(found);
        }
        let page = answer.page(kind).map_err(odd)?;
        *bytes += page.items.iter().map(|(name, raw)| name.len() + raw.get().len()).sum::<usize>();
        unreadable += page.refused.len();
        found.extend(page.items);
        for (index, key, why) in page.refused {
            let name = key.clone().unwrap_or_else(|| format!("number {index}"));
            live.unreadable.push(format!("{kind} {name}: {why}"));
            if let (Some(kind), Some(name)) = (contract_kind(kind), key) {
                live.refused.insert(Item { kind, name }, why);
            }
        }
        if found.len() + unreadable > items || *bytes > MAX_BYTES {
            return Err(endless());
        }
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => return Ok(found),
        }
    }
    Err(endless())
}

impl LiveList {
    /// Leaves out the definitions that have no canonical form, and says which and why.
    pub(crate) fn leave_out_unfit(&mut self) -> Vec<String> {
        let mut told = Vec::new();
        for (kind, definitions) in &mut self.contracts {
            definitions.retain(|(name, definition)| match aldgate_contract::fingerprint(definition.get()) {
                Ok(_) => true,
                Err(fault) => {
                    told.push(format!("{kind} {name}: {}", chain(&fault)));
                    false
                }
            });
        }
        told
    }

    /// The live definitions of what is pinned and compared, by kind and name.
    pub(crate) fn definitions(&self) -> BTreeMap<(Kind, &str), &str> {
        let all = self.contracts.iter().flat_map(|(kind, list)| list.iter().map(|one| (*kind, one)));
        all.map(|(kind, (name, raw))| ((kind, name.as_str()), raw.get())).collect()
    }

    /// What is pinned and compared, as the lock takes it.
    pub(crate) fn as_live(&self) -> aldgate_contract::Live<'_> {
        self.contracts.iter().fold(aldgate_contract::Live::default(), |live, (kind, definitions)| {
            live.with(*kind, definitions.iter().map(|(name, raw)| (name.as_str(), raw.get())))
        })
    }
}
