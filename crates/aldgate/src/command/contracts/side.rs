//! One side of a comparison: a file, a server, or a lock.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use aldgate_contract::{Kind, Lock};
use aldgate_gateway::LiveContracts;
use aldgate_gateway::settings::{Credential, OnDrift, Pins, Transport, UpstreamSettings};
use aldgate_wire::guard::{self, Limits};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::fault::ReviewFault;
use super::locks;
use crate::fault::CommandFault;
use crate::out;

/// A file may hold as much as a lock, each definition as deep as one may be.
const LIMITS: Limits = Limits { max_bytes: 64 << 20, max_depth: 69 };

/// Definitions by name, for each kind that this side tells of.
pub(super) struct Side {
    /// What it is called in the output.
    pub(super) label: String,
    /// The definitions.
    pub(super) contracts: BTreeMap<Kind, BTreeMap<String, String>>,
    /// Whether it is one definition alone, rather than a list of one.
    pub(super) is_single: bool,
    /// What the server calls itself, where it is known.
    pub(super) server: Option<String>,
    /// Elements that cannot be read.
    pub(super) unreadable: Vec<String>,
}

/// A list as a server answers it, in its envelope or without.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Lists {
    tools: Option<Vec<Box<RawValue>>>,
    resource_templates: Option<Vec<Box<RawValue>>>,
    prompts: Option<Vec<Box<RawValue>>>,
}

/// The text of a file, and no more of it than is looked at.
fn read(path: &Path) -> std::io::Result<String> {
    let most = u64::try_from(LIMITS.max_bytes).unwrap_or(u64::MAX);
    let mut text = String::new();
    File::open(path)?.take(most.saturating_add(1)).read_to_string(&mut text)?;
    Ok(text)
}

impl Side {
    /// Reads a file, or asks a server where it is a URL.
    pub(super) async fn of(text: &str, bearer: Option<&str>) -> miette::Result<Self> {
        if text.starts_with("http://") || text.starts_with("https://") {
            return Self::server(text, bearer).await;
        }
        let path = Path::new(text);
        let content = read(path).map_err(CommandFault::file(path, "read"))?;
        Ok(Self::file(text, &content)?)
    }

    /// What a lock pins.
    pub(super) fn lock(label: String, lock: &Lock) -> Self {
        let pins = |kind: Kind| {
            let pins = lock.pins(kind).iter();
            (kind, pins.map(|(name, pin)| (name.clone(), pin.definition.get().to_owned())).collect())
        };
        let contracts = Kind::ALL.into_iter().map(pins).collect();
        let server = lock.upstream.server.clone();
        Self { label, contracts, is_single: false, server, unreadable: Vec::new() }
    }

    /// What a server serves now.
    pub(super) fn live(label: String, live: &LiveContracts) -> Self {
        let mut unreadable = live.unreadable().to_vec();
        let mut contracts = BTreeMap::new();
        for kind in Kind::ALL {
            let mut found = BTreeMap::new();
            let mut repeated = BTreeSet::new();
            for (name, definition) in live.definitions(kind) {
                if found.insert(name.to_owned(), definition.to_owned()).is_some() {
                    repeated.insert(name.to_owned());
                }
            }
            for name in repeated {
                found.remove(&name);
                unreadable.push(format!("{kind} {name}: the list has two of this name"));
            }
            contracts.insert(kind, found);
        }
        Self { label, contracts, is_single: false, server: live.identity().server, unreadable }
    }

    async fn server(url: &str, bearer: Option<&str>) -> miette::Result<Self> {
        let shown = out::plain(url);
        let uri = url.parse().map_err(|_| {
            CommandFault::usage(format!("`{shown}` is not a URL of the form `http://host:port/path`"))
        })?;
        let settings = UpstreamSettings {
            name: shown,
            prefix: String::new(),
            tenants: None,
            transport: Transport::Http(uri),
            credential: bearer.map_or(Credential::None, |bearer| Credential::Bearer(bearer.to_owned())),
            pins: Pins::FirstUse,
            may_ask: Vec::new(),
            ask_origins: Vec::new(),
            verify_every: std::time::Duration::from_secs(60),
            on_drift: OnDrift::default(),
        };
        let live = locks::live(&settings).await?;
        Ok(Self::live(settings.name.clone(), &live))
    }

    fn file(label: &str, content: &str) -> Result<Self, ReviewFault> {
        let shown = out::plain(label);
        let fault = |why: String| ReviewFault::Compare {
            what: format!("`{shown}` cannot be compared: {why}"),
            help: Some(
                "expected the JSON of a definition, of a list as `tools/list` answers it, or of a lock"
                    .to_owned(),
            ),
        };
        guard::check(content.as_bytes(), &LIMITS).map_err(|why| fault(out::plain(&why.to_string())))?;
        let value: Value =
            serde_json::from_str(content).map_err(|why| fault(out::plain(&why.to_string())))?;
        if value.get("format").is_some() && value.get("upstream").is_some() {
            let lock = Lock::parse(content).map_err(|why| fault(out::plain(&why.to_string())))?;
            return Ok(Self::lock(shown, &lock));
        }
        let mut side = Self {
            label: shown.clone(),
            contracts: BTreeMap::new(),
            is_single: false,
            server: None,
            unreadable: Vec::new(),
        };
        let unread = |_| fault("it is neither".to_owned());
        let lists: Lists = if value.is_array() {
            let tools = serde_json::from_str(content).map_err(unread)?;
            Lists { tools: Some(tools), resource_templates: None, prompts: None }
        } else if value.get("result").is_some() {
            #[derive(Deserialize)]
            struct Envelope {
                result: Lists,
            }
            serde_json::from_str::<Envelope>(content).map_err(unread)?.result
        } else if value.get("name").is_some() || value.get("uriTemplate").is_some() {
            let kind = kind_of(&value);
            let raw: Box<RawValue> = serde_json::from_str(content).map_err(unread)?;
            side.is_single = true;
            side.add(kind, vec![raw]).map_err(fault)?;
            return Ok(side);
        } else {
            serde_json::from_str(content).map_err(unread)?
        };
        let kinds = [
            (Kind::Tool, lists.tools),
            (Kind::ResourceTemplate, lists.resource_templates),
            (Kind::Prompt, lists.prompts),
        ];
        for (kind, list) in kinds {
            if let Some(list) = list {
                side.add(kind, list).map_err(fault)?;
            }
        }
        if side.contracts.is_empty() {
            return Err(fault("it is neither".to_owned()));
        }
        Ok(side)
    }

    fn add(&mut self, kind: Kind, list: Vec<Box<RawValue>>) -> Result<(), String> {
        let found = self.contracts.entry(kind).or_default();
        for (index, raw) in list.into_iter().enumerate() {
            let value: Value = serde_json::from_str(raw.get()).unwrap_or_default();
            let Some(name) = value.get(kind.key()).and_then(Value::as_str) else {
                return Err(format!("{kind} number {} has no `{}`", index + 1, kind.key()));
            };
            if found.insert(name.to_owned(), raw.get().to_owned()).is_some() {
                return Err(format!("there are two {kind}s `{}`", out::plain(name)));
            }
        }
        Ok(())
    }
}

/// What a definition alone is of; a prompt without arguments has nothing that a tool has not.
fn kind_of(definition: &Value) -> Kind {
    if definition.get("uriTemplate").is_some() {
        Kind::ResourceTemplate
    } else if definition.get("arguments").is_some_and(Value::is_array)
        && definition.get("inputSchema").is_none()
    {
        Kind::Prompt
    } else {
        Kind::Tool
    }
}
