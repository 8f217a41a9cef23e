//! Faults of other crates, told with their stable code.

#[cfg(test)]
mod tests;

use aldgate_agent::{CallFault, ConnectionFault, ModelFault, RunFault};
use aldgate_approval::SealFault;
use aldgate_authority::{PolicyFault, RegistryFault};
use aldgate_contract::LockFault;
use aldgate_field_service::{OpenFault, StdioFault};
use aldgate_gateway::StartFault;
use aldgate_identity::TokensFault;
use aldgate_identity::authorization::{ClientsFault, KeysFault};
use aldgate_identity::client::{KeepFault, LoginFault, SessionFault};
use aldgate_identity::people::AccountFault;
use aldgate_store::StoreFault;
use miette::Diagnostic;

use crate::command::ContractsFault;
use crate::out;

/// A fault with its causes and its code, as text: what peers wrote is in it, and goes to a terminal.
#[derive(Debug)]
pub(crate) struct Coded {
    code: String,
    told: Told,
    help: Option<&'static str>,
}

/// A message and what lies behind it.
#[derive(Debug)]
struct Told {
    message: String,
    cause: Option<Box<Told>>,
}

impl Told {
    fn of(fault: &(dyn std::error::Error + 'static)) -> Self {
        let cause = fault.source().map(|cause| Box::new(Self::of(cause)));
        Self { message: out::plain_lines(&fault.to_string()), cause }
    }
}

impl std::fmt::Display for Told {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for Told {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }
}

impl std::fmt::Display for Coded {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.told.fmt(out)
    }
}

impl std::error::Error for Coded {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.told.source()
    }
}

impl Diagnostic for Coded {
    fn code<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        Some(Box::new(&self.code))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        self.help.map(|help| Box::new(help) as _)
    }
}

/// Adds the code to a fault.
pub(crate) trait WithCode<T> {
    /// The same result, its fault with its code.
    fn coded(self) -> miette::Result<T>;

    /// The same, and what to do.
    fn coded_with(self, help: &'static str) -> miette::Result<T>;
}

/// The stable code of a fault.
pub(crate) trait Code {
    /// The code.
    fn code_of(&self) -> &str;
}

impl Coded {
    fn of(fault: &(impl Code + std::error::Error + 'static), help: Option<&'static str>) -> Self {
        Self { code: fault.code_of().to_owned(), told: Told::of(fault), help }
    }
}

impl<T, F: Code + std::error::Error + 'static> WithCode<T> for Result<T, F> {
    fn coded(self) -> miette::Result<T> {
        Ok(self.map_err(|fault| Coded::of(&fault, None))?)
    }

    fn coded_with(self, help: &'static str) -> miette::Result<T> {
        Ok(self.map_err(|fault| Coded::of(&fault, Some(help)))?)
    }
}

macro_rules! codes {
    ($($fault:ty => $code:expr),* $(,)?) => {$(
        impl Code for $fault {
            fn code_of(&self) -> &str {
                let code: fn(&Self) -> &str = $code;
                code(self)
            }
        }
    )*};
}

codes! {
    CallFault => Self::code,
    ConnectionFault => |fault| fault.code(),
    ModelFault => |fault| fault.code(),
    RunFault => Self::code,
    StartFault => start,
    StoreFault => |_| "AG-STORE",
    aldgate_telemetry::StartFault => |_| "AG-CONFIG-TELEMETRY",
    PolicyFault => |_| "AG-CONFIG-POLICY",
    RegistryFault => |_| "AG-CONFIG-VALUE",
    TokensFault => |_| "AG-CONFIG-PRINCIPALS",
    SealFault => |_| "AG-CONFIG-SEAL",
    LockFault => |_| "AG-CONFIG-LOCK",
    ContractsFault => Self::code,
    aldgate_evidence_server::ToolsFault => |_| "AG-INTERNAL",
    aldgate_evidence_server::StdioFault => |_| "AG-CLI-STDIO",
    AccountFault => |_| "AG-CLI-USERS",
    ClientsFault => |_| "AG-CLI-CLIENTS",
    KeysFault => |_| "AG-CONFIG-IDENTITY",
    KeepFault => |_| "AG-CLI-LOGIN",
    LoginFault => |_| "AG-CLI-LOGIN",
    SessionFault => |_| "AG-CLI-LOGIN",
    OpenFault => |_| "AG-CLI-SYSTEM",
    StdioFault => |_| "AG-CLI-STDIO",
}

/// A gateway that does not start, by the part that does not work.
fn start(fault: &StartFault) -> &'static str {
    match fault {
        StartFault::Upstream { .. } => "AG-CONFIG-UPSTREAM",
        StartFault::FirstUse { .. } | StartFault::Pin { .. } => "AG-CLI-UPSTREAM",
        StartFault::Policies(_) => "AG-CONFIG-POLICY",
        StartFault::Store(_) | StartFault::Drift { .. } => "AG-STORE",
        _ => "AG-CONFIG-PARTS",
    }
}
