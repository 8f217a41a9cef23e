//! Aldgate's identity with peers that others made.
#![expect(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod external_issuer;
