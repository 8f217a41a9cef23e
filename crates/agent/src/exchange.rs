use std::error::Error;
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{CancelledNotificationParam, ClientRequest, RequestId, ServerResult};
use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, RoleClient, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpError;

use crate::refused::Refused;
use crate::trace::{Asking, Hop};

/// Why one request brought no answer.
#[derive(Debug)]
pub(crate) enum Lost {
    /// The server answered with a JSON-RPC error.
    Rpc(ErrorData),
    /// The endpoint wants other credentials, with its reason and its challenge: it did not act.
    Unauthorized { why: String, challenge: Option<String> },
    /// The endpoint did not take the request: it did not act.
    Refused(Refused),
    /// No connection could be made: nothing was sent.
    NotSent(String),
    /// The request was sent, or may have been; no answer came.
    Broken(String),
    /// No answer within the time-out.
    TimedOut,
}

/// Sends one request, under an id of its own, and waits for its answer. Dropping the future cancels the request.
pub(crate) async fn send(
    peer: &Peer<RoleClient>,
    request: ClientRequest,
    timeout: Duration,
    hop: Hop<'_>,
) -> Result<ServerResult, Lost> {
    let mut asking = hop.begin(&request);
    let answer = exchange(peer, request, timeout, &mut asking).await;
    asking.end(&answer);
    answer
}

async fn exchange(
    peer: &Peer<RoleClient>,
    request: ClientRequest,
    timeout: Duration,
    asking: &mut Asking<'_>,
) -> Result<ServerResult, Lost> {
    let handle = peer
        .send_cancellable_request(request, PeerRequestOptions::no_options().with_meta(asking.meta()))
        .await
        .map_err(|fault| lost(&fault))?;
    asking.sent(&handle.id.to_string());
    let mut open = OpenRequest { peer, id: Some(handle.id.clone()) };
    let answer = tokio::time::timeout(timeout, RequestHandle::await_response(handle)).await;
    match answer {
        Ok(answer) => {
            open.id = None;
            answer.map_err(|fault| lost(&fault))
        }
        Err(_) => Err(Lost::TimedOut),
    }
}

/// Closes the request's stream when nobody waits for its answer any more.
struct OpenRequest<'a> {
    peer: &'a Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for OpenRequest<'_> {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) else {
            return;
        };
        let peer = self.peer.clone();
        runtime.spawn(async move {
            let cancelled = CancelledNotificationParam::new(Some(id), Some("the caller gave up".to_owned()));
            // A connection that is gone needs no cancellation.
            let _ = peer.notify_cancelled(cancelled).await;
        });
    }
}

/// What the client library says of a request, in our words.
pub(crate) fn lost(fault: &ServiceError) -> Lost {
    if fault.is_authorization_required() || fault.auth_challenge().is_some() {
        let challenge = fault.auth_challenge();
        return Lost::Unauthorized { why: reason(challenge), challenge: challenge.map(str::to_owned) };
    }
    match fault {
        ServiceError::McpError(error) => Lost::Rpc(error.clone()),
        ServiceError::TransportSend(error) => match error.error.downcast_ref() {
            Some(StreamableHttpError::<reqwest::Error>::Client(http)) if http.is_connect() => {
                Lost::NotSent(chain(http))
            }
            Some(http) => match Refused::of_transport(http) {
                Some(refused) if refused.was_not_begun() => Lost::Refused(refused),
                _ => Lost::Broken(chain(http)),
            },
            None => Lost::Broken(chain(error)),
        },
        other => Lost::Broken(chain(other)),
    }
}

/// Why credentials were not accepted, as the challenge says it (RFC 6750 §3), to stand behind what did not accept them.
pub(crate) fn reason(challenge: Option<&str>) -> String {
    let said =
        challenge.and_then(|challenge| challenge.split_once("error_description=\"")?.1.split_once('"'));
    let Some((said, _)) = said.filter(|(said, _)| !said.is_empty()) else { return String::new() };
    let plain: String = said.chars().filter(|letter| !letter.is_control()).take(200).collect();
    format!(" ({plain})")
}

/// The whole chain of causes, for people.
pub(crate) fn chain(fault: &dyn Error) -> String {
    let mut text = fault.to_string();
    let mut next = fault.source();
    while let Some(cause) = next {
        let said = cause.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        next = cause.source();
    }
    text
}
