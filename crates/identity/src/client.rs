//! The client's side of OAuth: signing in from a command line, and credentials for upstreams.
//!
//! - [`discover()`]: from the URL of a protected resource to an authorization server that may be used;
//! - [`login()`]: a person signs in with a browser; [`Session`] keeps, refreshes and gives up what came of it;
//! - [`StepUp`]: more scopes, a bounded number of times;
//! - [`upstream`]: what the gateway itself shows to the servers behind it.
//!
//! It is code of our own over `reqwest`. The OAuth client of `rmcp` accepts an authorization server that does not list
//! `S256`, knows no proofs of possession, brings a second `jsonwebtoken` for `private_key_jwt`, and would make every
//! program with an identity build `rmcp`.

mod address;
mod browser;
mod callback;
mod challenge;
mod discover;
mod dpop;
mod http;
mod keep;
mod login;
mod loopback;
mod metadata;
mod proof_key;
mod register;
mod secret;
mod session;
mod step_up;
mod token;
mod token_endpoint;
pub mod upstream;

#[cfg(test)]
mod canaries;
#[cfg(test)]
mod fake;

pub use address::{AddressFault, Reach};
pub use callback::CallbackFault;
pub use challenge::{Challenge, challenges};
pub use discover::{Discovered, DiscoveryFault, Probe, Purpose, ServerFault, discover};
pub use dpop::{DpopFault, DpopKey};
pub use http::{Http, HttpFault};
pub use keep::{Keep, KeepFault};
pub use login::{Login, LoginEvent, LoginFault, LoginSettings, login};
pub use metadata::ServerMetadata;
pub use register::{Preregistered, RegistrationFault};
pub use secret::Secret;
pub use session::{Session, SessionFault, SignedOut};
pub use step_up::{StepUp, StepUpFault};
pub use token::AccessToken;
pub use token_endpoint::{ClientAuthentication, SigningKey, TokenFault};
