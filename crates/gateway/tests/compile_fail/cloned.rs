//! expect: E0599
use aldgate_gateway::Permit;

pub fn copy(permit: &Permit) -> Permit {
    permit.clone()
}
