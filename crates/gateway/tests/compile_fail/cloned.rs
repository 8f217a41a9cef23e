//! expect: E0277
use aldgate_gateway::Permit;

fn needs_copies<T: Clone>(_: &T) {}

pub fn copy(permit: &Permit) {
    needs_copies(permit);
}
