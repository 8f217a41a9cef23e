//! One tool as the gateway offers it.

use std::sync::Arc;

use aldgate_authority::{Entry, Hints, Kind};
use aldgate_contract::{Pin, SchemaFault, Validator};
use aldgate_wire::header::{AnnotationFault, ParamHeader, param_headers};
use aldgate_wire::tool::view;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Source;
use super::offer::{Offer, listing};

/// A pinned contract, the host's registry entry for it, and what both need at run time.
pub(crate) struct Tool {
    pub(crate) offer: Offer,
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
    /// An argument that is to be mirrored in a header, and cannot be: a client must leave out such a tool.
    #[error("an `x-mcp-header` annotation of `{tool}` is not valid")]
    Header {
        /// `upstream/tool`
        tool: String,
        /// Why not.
        source: AnnotationFault,
    },
    /// A schema that cannot be held to.
    #[error("the {side} schema of `{tool}` cannot be used")]
    Schema {
        /// `upstream/tool`
        tool: String,
        /// `input` or `output`.
        side: &'static str,
        /// Why not.
        source: SchemaFault,
    },
}

impl Tool {
    pub(super) fn build(
        source: &Arc<Source>,
        prefix: &str,
        pin: &Pin,
        entry: &Entry,
    ) -> Result<Self, ToolFault> {
        let offer = Offer::named(Kind::Tool, source, prefix, pin, entry)?;
        let key = offer.key.clone();
        let unreadable = |why: String| ToolFault::Definition { tool: key.clone(), why };
        let view = view(&pin.definition).map_err(|fault| unreadable(fault.to_string()))?;
        let compile = |side: &'static str, raw: &RawValue| {
            Validator::compile(raw).map_err(|source| ToolFault::Schema { tool: key.clone(), side, source })
        };
        let input = compile("input", &view.input_schema)?;
        let output = view.output_schema.as_deref().map(|raw| compile("output", raw)).transpose()?;
        let input_schema: Value =
            serde_json::from_str(view.input_schema.get()).map_err(|fault| unreadable(fault.to_string()))?;
        let params =
            param_headers(&input_schema).map_err(|source| ToolFault::Header { tool: key.clone(), source })?;
        let listing =
            listing(Some(&offer.visible), pin, entry).map_err(|fault| unreadable(fault.to_string()))?;
        Ok(Self {
            offer,
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
        })
    }
}
