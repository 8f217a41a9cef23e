//! Laws that hold for every input.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "tests")]

mod guard;
mod header;
mod json;
mod replace;
mod request;
mod response;
mod sse;
mod total;
