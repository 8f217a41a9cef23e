//! A fault with everything behind it, in one line.

/// The messages of a fault and its causes, joined by colons.
pub(crate) fn chain(fault: &dyn std::error::Error) -> String {
    let mut text = fault.to_string();
    let mut next = fault.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}
