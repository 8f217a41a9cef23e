//! What `make bench` measures with: an upstream that answers at once, a bare pass-through, and a load generator.

#[cfg(feature = "count-allocations")]
pub mod allocations;
mod echo;
mod load;
mod pass_through;
#[cfg(test)]
mod tests;

pub use echo::Echo;
pub use load::{Load, LoadFault, Measured, Method};
pub use pass_through::PassThrough;
