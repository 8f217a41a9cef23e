//! The straight way: discover, list, call, and what is refused on it.

mod answers;
mod envelope;
mod head;
mod hops;
