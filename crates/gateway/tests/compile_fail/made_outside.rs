//! expect: E0624
use aldgate_gateway::Permit;

pub fn make() {
    let _ = Permit::automatic(unreachable!(), unreachable!(), unreachable!());
}
