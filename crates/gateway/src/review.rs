//! Checking that locks, registry and policies fit together, without starting anything.

use std::sync::Arc;

use aldgate_authority::{Authorizer, AuthorizerFault, Concern, PolicySet, Registry, ToolContract};
use serde_json::{Value, json};

use crate::catalog::{Asking, Catalog, Source, Stand, Standing, Watched};
use crate::gateway::StartFault;
use crate::settings::{Credential, Pins, Signatures, UpstreamSettings};
use crate::upstream::Upstream;

/// One tool of a reviewed configuration.
pub struct ReviewedTool {
    /// The name that clients see.
    pub visible: String,
    /// `upstream/tool`
    pub key: String,
    /// The host's name of the upstream.
    pub upstream: String,
    /// The name that the upstream knows.
    pub tool: String,
    /// Digest of the pinned contract.
    pub contract: String,
    /// What the server says of it.
    pub hints: aldgate_authority::Hints,
    /// The pinned input schema.
    pub input_schema: Value,
}

/// One resource of a reviewed configuration.
pub struct ReviewedResource {
    /// `upstream/URI` or `upstream/template`, as the registry writes it.
    pub key: String,
    /// The host's name of the upstream.
    pub upstream: String,
    /// The URI or template.
    pub template: String,
    /// Digest of the pinned template; empty where none is pinned under this text.
    pub contract: String,
}

/// One prompt of a reviewed configuration.
pub struct ReviewedPrompt {
    /// The name that clients see.
    pub visible: String,
    /// `upstream/prompt`
    pub key: String,
    /// The host's name of the upstream.
    pub upstream: String,
    /// The name that the upstream knows.
    pub prompt: String,
    /// Digest of the pinned contract.
    pub contract: String,
    /// The pinned arguments, objects with `name` and `required`.
    pub arguments: Value,
}

/// A configuration that was checked without starting anything.
pub struct Reviewed {
    /// The tools that would be offered.
    pub tools: Vec<ReviewedTool>,
    /// The resources that could be read.
    pub resources: Vec<ReviewedResource>,
    /// The prompts that would be offered.
    pub prompts: Vec<ReviewedPrompt>,
    /// What would be held back, and why.
    pub held_back: Vec<(Concern, String)>,
    /// Registry and policies, ready to rule.
    pub authorizer: Authorizer,
}

/// Checks that locks, registry and policies fit together. Connects to nothing.
///
/// # Errors
/// What [`crate::Gateway::start`] would say.
pub fn review(
    upstreams: Vec<UpstreamSettings>,
    registry: Registry,
    policies: PolicySet,
    signatures: &Signatures,
) -> Result<Reviewed, StartFault> {
    let mut sources = Vec::with_capacity(upstreams.len());
    for one in upstreams {
        let Pins::Locked(lock) = one.pins else { continue };
        let upstream = Upstream::new(&one.name, one.transport, &Credential::None)
            .map_err(|source| StartFault::Upstream { name: one.name.clone(), source })?;
        sources.push((
            Source::new(
                upstream,
                Asking { kinds: one.may_ask, origins: one.ask_origins },
                lock,
                Stand::of(Standing::default()),
                Watched { verify_every: one.verify_every, on_drift: one.on_drift, log: None, reviewed: true },
                1,
                Arc::default(),
            ),
            one.prefix,
        ));
    }
    let catalog = Catalog::build(sources, &registry, signatures, true)?;
    let authorizer = authorizer(&catalog, registry, policies)?;
    let tools = catalog
        .tools()
        .map(|tool| ReviewedTool {
            visible: tool.offer.visible.clone(),
            key: tool.offer.key.clone(),
            upstream: tool.offer.source.upstream.name().to_owned(),
            tool: tool.offer.name.clone(),
            contract: tool.offer.contract.to_string(),
            hints: tool.hints,
            input_schema: tool.input_schema.clone(),
        })
        .collect();
    let resources = catalog
        .resources()
        .map(|resource| ReviewedResource {
            key: resource.offer.key.clone(),
            upstream: resource.offer.source.upstream.name().to_owned(),
            template: resource.offer.name.clone(),
            contract: resource.offer.contract.to_string(),
        })
        .collect();
    let prompts = catalog
        .prompts()
        .map(|prompt| ReviewedPrompt {
            visible: prompt.offer.visible.clone(),
            key: prompt.offer.key.clone(),
            upstream: prompt.offer.source.upstream.name().to_owned(),
            prompt: prompt.offer.name.clone(),
            contract: prompt.offer.contract.to_string(),
            arguments: prompt
                .arguments
                .iter()
                .map(|one| json!({"name": one.name, "required": one.required}))
                .collect(),
        })
        .collect();
    let held_back =
        catalog.held_back.iter().map(|held| (Concern::parse(&held.tool), held.why.clone())).collect();
    Ok(Reviewed { tools, resources, prompts, held_back, authorizer })
}

/// Registry and policies, ready to rule on the tools of a catalogue.
pub(crate) fn authorizer(
    catalog: &Catalog,
    registry: Registry,
    policies: PolicySet,
) -> Result<Authorizer, AuthorizerFault> {
    let schemas: Vec<(&str, &str, Value)> = catalog
        .tools()
        .map(|tool| (tool.offer.source.upstream.name(), tool.offer.name.as_str(), tool.input_schema.clone()))
        .collect();
    let contracts: Vec<_> = schemas
        .iter()
        .map(|(upstream, tool, input_schema)| ToolContract { upstream, tool, input_schema })
        .collect();
    Authorizer::new(registry, policies)?.with_contracts(&contracts)
}
