//! `aldgate.toml`: its types, reading it, and what it is made into. Only this crate reads configuration.

mod assemble;
mod check_keys;
mod docs;
mod load;
mod types;
mod undecided;
mod warnings;

pub(crate) use assemble::{
    AssembleFault, Credentials, OwnNames, Secrets, assemble, base, configured, issuers, lasting, reach,
    read_host_key, reviewed, secrets, signatures, upstream_settings, upstreams_of,
};
pub(crate) use docs::{markdown, schema};
pub(crate) use load::{Loaded, embedded, load};
pub(crate) use types::{Config, IdentitySection, Kind, ServerSection, Span, UpstreamSection};
pub(crate) use undecided::{principal, undecided};
pub(crate) use warnings::warnings;
