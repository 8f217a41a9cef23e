//! The aldgate binary.
fn main() {}
