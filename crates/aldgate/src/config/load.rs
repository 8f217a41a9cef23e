//! Reading the file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use miette::{Diagnostic, NamedSource, SourceSpan};
use serde::Deserialize as _;

use super::{Config, check_keys, docs, schema};

/// The configuration of the demonstration, and the files that it names.
pub(crate) mod demo {
    pub(crate) const CONFIG: &str = include_str!("../../../../demo/aldgate.toml");
    pub(crate) const POLICIES: &str = include_str!("../../../../demo/policies.cedar");
    pub(crate) const LOCKS: [(&str, &str); 3] = [
        ("tickets", include_str!("../../../../demo/contracts/tickets.json")),
        ("parts", include_str!("../../../../demo/contracts/parts.json")),
        ("manuals", include_str!("../../../../demo/contracts/manuals.json")),
    ];
}

/// A configuration and where it came from.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    pub(crate) config: Config,
    /// The folder that its paths are relative to; `None` for the one that is built in.
    pub(crate) folder: Option<PathBuf>,
    /// The file; `None` for the one that is built in.
    pub(crate) path: Option<PathBuf>,
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub(crate) enum ConfigFault {
    /// The file cannot be read.
    #[error("the configuration `{path}` cannot be read", path = .path.display())]
    #[diagnostic(code("AG-CONFIG-FILE"), help("name another with `--config`"))]
    File {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// Not TOML, or a value of another type.
    #[error("{message}")]
    #[diagnostic(code("AG-CONFIG-VALUE"))]
    Value {
        message: String,
        #[help]
        help: Option<String>,
        #[source_code]
        text: Arc<NamedSource<String>>,
        #[label("here")]
        span: Option<SourceSpan>,
    },
    /// A key that nothing reads.
    #[error("there is no setting `{path}`")]
    #[diagnostic(code("AG-CONFIG-KEY"))]
    Key {
        path: String,
        #[help]
        help: String,
        #[source_code]
        text: Arc<NamedSource<String>>,
        #[label("unknown")]
        span: SourceSpan,
    },
}

/// Reads a file.
pub(crate) fn load(path: &Path) -> Result<Loaded, ConfigFault> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| ConfigFault::File { path: path.to_owned(), source })?;
    let mut config = parse(&path.display().to_string(), &text)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let credentials = config.upstreams.values_mut();
    let credentials =
        credentials.flat_map(|upstream| upstream.credential.iter_mut().chain(&mut upstream.own_credential));
    for file in credentials.filter_map(|credential| credential.file.as_mut()) {
        *file = folder.join(&*file);
    }
    Ok(Loaded { config, folder: Some(folder.to_owned()), path: Some(path.to_owned()) })
}

/// The configuration of the demonstration.
pub(crate) fn embedded() -> Result<Loaded, ConfigFault> {
    Ok(Loaded { config: parse("demo/aldgate.toml", demo::CONFIG)?, folder: None, path: None })
}

/// Reads a text.
pub(crate) fn parse(name: &str, text: &str) -> Result<Config, ConfigFault> {
    let source = || Arc::new(NamedSource::new(name, text.to_owned()));
    let fault = |fault: &toml::de::Error| ConfigFault::Value {
        message: fault.message().to_owned(),
        help: docs::missing(fault.message()),
        text: source(),
        span: fault.span().map(SourceSpan::from),
    };
    let file = toml::de::DeTable::parse(text).map_err(|error| fault(&error))?;
    if let Some(unknown) = check_keys::first_unknown(file.get_ref(), &schema()) {
        let span = SourceSpan::from(unknown.span);
        return Err(ConfigFault::Key { path: unknown.path, help: unknown.help, text: source(), span });
    }
    let deserializer = toml::Deserializer::parse(text).map_err(|error| fault(&error))?;
    Config::deserialize(deserializer).map_err(|error| fault(&error))
}
