//! expect: E0451
use aldgate_gateway::Permit;

pub fn build() -> Permit {
    Permit { spent: unreachable!() }
}
