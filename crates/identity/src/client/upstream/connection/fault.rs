//! Why a user's account cannot be connected or used.

use aldgate_approval::SealFault;
use aldgate_store::StoreFault;

use crate::client::address::AddressFault;
use crate::client::callback::CallbackFault;
use crate::client::discover::ServerFault;
use crate::client::proof_key::NoRandomness;
use crate::client::token_endpoint::TokenFault;
use crate::client::upstream::server::ProgramFault;

/// Why a user's account cannot be connected or used. Holds no secret.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionFault {
    /// The authorization server cannot be used.
    #[error("the upstream's authorization server cannot be used")]
    Server(#[source] ServerFault),
    /// It does not take how the gateway proves to be itself.
    #[error(
        "the upstream's authorization server does not list `{0}` in `token_endpoint_auth_methods_supported`"
    )]
    Method(&'static str),
    /// Its page is at no address that may be used.
    #[error("the upstream's authorization server cannot be used")]
    Address(#[source] AddressFault),
    /// The answer belongs to nothing that was begun here.
    #[error("the answer belongs to no connection that was begun here; begin again")]
    State,
    /// Another user or session is signed in than the one that began.
    #[error("the connection was begun by another user, or in another sign-in, than this one; begin again")]
    OtherUser,
    /// The answer came too late.
    #[error("the connection was begun more than 10 minutes ago; begin again")]
    Late,
    /// An account is connected.
    #[error("an account is connected to this server already; disconnect that one first")]
    Connected,
    /// The server refused, or another server answered.
    #[error(transparent)]
    Callback(#[from] CallbackFault),
    /// The server gave no tokens.
    #[error("the upstream's authorization server gave no tokens")]
    Token(#[source] TokenFault),
    /// The connection has ended at the server.
    #[error("the connection has ended; connect the account again")]
    Ended,
    /// The store fails.
    #[error("what is kept of the connection cannot be read or written")]
    Store(#[from] StoreFault),
    /// What is kept cannot be opened.
    #[error(
        "what is kept of the connection does not open with this gateway's key; connect the account again"
    )]
    Sealed(#[source] SealFault),
    /// No random numbers.
    #[error(transparent)]
    Random(#[from] NoRandomness),
    /// No program decides approvals.
    #[error("`approvals:decide` is not a scope that a connection may have; leave it out")]
    Decides,
    /// The gateway stopped while it worked on it.
    #[error("the gateway stopped working on the connection; try again")]
    Stopped,
}

impl From<ProgramFault> for ConnectionFault {
    fn from(fault: ProgramFault) -> Self {
        match fault {
            ProgramFault::Server(source) => Self::Server(source),
            ProgramFault::Method(method) => Self::Method(method),
            ProgramFault::Token(source) => Self::Token(source),
            ProgramFault::Decides => Self::Decides,
        }
    }
}
