//! Names as the steps of a JSON Pointer (RFC 6901).

/// A name as a step: `~` and `/` escaped (§3).
pub(crate) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The name that a step stands for.
pub(crate) fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}
