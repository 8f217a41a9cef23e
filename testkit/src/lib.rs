//! Hostile and odd peers, and fakes shared by tests
