//! The one protocol handler of all three servers: from `rmcp`'s calls to a desk, and back.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt as _;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities,
    CompleteRequestParams, CompleteResult, CompletionInfo, ContentBlock, DiscoverResult,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Reference,
    ServerConfig, SubscriptionFilter,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::desk::{Answer, Call, Caller, Completion, CompletionOf, Desk, DeskFault};
use crate::hub::{Change, Ear, Lagged};
use crate::identity::Identity;

/// How long lists may be cached: they change only when the program does.
const LISTS_TTL_MS: u64 = 300_000;
/// Records may change at any time.
const RECORD_TTL_MS: u64 = 0;

/// Serves one desk. `rmcp` makes one of these for each request.
pub(crate) struct Served {
    desk: Arc<dyn Desk>,
    identity: Arc<Identity>,
    /// Taken before the acknowledgement of a listen is sent, so that no change is missed.
    ear: Mutex<Option<Ear>>,
}

impl Served {
    pub(crate) fn new(desk: Arc<dyn Desk>, identity: Arc<Identity>) -> Served {
        Served { desk, identity, ear: Mutex::new(None) }
    }

    /// Runs a piece of a desk's work. A panic is an internal error: the request is answered, and others go on.
    async fn guarded<T>(&self, work: impl Future<Output = Result<T, DeskFault>>) -> Result<T, ErrorData> {
        match AssertUnwindSafe(work).catch_unwind().await {
            Ok(done) => done.map_err(protocol_error),
            Err(_) => {
                tracing::error!(server = %self.identity.config.server_info.name, "a request panicked");
                Err(ErrorData::internal_error("the server failed while it worked on this request", None))
            }
        }
    }

    async fn tool(
        &self,
        request: CallToolRequestParams,
        caller: Caller,
    ) -> Result<CallToolResponse, DeskFault> {
        let contract = self.desk.contract().tools.iter().find(|known| known.tool.name == request.name);
        let Some(contract) = contract else {
            return Err(DeskFault::params(format!("unknown tool `{}`, see tools/list", request.name)));
        };
        let arguments = request.arguments.unwrap_or_default();
        if let Err(reason) = contract.arguments.check(&arguments) {
            return Ok(refusal(reason, None).into());
        }
        let call = Call {
            tool: request.name.into_owned(),
            arguments,
            input_responses: request.input_responses,
            request_state: request.request_state,
            caller,
        };
        match self.desk.call(call).await? {
            Answer::Done(value) => Ok(CallToolResult::structured(value).into()),
            Answer::Refused { reason, details } => Ok(refusal(reason, details).into()),
            Answer::Ask(result) => Ok(result.into()),
        }
    }
}

impl ServerHandler for Served {
    fn get_info(&self) -> ServerConfig {
        self.identity.config.clone()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(&[ProtocolVersion::V_2026_07_28])
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let mut result = DiscoverResult::from_server_info(versions, self.get_info());
        result.ttl_ms = LISTS_TTL_MS;
        result.cache_scope = CacheScope::Public;
        Ok(result)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = &self.desk.contract().tools;
        self.guarded(async {
            one_page(request)?;
            let tools: Vec<_> = tools.iter().map(|contract| contract.tool.as_ref()).collect();
            typed(listed("tools", serde_json::to_value(tools)?))
        })
        .await
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = caller(&context);
        self.guarded(self.tool(request, caller)).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.guarded(async {
            one_page(request)?;
            typed(listed("resources", Value::Array(self.desk.resources().await?)))
        })
        .await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.guarded(async {
            one_page(request)?;
            typed(listed("resourceTemplates", Value::Array(self.desk.templates())))
        })
        .await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.guarded(async {
            let contents = self.desk.read(&request.uri).await?;
            let result: ReadResourceResult = typed(json!({
                "resultType": "complete", "ttlMs": RECORD_TTL_MS, "cacheScope": "private", "contents": contents,
            }))?;
            Ok(result.into())
        })
        .await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.guarded(async {
            one_page(request)?;
            typed(listed("prompts", Value::Array(self.desk.prompts())))
        })
        .await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.guarded(async {
            let prompt = self.desk.prompt(&request.name, &request.arguments.unwrap_or_default())?;
            let result: GetPromptResult = typed(prompt)?;
            Ok(result.into())
        })
        .await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.guarded(async {
            let of = match request.r#ref {
                Reference::Prompt(prompt) => CompletionOf::Prompt(prompt.name),
                Reference::Resource(resource) => CompletionOf::Template(resource.uri),
                _ => return Err(DeskFault::params("`ref` must name a prompt or a resource template")),
            };
            let wanted = Completion { of, argument: request.argument.name, value: request.argument.value };
            let mut values = self.desk.complete(&wanted)?;
            let total = u32::try_from(values.len()).ok();
            values.truncate(CompletionInfo::MAX_VALUES);
            let has_more = total.is_some_and(|total| total as usize > values.len());
            let completion =
                CompletionInfo::with_pagination(values, total, has_more).map_err(DeskFault::params)?;
            Ok(CompleteResult::new(completion))
        })
        .await
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.retain(|uri| self.desk.can_watch(uri));
        }
        *self.ear.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.desk.hub().listen());
        Some(accepted)
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let ear = self.ear.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut ear = ear.unwrap_or_else(|| self.desk.hub().listen());
        loop {
            let change = tokio::select! {
                () = subscription.cancelled() => return Ok(()),
                change = ear.next() => change,
            };
            let told = match change {
                Some(Ok(change)) => tell(&subscription, &change).await,
                // Everything may have changed.
                Some(Err(Lagged)) => tell_all(&subscription).await,
                None => return Ok(()),
            };
            if told.is_none() {
                return Ok(());
            }
        }
    }
}

