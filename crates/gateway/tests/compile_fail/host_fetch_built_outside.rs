//! expect: E0451
use aldgate_gateway::HostFetch;

pub fn build() -> HostFetch {
    HostFetch { method: unreachable!(), cursor: None }
}
