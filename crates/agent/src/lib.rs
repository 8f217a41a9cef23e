//! The host loop of an agent, with its planners
