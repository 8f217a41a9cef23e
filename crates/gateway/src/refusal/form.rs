//! How a caller is told that a request was refused.

use aldgate_wire::request::RequestId;
use serde_json::Value;

/// How the caller is told.
#[derive(Debug)]
pub(crate) enum Form {
    /// An HTTP error; nothing is known of the request.
    Http(u16),
    /// A JSON-RPC error.
    Rpc {
        /// HTTP status.
        http: u16,
        /// JSON-RPC code.
        code: i64,
        /// Members of the error's `data`.
        data: Option<Value>,
        /// The id, where the body had a readable one but the request was not accepted.
        id: Option<RequestId>,
    },
    /// A tool result with `isError`: the model should see it.
    Tool,
    /// An `input_required` result with a notice: somebody has to do something first, the caller may come again.
    Notice {
        /// The key of the one thing that is asked.
        key: &'static str,
        /// The page on which the caller's own user does it, or sees how it stands; a form with nothing to fill in where there is none.
        page: Option<String>,
        /// The sealed state that the caller brings back; where there is none, the request comes again as it is.
        state: Option<String>,
    },
}
