//! What can go wrong on the command line itself, each with its stable code.

use std::path::PathBuf;

use miette::Diagnostic;

/// A failure of a command.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub(crate) enum CommandFault {
    /// Something on the command line that cannot be used.
    #[error("{what}")]
    #[diagnostic(code("AG-CLI-USAGE"))]
    Usage {
        what: String,
        #[help]
        help: Option<String>,
    },
    /// Arguments of a tool that are no JSON object.
    #[error(
        "the arguments are no JSON object; expected one such as `{{\"ticket_id\": \"SR-20031\"}}`, found {found}"
    )]
    #[diagnostic(code("AG-CLI-USAGE"))]
    Arguments { found: String },
    /// A name that the configuration does not have.
    #[error("there is no {kind} `{name}`; the configuration has {known}")]
    #[diagnostic(code("AG-CLI-UNKNOWN"))]
    Unknown {
        kind: &'static str,
        name: String,
        known: String,
        #[help]
        help: Option<&'static str>,
    },
    /// A contract that no lock holds.
    #[error("{what}")]
    #[diagnostic(code("AG-CLI-UNKNOWN"))]
    NotPinned { what: String },
    /// A command that cannot work with this configuration.
    #[error("{what}")]
    #[diagnostic(code("AG-CLI-CONFIG"))]
    Configuration {
        what: String,
        #[help]
        help: &'static str,
    },
    /// An environment variable that is not set.
    #[error("the environment variable `{name}` is not set; `--bearer-env` names it")]
    #[diagnostic(code("AG-CLI-ENV"))]
    Environment { name: String },
    /// A file or folder.
    #[error("`{path}` cannot be {doing}", path = .path.display())]
    #[diagnostic(code("AG-CLI-FILE"))]
    File {
        path: PathBuf,
        doing: &'static str,
        #[source]
        source: std::io::Error,
    },
    /// No folder for what a run keeps.
    #[error("no temporary folder can be made; expected one that can be written at `TMPDIR` or /tmp")]
    #[diagnostic(code("AG-CLI-FILE"))]
    Temporary(#[source] std::io::Error),
    /// A lock that is not there.
    #[error("there is no lock `{path}`", path = .path.display())]
    #[diagnostic(code("AG-CONFIG-LOCK"), help("run `aldgate contracts pin` and review the file"))]
    NoLock { path: PathBuf },
    /// An address that cannot be listened at.
    #[error("the address `{address}` cannot be listened at")]
    #[diagnostic(
        code("AG-CLI-LISTEN"),
        help("end the program that uses it, or choose another address with {setting}")
    )]
    Listen {
        address: std::net::SocketAddr,
        setting: &'static str,
        #[source]
        source: std::io::Error,
    },
    /// Fewer descriptors than the configured bounds may need.
    #[error(
        "the bounds of the configuration may need {needed} open files, the system allows this process {allowed}"
    )]
    #[diagnostic(
        code("AG-CLI-DESCRIPTORS"),
        help(
            "allow more (`ulimit -Hn`, `LimitNOFILE=`), or lower `limits.connections` or `limits.in_flight`"
        )
    )]
    Descriptors { needed: u64, allowed: u64 },
    /// A listener that broke.
    #[error("the server broke while it served")]
    #[diagnostic(code("AG-CLI-SERVE"))]
    Serve(#[source] std::io::Error),
    /// A tool that this principal does not see.
    #[error("this principal has no tool `{name}`, only {listed}")]
    #[diagnostic(code("AG-CLI-TOOL"), help("an operator's token shows tools that are in nobody's list"))]
    NoTool {
        name: String,
        listed: String,
        #[source]
        source: crate::admin::AdminFault,
    },
    /// A principal that may not read evidence.
    #[error("`{name}` may not `audit` here")]
    #[diagnostic(code("AG-CLI-PRINCIPAL"), help("a policy would have to permit it; see docs/policies.md"))]
    MayNotAudit { name: String },
    /// A definition that is none.
    #[error("the definition of `{name}` is no tool definition of MCP 2026-07-28")]
    #[diagnostic(code("AG-CLI-TOOL"))]
    Definition { name: String },
    /// The demonstration could not sign in.
    #[error("the demonstration could not sign in as `{name}`: {why}")]
    #[diagnostic(code("AG-CLI-SIGN-IN"))]
    SignIn { name: String, why: String },
    /// The program's threads or its source of randomness.
    #[error("the system does not give the program what it needs to run")]
    #[diagnostic(code("AG-CLI-MACHINE"))]
    Machine(#[source] std::io::Error),
}

impl CommandFault {
    /// Something on the command line that cannot be used.
    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Self::Usage { what: what.into(), help: None }
    }

    /// Reading, making or writing a file failed.
    pub(crate) fn file(path: impl Into<PathBuf>, doing: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, doing, source }
    }
}

/// A number of things, such as `1 tool` or `3 tools`.
pub(crate) fn counted(number: usize, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

/// Names for a message: quoted, or that there are none.
pub(crate) fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.map(|name| format!("`{}`", crate::out::plain(name))).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
