//! Canonical form, digests and locks of tool contracts, without I/O
