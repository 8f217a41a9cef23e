//! The embedded store: evidence rows and approvals in SQLite
