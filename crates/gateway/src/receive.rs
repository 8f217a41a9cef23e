//! The third step: the body, guarded and read.

use aldgate_wire::guard::Limits;
use aldgate_wire::request::{Incoming, Method, Request, accept};
use http::HeaderMap;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use crate::gate::Gate;
use crate::identify::Identified;
use crate::observe;
use crate::refusal::Refusal;
use crate::trail::Trail;

/// The revisions of the protocol that are spoken here.
pub(crate) const VERSIONS: &[&str] = &["2026-07-28"];

/// The methods that are served.
pub(crate) const SERVED: &[Method] = &[
    Method::Discover,
    Method::ListTools,
    Method::CallTool,
    Method::ListResources,
    Method::ListTemplates,
    Method::ReadResource,
    Method::ListPrompts,
    Method::GetPrompt,
    Method::Complete,
    Method::Listen,
];

/// A message whose envelope and headers were checked.
pub(crate) enum Received {
    /// A request, with the headers that it came with.
    Request {
        /// The request.
        request: Box<Request>,
        /// Its headers.
        headers: HeaderMap,
    },
    /// A notification: accepted and not answered.
    Notification,
}

/// Reads the body within the limit, guards it, and compares it with the headers.
pub(crate) async fn body(
    gate: &Gate,
    trail: &mut Trail,
    identified: Identified,
) -> Result<Received, Refusal> {
    let head = identified.head;
    let bounds = &gate.settings.bounds;
    let whole = Limited::new(head.body, bounds.body_bytes).collect();
    let Ok(read) = tokio::time::timeout(bounds.call_timeout, whole).await else {
        let message = format!("the body did not come within {} s", bounds.call_timeout.as_secs());
        return Err(Refusal::http(400, "AG-HEAD-BODY", message));
    };
    let bytes = match read {
        Ok(collected) => collected.to_bytes(),
        Err(fault) if fault.is::<LengthLimitError>() => {
            return Err(Refusal::too_large(bounds.body_bytes.saturating_add(1), bounds.body_bytes));
        }
        Err(fault) => return Err(Refusal::http(400, "AG-HEAD-BODY", "the body broke off").because(fault)),
    };
    let limits = Limits { max_bytes: bounds.body_bytes, max_depth: bounds.depth };
    match accept(&head.parts.headers, &bytes, &limits, SERVED, VERSIONS) {
        Ok(Incoming::Request(request)) => {
            trail.request_id = Some(request.id.clone());
            trail.method = Some(request.method.as_str());
            observe::received(gate, trail, &request, &head.parts);
            Ok(Received::Request { request: Box::new(request), headers: head.parts.headers })
        }
        Ok(Incoming::Notification { .. }) => Ok(Received::Notification),
        Err(rejection) => {
            trail.request_id.clone_from(&rejection.id);
            observe::rejected(gate, trail, &rejection, &head.parts);
            Err(Refusal::rejected(rejection))
        }
    }
}
