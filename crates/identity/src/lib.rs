//! Who calls: bearer tokens and principals
