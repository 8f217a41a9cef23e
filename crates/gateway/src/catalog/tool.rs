//! One tool as the gateway offers it.

use std::sync::Arc;

use aldgate_authority::{Entry, Hints};
use aldgate_contract::Pin;
use aldgate_wire::header::{ParamHeader, param_headers};
use aldgate_wire::replace::{replaced, replaced_at};
use aldgate_wire::tool::view;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::{Source, Validator, schema};

/// A pinned contract, the host's registry entry for it, and what both need at run time.
pub(crate) struct Tool {
    /// The name that clients see.
    pub(crate) visible: String,
    /// `upstream/tool`
    pub(crate) key: String,
    /// The name that the upstream knows.
    pub(crate) name: String,
    pub(crate) source: Arc<Source>,
    /// Digest of the pinned contract.
    pub(crate) contract: String,
    pub(crate) entry: Entry,
    pub(crate) hints: Hints,
    pub(crate) title: Option<String>,
    pub(crate) input_schema: Value,
    /// The names of the properties that the input schema declares.
    pub(crate) declared: Vec<String>,
    pub(crate) input: Validator,
    pub(crate) output: Option<Validator>,
    pub(crate) params: Vec<ParamHeader>,
    /// The pinned definition, with the visible name and our `_meta` key.
    pub(crate) listing: Box<RawValue>,
}

/// Why a pinned contract cannot be offered.
#[derive(Debug, thiserror::Error)]
pub enum ToolFault {
    /// A name that model APIs do not take.
    #[error(
        "`{tool}` would be visible as `{name}`, but visible names have 1 to 64 of `A-Z a-z 0-9 _ -`; give it an `as` name in the registry"
    )]
    Name {
        /// `upstream/tool`
        tool: String,
        /// The name.
        name: String,
    },
    /// A definition that cannot be read.
    #[error("the pinned definition of `{tool}` cannot be read: {why}")]
    Definition {
        /// `upstream/tool`
        tool: String,
        /// Why not.
        why: String,
    },
    /// A schema that cannot be held to.
    #[error("the {side} schema of `{tool}` cannot be used")]
    Schema {
        /// `upstream/tool`
        tool: String,
        /// `input` or `output`.
        side: &'static str,
        /// Why not.
        source: schema::SchemaFault,
    },
}

impl Tool {
    pub(super) fn build(
        source: &Arc<Source>,
        prefix: &str,
        pin: &Pin,
        entry: &Entry,
    ) -> Result<Self, ToolFault> {
        let key = format!("{}/{}", source.upstream.name(), pin.name);
        let unreadable = |why: String| ToolFault::Definition { tool: key.clone(), why };
        let visible = entry.expose_as.clone().unwrap_or_else(|| format!("{prefix}{}", pin.name));
        if !is_visible_name(&visible) {
            return Err(ToolFault::Name { tool: key, name: visible });
        }
        let view = view(&pin.definition).map_err(|fault| unreadable(fault.to_string()))?;
        let compile = |side: &'static str, raw: &RawValue| {
            Validator::compile(raw).map_err(|source| ToolFault::Schema { tool: key.clone(), side, source })
        };
        let input = compile("input", &view.input_schema)?;
        let output = view.output_schema.as_deref().map(|raw| compile("output", raw)).transpose()?;
        let input_schema: Value =
            serde_json::from_str(view.input_schema.get()).map_err(|fault| unreadable(fault.to_string()))?;
        let params = param_headers(&input_schema).map_err(|fault| unreadable(fault.to_string()))?;
        let listing = listing(&visible, pin, entry).map_err(|fault| unreadable(fault.to_string()))?;
        Ok(Self {
            name: pin.name.clone(),
            source: source.clone(),
            contract: pin.digest.to_string(),
            entry: entry.clone(),
            hints: Hints {
                read_only: view.hints.read_only,
                destructive: view.hints.destructive,
                idempotent: view.hints.idempotent,
                open_world: view.hints.open_world,
            },
            title: view.title,
            declared: input_schema
                .get("properties")
                .and_then(Value::as_object)
                .map(|properties| properties.keys().cloned().collect())
                .unwrap_or_default(),
            input_schema,
            input,
            output,
            params,
            listing,
            visible,
            key,
        })
    }
}

/// What every model API takes as a tool's name.
fn is_visible_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// The pinned definition as it is listed: the visible name, and what the host says of it under our own key. Every other
/// byte is the pinned one.
fn listing(visible: &str, pin: &Pin, entry: &Entry) -> Result<Box<RawValue>, Box<dyn std::error::Error>> {
    let said = to_raw_value(&serde_json::json!({
        "digest": pin.digest.to_string(),
        "version": pin.version,
        "authority": entry.authority,
        "readOnly": entry.read_only,
        "boundaries": entry.boundaries,
    }))?;
    let named = replaced(&pin.definition, &[("name", &to_raw_value(visible)?)])?;
    Ok(replaced_at(&named, &["_meta", "io.github.aldgate/contract"], &said)?)
}
