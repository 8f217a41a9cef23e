//! expect: E0624
use aldgate_gateway::HostFetch;

pub fn make() -> HostFetch {
    HostFetch::identity()
}
