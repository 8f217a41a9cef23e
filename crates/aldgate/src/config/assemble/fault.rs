use std::path::PathBuf;

use aldgate_approval::SealFault;
use aldgate_authority::{AliasFault, PolicyFault};
use aldgate_contract::LockFault;
use aldgate_contract::signature::{KeyFault, KeyringFault};
use aldgate_gateway::StartFault;
use aldgate_identity::TokensFault;
use aldgate_identity::authorization::{AuthorizationFault, ClientsFault};
use aldgate_identity::client::upstream::ConfiguredFault;
use aldgate_identity::resource::SettingsFault as VerifierFault;
use aldgate_store::StoreFault;

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub(crate) enum AssembleFault {
    #[error("the file `{path}` cannot be read", path = .path.display())]
    #[diagnostic(code("AG-CONFIG-FILE"))]
    File {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("upstream `{upstream}` has no lock `{path}`", path = .path.display())]
    #[diagnostic(
        code("AG-CONFIG-LOCK"),
        help("`aldgate contracts pin {upstream}` writes it from what the server lists now; review the file")
    )]
    NoLock { upstream: String, path: PathBuf },
    #[error("the lock of upstream `{upstream}` cannot be used")]
    #[diagnostic(
        code("AG-CONFIG-LOCK"),
        help(
            "restore the file from version control, or write it anew with `aldgate contracts pin {upstream} --force`, \
             which forgets its history, and review it"
        )
    )]
    Lock {
        upstream: String,
        #[source]
        source: Box<LockFault>,
    },
    #[error(
        "the lock of upstream `{upstream}` was pinned from `{pinned}`, but the upstream is `{configured}`"
    )]
    #[diagnostic(
        code("AG-CONFIG-LOCK"),
        help("review what is served there, and pin it anew with `aldgate contracts pin {upstream} --all`")
    )]
    Endpoint { upstream: String, pinned: String, configured: String },
    #[error("the lock of upstream `{upstream}` is of an upstream that the host calls `{pinned}`")]
    #[diagnostic(
        code("AG-CONFIG-LOCK"),
        help(
            "name the right file; an upstream that gets another name is pinned anew under that name, and reviewed"
        )
    )]
    OtherName { upstream: String, pinned: String },
    #[error("upstream `{upstream}`: {what}")]
    #[diagnostic(code("AG-CONFIG-UPSTREAM"))]
    Upstream { upstream: String, what: String },
    #[error(transparent)]
    #[diagnostic(code("AG-CONFIG-UPSTREAM"))]
    Credential(Box<ConfiguredFault>),
    #[error("the policies cannot be used")]
    #[diagnostic(code("AG-CONFIG-POLICY"))]
    Policy(#[source] Box<PolicyFault>),
    #[error("the principals cannot be used")]
    #[diagnostic(code("AG-CONFIG-PRINCIPALS"))]
    Principals(#[from] TokensFault),
    #[error("the people in `[[people]]` cannot be used")]
    #[diagnostic(code("AG-CONFIG-PEOPLE"))]
    People(#[from] AliasFault),
    #[error("{what}")]
    #[diagnostic(code("AG-CONFIG-PEOPLE"), help("{help}"))]
    Person { what: String, help: String },
    #[error("the accounts and clients that `[[people]]` names cannot be read")]
    #[diagnostic(code("AG-STORE"))]
    Accounts(#[source] Box<StoreFault>),
    #[error("{what}")]
    #[diagnostic(code("AG-CONFIG-VALUE"))]
    Value { what: String },
    #[error("the environment variable `{name}` is not set; `{setting}` names it")]
    #[diagnostic(code("AG-CONFIG-ENV"))]
    Environment { name: String, setting: String },
    #[error("the sealing key cannot be used")]
    #[diagnostic(code("AG-CONFIG-SEAL"))]
    Seal(#[from] SealFault),
    #[error("the sealing key `{path}` cannot be used; `gateway.state_dir` names its folder", path = .path.display())]
    #[diagnostic(code("AG-CONFIG-SEAL"))]
    SealFile {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the host's key `{path}` cannot be used; `gateway.state_dir` names its folder", path = .path.display())]
    #[diagnostic(code("AG-CONFIG-HOST-KEY"))]
    HostKeyFile {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the host's key `{path}` cannot be used; `gateway.state_dir` names its folder", path = .path.display())]
    #[diagnostic(code("AG-CONFIG-HOST-KEY"))]
    HostKey {
        path: PathBuf,
        #[source]
        source: KeyFault,
    },
    #[error("{which} in `contracts.keys` cannot be used")]
    #[diagnostic(code("AG-CONFIG-KEYS"))]
    Key {
        which: String,
        #[source]
        source: KeyFault,
    },
    #[error("the keys in `contracts.keys` cannot be used together")]
    #[diagnostic(code("AG-CONFIG-KEYS"))]
    Keyring(#[from] KeyringFault),
    #[error("the issuers in `[identity]` cannot be used")]
    #[diagnostic(code("AG-CONFIG-IDENTITY"))]
    Issuers(#[from] VerifierFault),
    #[error("the authorization server of `[identity.server]` cannot be set up")]
    #[diagnostic(code("AG-CONFIG-IDENTITY"))]
    Authorization(#[from] AuthorizationFault),
    #[error("the clients of the authorization server cannot be kept")]
    #[diagnostic(code("AG-CONFIG-IDENTITY"))]
    Clients(#[from] ClientsFault),
    #[error("traces and metrics cannot be set up")]
    #[diagnostic(code("AG-CONFIG-TELEMETRY"))]
    Telemetry(#[from] aldgate_telemetry::StartFault),
    #[error("the gateway's parts do not fit together")]
    #[diagnostic(code("AG-CONFIG-PARTS"))]
    Parts(#[from] StartFault),
    #[error("the folder `{path}` cannot be made; `gateway.state_dir` names it", path = .path.display())]
    #[diagnostic(code("AG-CONFIG-FILE"))]
    StateDir {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the store in `{path}` cannot be opened; `gateway.state_dir` names the folder", path = .path.display())]
    #[diagnostic(code("AG-STORE"))]
    Store {
        path: PathBuf,
        #[source]
        source: Box<StoreFault>,
    },
}