/// Tells a listener what it asked to hear; `None` when it is gone.
async fn tell(subscription: &SubscriptionContext, change: &Change) -> Option<()> {
    let sink = subscription.sink();
    let accepted = subscription.accepted();
    match change {
        Change::Resource(uri) => {
            let wanted = accepted.resource_subscriptions.as_ref().is_some_and(|uris| uris.contains(uri));
            if wanted {
                sink.notify_resource_updated(uri.as_str()).await.ok()?;
            }
        }
        Change::Lists => {
            if accepted.tools_list_changed == Some(true) {
                sink.notify_tool_list_changed().await.ok()?;
            }
            if accepted.prompts_list_changed == Some(true) {
                sink.notify_prompt_list_changed().await.ok()?;
            }
            if accepted.resources_list_changed == Some(true) {
                sink.notify_resource_list_changed().await.ok()?;
            }
        }
    }
    Some(())
}

async fn tell_all(subscription: &SubscriptionContext) -> Option<()> {
    tell(subscription, &Change::Lists).await?;
    for uri in subscription.accepted().resource_subscriptions.iter().flatten() {
        tell(subscription, &Change::Resource(uri.clone())).await?;
    }
    Some(())
}

/// The caller, from this request alone.
fn caller(context: &RequestContext<RoleServer>) -> Caller {
    let parts = context.extensions.get::<http::request::Parts>();
    let credential = parts.and_then(|parts| parts.headers.get(http::header::AUTHORIZATION));
    let principal =
        credential.map_or_else(|| "local".to_owned(), |value| hex::encode(Sha256::digest(value.as_bytes())));
    let elicitation = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
    // Declared without a mode, elicitation means forms.
    let shows_forms = elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none());
    Caller { principal, shows_forms }
}

fn refusal(reason: String, details: Option<Value>) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(reason.clone())]);
    result.structured_content = details.map(|mut details| {
        if let Some(members) = details.as_object_mut() {
            members.insert("reason".to_owned(), Value::String(reason));
        }
        details
    });
    result
}

fn protocol_error(fault: DeskFault) -> ErrorData {
    match fault {
        DeskFault::Params { message, data } => ErrorData::invalid_params(message, data),
        DeskFault::NoForms => {
            match serde_json::from_value::<ClientCapabilities>(json!({"elicitation": {"form": {}}})) {
                Ok(required) => ErrorData::missing_required_client_capability(required),
                Err(_) => ErrorData::internal_error("the required capability cannot be named", None),
            }
        }
        DeskFault::Store(fault) => {
            log_chain(&fault);
            ErrorData::internal_error("the store could not be read or written; try again later", None)
        }
        DeskFault::Json(fault) => {
            log_chain(&fault);
            ErrorData::internal_error("the answer could not be written", None)
        }
    }
}

fn log_chain(fault: &(dyn std::error::Error + 'static)) {
    let chain = std::iter::successors(Some(fault), |fault| fault.source());
    let chain: Vec<String> = chain.map(ToString::to_string).collect();
    tracing::error!(fault = %chain.join(": "), "request failed");
}

/// All lists fit on one page, so no cursor was ever given out.
fn one_page(request: Option<PaginatedRequestParams>) -> Result<(), DeskFault> {
    match request.and_then(|request| request.cursor) {
        None => Ok(()),
        Some(cursor) => Err(DeskFault::params(format!("unknown cursor `{cursor}`, list again without one"))),
    }
}

fn listed(member: &str, entries: Value) -> Value {
    json!({ "resultType": "complete", "ttlMs": LISTS_TTL_MS, "cacheScope": "public", member: entries })
}

fn typed<T: DeserializeOwned>(value: Value) -> Result<T, DeskFault> {
    Ok(serde_json::from_value(value)?)
}
