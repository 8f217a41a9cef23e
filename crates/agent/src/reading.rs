use std::collections::HashSet;
use std::time::Duration;

use rmcp::model::{
    ClientRequest, GetPromptRequest, GetPromptRequestParams, ListPromptsRequest,
    ListResourceTemplatesRequest, ListResourcesRequest, PaginatedRequestParams, ReadResourceRequest,
    ReadResourceRequestParams, ServerNotification, ServerResult, SubscriptionFilter,
};
use rmcp::service::{Subscription, SubscriptionEnd};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::call::fault;
use crate::connection::Connection;
use crate::endpoint::ConnectionFault;
use crate::exchange::{self, Lost};
use crate::outcome::CallFault;

/// Under which the last message of a gateway's subscription says why it is the last.
const ENDED: &str = "io.github.aldgate/ended";

/// A list beside that of the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListOf {
    /// The resources.
    Resources,
    /// The resource templates.
    Templates,
    /// The prompts.
    Prompts,
}

/// Something that a subscription tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "changed", rename_all = "snake_case")]
pub enum Change {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The lists of resources and templates.
    Resources,
    /// The contents of a resource.
    Resource {
        /// Its URI.
        uri: String,
    },
}

/// How a subscription ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The endpoint said that it ends, and an Aldgate gateway says why: see `docs/limits.md`.
    Told {
        /// The word under `io.github.aldgate/ended`.
        why: Option<String>,
    },
    /// The connection ended without a last message.
    Abruptly,
    /// More was told than was taken.
    Overrun,
}

/// An open subscription; dropping it ends it.
pub struct Hearing {
    subscription: Subscription,
    of: String,
}

impl Connection {
    /// Reads a whole list: the elements as the endpoint wrote them, as far as the client library knows their members.
    ///
    /// # Errors
    ///
    /// A fault of [`ConnectionFault`], also when the list exceeds the bounds on pages and elements.
    pub async fn list(&self, of: ListOf) -> Result<Vec<Value>, ConnectionFault> {
        let limits = self.limits();
        let (mut found, mut seen, mut cursor) = (Vec::new(), HashSet::new(), None);
        loop {
            let answer = self.list_answer(of.word(), of.request(cursor), None).await?;
            let page = of.page(answer).ok_or_else(|| self.no_list(of.word()))?;
            found.extend(page.0);
            cursor = page.1;
            let Some(next) = &cursor else { return Ok(found) };
            let repeated = !seen.insert(next.clone());
            if repeated || seen.len() >= limits.max_pages || found.len() > limits.max_tools {
                return Err(self.too_long(of.word()));
            }
        }
    }

    /// Reads a resource, in one request: a question of the server is a fault.
    ///
    /// # Errors
    ///
    /// See [`CallFault`].
    pub async fn read(&self, uri: &str) -> Result<Value, CallFault> {
        let request =
            ClientRequest::ReadResourceRequest(ReadResourceRequest::new(ReadResourceRequestParams::new(uri)));
        self.once(uri, request).await
    }

    /// Gets a prompt, in one request: a question of the server is a fault.
    ///
    /// # Errors
    ///
    /// See [`CallFault`].
    pub async fn prompt(&self, name: &str, arguments: Map<String, Value>) -> Result<Value, CallFault> {
        let params = GetPromptRequestParams::new(name).with_arguments(arguments);
        self.once(name, ClientRequest::GetPromptRequest(GetPromptRequest::new(params))).await
    }

    /// Listens to changes of all lists and of these resources, as far as the endpoint honours that.
    ///
    /// # Errors
    ///
    /// See [`CallFault`].
    pub async fn listen(&self, uris: &[String]) -> Result<Hearing, CallFault> {
        let of = "subscriptions/listen";
        let mut filter = SubscriptionFilter::builder()
            .tools_list_changed()
            .prompts_list_changed()
            .resources_list_changed();
        for uri in uris {
            filter = filter.resource_subscription(uri.as_str());
        }
        let timeout = self.limits().timeout;
        let opened = tokio::time::timeout(timeout, self.peer().listen(filter.build())).await;
        let subscription = match opened {
            Ok(Ok(subscription)) => subscription,
            Ok(Err(why)) => return Err(fault(of, exchange::lost(&why), true, 1, timeout)),
            Err(_) => return Err(fault(of, Lost::TimedOut, true, 1, timeout)),
        };
        Ok(Hearing { subscription, of: of.to_owned() })
    }

