//! A client's message: from headers and body to a [`Request`] whose every part was checked.

#[cfg(test)]
mod tests;

mod accept;
mod id;
mod meta;
mod method;
mod older;
mod params;
mod rejection;

pub use accept::{Incoming, accept, accept_line};
pub use id::RequestId;
pub use meta::{DeclaredCapabilities, RequestMeta};
pub use method::Method;
pub use older::{Older, OlderMessage, accept_older, names_its_version};
pub use params::Params;
pub use rejection::Rejection;

/// One request, checked against its headers. Everything in it is owned.
#[derive(Debug, Clone)]
pub struct Request {
    /// The id, spelled as the client spelled it.
    pub id: RequestId,
    /// What is asked.
    pub method: Method,
    /// The members of `params` that this method has, beside `_meta`.
    pub params: Params,
    /// `params._meta`.
    pub meta: RequestMeta,
}

impl Request {
    /// What `Mcp-Name` mirrors: the tool or prompt, the resource's URI, or the task's id.
    pub fn target(&self) -> Option<&str> {
        self.params.target(self.method)
    }
}
