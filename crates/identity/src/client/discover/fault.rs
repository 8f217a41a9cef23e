//! Why an authorization server cannot be found or used.

use crate::client::address::AddressFault;
use crate::client::http::HttpFault;

/// Why there is no authorization server that may be used.
#[derive(Debug, thiserror::Error)]
pub enum DiscoveryFault {
    /// The resource itself cannot be asked.
    #[error("the resource cannot be used: {0}")]
    Resource(AddressFault),
    /// A document cannot be had.
    #[error("the metadata of the resource cannot be read")]
    Metadata(#[source] HttpFault),
    /// There is no document.
    #[error(
        "`{resource}` does not say who signs people in: it named no `resource_metadata`, and there is nothing at {tried}; \
         check the URL, or configure a token"
    )]
    Nowhere {
        /// The resource.
        resource: String,
        /// Where it was looked for.
        tried: String,
    },
    /// The document is about another resource (RFC 9728 §3.3).
    #[error(
        "the metadata that `{meant}` led to are of `{found}`, and may not be used (RFC 9728 §3.3); expected `{meant}`"
    )]
    OtherResource {
        /// The URL that was meant.
        meant: String,
        /// What the document says.
        found: String,
    },
    /// No authorization server is named.
    #[error("the metadata of `{resource}` name no authorization server")]
    NoServer {
        /// The resource.
        resource: String,
    },
    /// The authorization server that was asked for is not among those of the resource.
    #[error("`{resource}` does not name the authorization server `{wanted}`; it names {found}")]
    NotNamed {
        /// The resource.
        resource: String,
        /// The issuer that was asked for.
        wanted: String,
        /// What it names.
        found: String,
    },
    /// An authorization server that may not be used.
    #[error("the authorization server `{issuer}` cannot be used: {why}")]
    Server {
        /// The issuer.
        issuer: String,
        /// Why, in full.
        why: ServerFault,
    },
    /// None of several may be used.
    #[error("none of the authorization servers of `{resource}` can be used: {each}")]
    NoneOf {
        /// The resource.
        resource: String,
        /// Each and why.
        each: String,
    },
}

/// Why an authorization server may not be used.
#[derive(Debug, thiserror::Error)]
pub enum ServerFault {
    /// An address that is not asked.
    #[error("its `{member}` is refused: {fault}")]
    Endpoint {
        /// Which member.
        member: &'static str,
        /// Why.
        fault: AddressFault,
    },
    /// A member that is needed.
    #[error("its metadata have no `{member}`")]
    Missing {
        /// Which member.
        member: &'static str,
    },
    /// The issuer is no issuer.
    #[error("it is no issuer: {0}")]
    Issuer(AddressFault),
    /// An issuer with a query.
    #[error("it is no issuer: it has a query (RFC 8414 §2)")]
    Query,
    /// A document of another issuer.
    #[error(
        "the metadata at `{at}` are of issuer `{found}`, which has to be equal to the last letter (RFC 8414 §3.3)"
    )]
    OtherIssuer {
        /// Where the document is.
        at: String,
        /// What it says.
        found: String,
    },
    /// No document.
    #[error("there are no metadata at {tried}")]
    Nowhere {
        /// Where it was looked for.
        tried: String,
    },
    /// A document that cannot be had.
    #[error("{0}")]
    Metadata(HttpFault),
    /// PKCE is not what it has to be.
    #[error(
        "its `code_challenge_methods_supported` does not list `S256` (it lists {found}), so that a stolen code could be used; \
         it has to support PKCE and to say so"
    )]
    NoPkce {
        /// What it lists.
        found: String,
    },
}
