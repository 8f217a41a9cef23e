//! Why a user's account cannot be connected or used.

use aldgate_approval::SealFault;

use crate::client::address::AddressFault;
use crate::client::callback::CallbackFault;
use crate::client::discover::ServerFault;
use crate::client::keep::KeepFault;
use crate::client::proof_key::NoRandomness;
use crate::client::token_endpoint::TokenFault;

/// Why a user's account cannot be connected or used. Holds no secret.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionFault {
    /// The authorization server cannot be used.
    #[error("the upstream's authorization server cannot be used")]
    Server(#[source] ServerFault),
    /// Its page is at no address that may be used.
    #[error("the upstream's authorization server cannot be used")]
    Address(#[source] AddressFault),
    /// The answer belongs to nothing that was begun here.
    #[error("the answer belongs to no connection that was begun here; begin again")]
    State,
    /// Another user is signed in than the one who began.
    #[error("the connection was begun by another user than the one who is signed in; begin again")]
    OtherUser,
    /// The answer came too late.
    #[error("the connection was begun more than 10 minutes ago; begin again")]
    Late,
    /// The server refused, or another server answered.
    #[error(transparent)]
    Callback(#[from] CallbackFault),
    /// The server gave no tokens.
    #[error("the upstream's authorization server gave no tokens")]
    Token(#[from] TokenFault),
    /// The connection has ended at the server.
    #[error("the connection has ended; connect the account again")]
    Ended,
    /// What is kept cannot be used.
    #[error(transparent)]
    Keep(#[from] KeepFault),
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
}