    async fn once(&self, what: &str, request: ClientRequest) -> Result<Value, CallFault> {
        let timeout = self.limits().timeout;
        let answer = exchange::send(self.peer(), request, timeout, self.hop(None))
            .await
            .map_err(|lost| fault(what, lost, true, 1, timeout))?;
        let malformed = |found: String| CallFault::Malformed { tool: what.to_owned(), what: found };
        let written = match answer {
            ServerResult::ReadResourceResult(result) => serde_json::to_value(result),
            ServerResult::GetPromptResult(result) => serde_json::to_value(result),
            ServerResult::CustomResult(raw) => Ok(raw.0),
            ServerResult::InputRequiredResult(_) => {
                return Err(malformed("the server asks for input, expected an answer".to_owned()));
            }
            _ => return Err(malformed("found the result of another method".to_owned())),
        };
        written.map_err(|why| malformed(why.to_string()))
    }
}

impl Hearing {
    /// The resources that the endpoint tells of.
    #[must_use]
    pub fn honoured(&self) -> &[String] {
        self.subscription.acknowledged().resource_subscriptions.as_deref().unwrap_or_default()
    }

    /// How it ended, once it has.
    #[must_use]
    pub fn ended(&self) -> Option<Ended> {
        Some(match self.subscription.end()? {
            SubscriptionEnd::Graceful(last) => {
                let why = last.meta.get(ENDED).and_then(|ended| ended.get("why")?.as_str());
                Ended::Told { why: why.map(str::to_owned) }
            }
            SubscriptionEnd::Cancelled => Ended::Told { why: None },
            SubscriptionEnd::Lagged { .. } => Ended::Overrun,
            _ => Ended::Abruptly,
        })
    }

    /// What is told next; `None` when the subscription has ended.
    ///
    /// # Errors
    ///
    /// See [`CallFault`].
    pub async fn next(&mut self) -> Result<Option<Change>, CallFault> {
        let failed = |why| fault(&self.of, exchange::lost(&why), true, 1, Duration::ZERO);
        loop {
            let Some(told) = self.subscription.next().await.map_err(failed)? else { return Ok(None) };
            return Ok(Some(match told {
                ServerNotification::ToolListChangedNotification(_) => Change::Tools,
                ServerNotification::PromptListChangedNotification(_) => Change::Prompts,
                ServerNotification::ResourceListChangedNotification(_) => Change::Resources,
                ServerNotification::ResourceUpdatedNotification(updated) => {
                    Change::Resource { uri: updated.params.uri }
                }
                _ => continue,
            }));
        }
    }
}

impl ListOf {
    fn word(self) -> &'static str {
        match self {
            Self::Resources => "resources",
            Self::Templates => "resource templates",
            Self::Prompts => "prompts",
        }
    }

    fn request(self, cursor: Option<String>) -> ClientRequest {
        let page = PaginatedRequestParams::default().with_cursor(cursor);
        match self {
            Self::Resources => ClientRequest::ListResourcesRequest(ListResourcesRequest::with_param(page)),
            Self::Templates => {
                ClientRequest::ListResourceTemplatesRequest(ListResourceTemplatesRequest::with_param(page))
            }
            Self::Prompts => ClientRequest::ListPromptsRequest(ListPromptsRequest::with_param(page)),
        }
    }

    /// One page, and the cursor of the next one. The client library gives up on a whole page for one element that it
    /// cannot read; such a page is taken as it is.
    fn page(self, answer: ServerResult) -> Option<(Vec<Value>, Option<String>)> {
        fn values<T: Serialize>(all: &[T]) -> Option<Vec<Value>> {
            all.iter().map(|one| serde_json::to_value(one).ok()).collect()
        }
        match (self, answer) {
            (Self::Resources, ServerResult::ListResourcesResult(list)) => {
                Some((values(&list.resources)?, list.next_cursor))
            }
            (Self::Templates, ServerResult::ListResourceTemplatesResult(list)) => {
                Some((values(&list.resource_templates)?, list.next_cursor))
            }
            (Self::Prompts, ServerResult::ListPromptsResult(list)) => {
                Some((values(&list.prompts)?, list.next_cursor))
            }
            (_, ServerResult::CustomResult(raw)) => {
                let member = match self {
                    Self::Resources => "resources",
                    Self::Templates => "resourceTemplates",
                    Self::Prompts => "prompts",
                };
                let next = raw.0.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
                Some((raw.0.get(member)?.as_array()?.clone(), next))
            }
            _ => None,
        }
    }
}
