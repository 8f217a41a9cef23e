//! Faults of the agent, told with their stable code.

use aldgate_agent::{CallFault, ConnectionFault, RunFault};
use miette::Diagnostic;

/// A fault and its code.
#[derive(Debug)]
pub(crate) struct Coded<F> {
    fault: F,
    code: String,
}

impl<F: std::error::Error + 'static> std::fmt::Display for Coded<F> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(&self.fault, out)
    }
}

impl<F: std::error::Error + 'static> std::error::Error for Coded<F> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.fault.source()
    }
}

impl<F: std::error::Error + 'static> Diagnostic for Coded<F> {
    fn code<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        Some(Box::new(self.code.as_str()))
    }
}

/// Adds the code to a fault.
pub(crate) trait WithCode<T> {
    /// The same result, its fault with its code.
    fn coded(self) -> miette::Result<T>;
}

macro_rules! with_code {
    ($($fault:ty),*) => {$(
        impl<T> WithCode<T> for Result<T, $fault> {
            fn coded(self) -> miette::Result<T> {
                Ok(self.map_err(|fault| Coded { code: fault.code().to_owned(), fault })?)
            }
        }
    )*};
}

with_code!(CallFault, ConnectionFault, RunFault);
