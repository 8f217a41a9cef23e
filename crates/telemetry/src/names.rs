//! Names of attributes and instruments.
//!
//! `gen_ai.*`, `mcp.*`: OpenTelemetry semantic conventions for generative AI and MCP, in development (schema URL in
//! [`SCHEMA`]). `jsonrpc.*`, `rpc.*`, `network.*`, `server.*`, `client.*`, `error.type`: the core conventions. Where the
//! conventions renamed an attribute, the old name is written beside the new one. `skill.*`, `guardrail.*` and `atlas.*` have no
//! convention; `aldgate.*` are this program's own.

#[cfg(test)]
mod tests;

/// The conventions that these names follow.
pub const SCHEMA: &str = "https://opentelemetry.io/schemas/gen-ai/1.42.0";

/// `execute_tool`, `chat`, `invoke_agent`, `plan`.
pub const OPERATION: &str = "gen_ai.operation.name";
/// Who provides the model, such as `anthropic`.
pub const PROVIDER: &str = "gen_ai.provider.name";
/// The old name of [`PROVIDER`].
pub const SYSTEM: &str = "gen_ai.system";
/// The tool's name.
pub const TOOL: &str = "gen_ai.tool.name";
/// The model's id of a tool call.
pub const TOOL_CALL_ID: &str = "gen_ai.tool.call.id";
/// The description that the model read.
pub const TOOL_DESCRIPTION: &str = "gen_ai.tool.description";
/// `function`, `extension` or `datastore`.
pub const TOOL_TYPE: &str = "gen_ai.tool.type";
/// Arguments of a call; content.
pub const TOOL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
/// Result of a call; content.
pub const TOOL_RESULT: &str = "gen_ai.tool.call.result";
/// The contracts that the model could see; content.
pub const TOOL_DEFINITIONS: &str = "gen_ai.tool.definitions";
/// One agent run. Also the key in `_meta` under which an agent sends it.
pub const CONVERSATION: &str = "gen_ai.conversation.id";
/// The agent's name.
pub const AGENT: &str = "gen_ai.agent.name";
/// The prompt's name.
pub const PROMPT: &str = "gen_ai.prompt.name";
/// The model that was asked for.
pub const REQUEST_MODEL: &str = "gen_ai.request.model";
/// How many tokens the answer may have.
pub const MAX_TOKENS: &str = "gen_ai.request.max_tokens";
/// The model that answered.
pub const RESPONSE_MODEL: &str = "gen_ai.response.model";
/// The answer's id.
pub const RESPONSE_ID: &str = "gen_ai.response.id";
/// Why the model stopped.
pub const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
/// Tokens that the model read.
pub const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
/// Tokens that the model wrote.
pub const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";

/// The method, such as `tools/call`.
pub const METHOD: &str = "mcp.method.name";
/// The revision of the protocol.
pub const PROTOCOL_VERSION: &str = "mcp.protocol.version";
/// A resource's URI.
pub const RESOURCE_URI: &str = "mcp.resource.uri";
/// The request's id, as a string.
pub const REQUEST_ID: &str = "jsonrpc.request.id";
/// The old name of [`REQUEST_ID`].
pub const MCP_REQUEST_ID: &str = "mcp.request.id";
/// The code of a JSON-RPC error, as a string.
pub const STATUS_CODE: &str = "rpc.response.status_code";
/// What kind of failure: `tool_error`, a JSON-RPC code, or a word.
pub const ERROR_TYPE: &str = "error.type";
/// `tcp` or `pipe`.
pub const TRANSPORT: &str = "network.transport";
/// `http`.
pub const PROTOCOL: &str = "network.protocol.name";
/// Version of [`PROTOCOL`].
pub const HTTP_VERSION: &str = "network.protocol.version";
/// Where the server is.
pub const SERVER_ADDRESS: &str = "server.address";
/// Its port.
pub const SERVER_PORT: &str = "server.port";
/// Where the client is.
pub const CLIENT_ADDRESS: &str = "client.address";
/// Its port.
pub const CLIENT_PORT: &str = "client.port";

/// The skill that the agent works by. No convention.
pub const SKILL: &str = "skill.name";
/// Its version.
pub const SKILL_VERSION: &str = "skill.version";
/// `model` or `user`.
pub const SKILL_SOURCE: &str = "skill.invocation_source";
/// Which check decided. No convention.
pub const GUARDRAIL: &str = "guardrail.name";
/// `allow`, `require_approval` or `block`.
pub const GUARDRAIL_DECISION: &str = "guardrail.decision";
/// `http`, `inproc` or `stdio`. No convention.
pub const MCP_TRANSPORT: &str = "atlas.mcp.transport";

/// The gateway's id of a call, as in its evidence.
pub const CALL: &str = "aldgate.call.id";
/// The caller's tenant.
pub const TENANT: &str = "aldgate.tenant";
/// The caller's name.
pub const PRINCIPAL: &str = "aldgate.principal";
/// The upstream's name.
pub const UPSTREAM: &str = "aldgate.upstream";
/// Digest of the pinned contract.
pub const CONTRACT: &str = "aldgate.contract.digest";
/// The stable code of a refusal.
pub const REFUSAL: &str = "aldgate.refusal.code";
/// The approval that is asked for, waited for or redeemed.
pub const APPROVAL: &str = "aldgate.approval.id";
/// `pending`, `approved`, `denied`, `redeemed`, …
pub const APPROVAL_STATE: &str = "aldgate.approval.state";

/// Seconds that a request took where it was served.
pub const SERVER_DURATION: &str = "mcp.server.operation.duration";
/// Seconds that a request took where it was made.
pub const CLIENT_DURATION: &str = "mcp.client.operation.duration";
/// Bounds of the histograms' buckets, in seconds.
pub const DURATION_BOUNDS: [f64; 14] =
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];
