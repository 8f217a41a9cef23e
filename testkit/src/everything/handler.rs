//! From `rmcp`'s calls to the fixtures, and back.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    DiscoverResult, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation,
    InputRequiredResult, InputResponses, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, RequestStateCodec, ServerCapabilities, ServerConfig,
    SubscriptionFilter, Tool,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::asking::Asking;
use super::changes::{Changes, Ear, relay};
use super::definitions::Definitions;
use super::{EverythingFault, content, diagnostics, prompts, resources, rounds};

/// What all requests share.
pub(super) struct Shared {
    definitions: Definitions,
    config: ServerConfig,
    codec: RequestStateCodec,
    changes: Changes,
}

/// Answers one request: `rmcp` makes one of these for each.
pub(super) struct Everything {
    shared: Arc<Shared>,
    /// Taken before the acknowledgement of a listen is sent, so that no change is missed.
    ear: Mutex<Option<Ear>>,
}

impl Shared {
    pub(super) fn new() -> Result<Shared, EverythingFault> {
        let capabilities: ServerCapabilities = serde_json::from_value(json!({
            "tools": { "listChanged": true },
            "prompts": { "listChanged": true },
            "resources": { "listChanged": true, "subscribe": true },
            "completions": {},
            "logging": {},
        }))
        .map_err(EverythingFault::Definitions)?;
        let config = ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("aldgate-everything", env!("CARGO_PKG_VERSION")))
            .with_instructions("Fixtures for the conformance suite")
            .with_protocol_version(ProtocolVersion::V_2026_07_28);
        let key: [u8; 32] = rand::random();
        Ok(Shared {
            definitions: Definitions::load()?,
            config,
            codec: RequestStateCodec::try_new(key.to_vec()).map_err(EverythingFault::Key)?,
            changes: Changes::new(),
        })
    }
}

impl Everything {
    pub(super) fn new(shared: Arc<Shared>) -> Everything {
        Everything { shared, ear: Mutex::new(None) }
    }

    fn asking<'a>(
        &'a self,
        subject: String,
        context: &'a RequestContext<RoleServer>,
        responses: Option<&'a InputResponses>,
        state: Option<&'a str>,
    ) -> Asking<'a> {
        // As it stands on the wire: what is declared with unknown members is declared.
        let capabilities = context.meta.0.0.get("io.modelcontextprotocol/clientCapabilities");
        Asking { subject, capabilities, responses, state, codec: &self.shared.codec }
    }
}

impl ServerHandler for Everything {
    fn get_info(&self) -> ServerConfig {
        self.shared.config.clone()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(&[ProtocolVersion::V_2026_07_28])
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        Ok(DiscoverResult::from_server_info(self.supported_protocol_versions().into_owned(), self.get_info()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.shared.definitions.tool(name).cloned()
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        listed(request, "tools", &self.shared.definitions.tools)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = request.name.as_ref();
        let arguments = request.arguments.unwrap_or_default();
        let subject = format!("tools/call {tool}");
        let (responses, state) = (request.input_responses.as_ref(), request.request_state.as_deref());
        let asking = self.asking(subject, &context, responses, state);
        let result = if let Some(result) = content::answer(tool, &arguments) {
            result
        } else if let Some(result) = rounds::answer(tool, &asking) {
            result?
        } else if let Some(result) =
            diagnostics::answer(tool, &arguments, &asking, &self.shared.changes, &context).await
        {
            result?
        } else {
            return Err(ErrorData::invalid_params(format!("unknown tool `{tool}`, see tools/list"), None));
        };
        if asks(&result) {
            Ok(typed::<InputRequiredResult>(result)?.into())
        } else {
            Ok(typed::<CallToolResult>(result)?.into())
        }
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        listed(request, "prompts", &self.shared.definitions.prompts)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let subject = format!("prompts/get {}", request.name);
        let (responses, state) = (request.input_responses.as_ref(), request.request_state.as_deref());
        let asking = self.asking(subject, &context, responses, state);
        let result = prompts::get(&request.name, &request.arguments.unwrap_or_default(), &asking)?;
        if asks(&result) {
            Ok(typed::<InputRequiredResult>(result)?.into())
        } else {
            Ok(typed::<GetPromptResult>(result)?.into())
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        listed(request, "resources", &self.shared.definitions.resources)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        listed(request, "resourceTemplates", &self.shared.definitions.resource_templates)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(typed::<ReadResourceResult>(resources::read(&request.uri)?)?.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        typed(prompts::complete(&request.argument.value))
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        *self.ear.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.shared.changes.listen());
        Some(requested.clone())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let ear = self.ear.lock().unwrap_or_else(PoisonError::into_inner).take();
        relay(ear.unwrap_or_else(|| self.shared.changes.listen()), &subscription).await;
        Ok(())
    }
}

fn asks(result: &Value) -> bool {
    result.get("resultType").and_then(Value::as_str) == Some("input_required")
}

/// All lists fit on one page, so no cursor was ever given out.
fn listed<T: DeserializeOwned>(
    request: Option<PaginatedRequestParams>,
    member: &str,
    entries: &[impl Serialize],
) -> Result<T, ErrorData> {
    if let Some(cursor) = request.and_then(|request| request.cursor) {
        return Err(ErrorData::invalid_params(
            format!("unknown cursor `{cursor}`, list again without one"),
            None,
        ));
    }
    typed(json!({ "resultType": "complete", "ttlMs": 60_000, "cacheScope": "public", member: entries }))
}

fn typed<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value)
        .map_err(|fault| ErrorData::internal_error(format!("the answer cannot be written: {fault}"), None))
}
