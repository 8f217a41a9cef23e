//! Where answers go to: which redirect URIs a client may have, and which of them a request means.

#[cfg(test)]
mod tests;

use url::Url;

/// Schemes that a browser runs or reads itself, or that reach other programs than the client's.
const REFUSED: [&str; 17] = [
    "about",
    "blob",
    "chrome",
    "data",
    "file",
    "filesystem",
    "ftp",
    "http",
    "intent",
    "javascript",
    "jar",
    "mailto",
    "tel",
    "vbscript",
    "view-source",
    "ws",
    "wss",
];
/// Schemes without a domain in them that programs in use have.
const PROGRAMS: [&str; 5] = ["claude", "cursor", "vscode", "vscode-insiders", "windsurf"];
const LOOPBACK: [&str; 3] = ["127.0.0.1", "[::1]", "localhost"];

/// Whose a redirect URI is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A site, by the host that it is reached at.
    Site(String),
    /// A program on the person's own computer (RFC 8252 §7.3).
    Computer,
    /// Whatever program claims this scheme (RFC 8252 §7.1).
    Scheme(String),
}

/// Whose a redirect URI is, where a client may have it; else what it should be.
pub(super) fn place(uri: &str) -> Result<Place, &'static str> {
    if uri.len() > 2000 || !uri.chars().all(|letter| letter.is_ascii_graphic()) {
        return Err("2000 printable ASCII characters at most");
    }
    if uri.contains('#') {
        return Err("no fragment");
    }
    if uri.contains('\\') {
        return Err("no backslash");
    }
    let url = Url::parse(uri).map_err(|_| "an absolute URI")?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("no user name");
    }
    if at_loopback(uri).is_some() {
        return Ok(Place::Computer);
    }
    match (url.scheme(), url.host_str()) {
        ("https", Some(host)) => Ok(Place::Site(host.to_owned())),
        (scheme, _) if REFUSED.contains(&scheme) => {
            Err("https, http on 127.0.0.1, [::1] or localhost, or a scheme of the client's own")
        }
        (scheme, _) => Ok(Place::Scheme(scheme.to_owned())),
    }
}

/// Whether a client that nobody wrote down may have this scheme: a domain of its own in reverse order (RFC 8252 §7.1), or one
/// of a few that are known. Any other may be another program's.
pub(super) fn is_of_a_program(scheme: &str) -> bool {
    let domain = scheme.contains('.') && scheme.split('.').all(|label| !label.is_empty());
    domain || PROGRAMS.contains(&scheme)
}

/// Whether a redirect URI that was sent is the registered one: to the last letter, but for the port of one on the person's
/// own computer (RFC 8252 §7.3).
pub(super) fn same(registered: &str, sent: &str) -> bool {
    registered == sent
        || matches!((at_loopback(registered), at_loopback(sent)), (Some(one), Some(other)) if one == other)
}

/// Host and rest of an `http` URI on this computer, with whatever port. Read letter by letter: nothing that a parser would
/// mend can pass.
fn at_loopback(uri: &str) -> Option<(&str, &str)> {
    let after = uri.strip_prefix("http://")?;
    let host = LOOPBACK.into_iter().find(|host| after.starts_with(host))?;
    let mut rest = after.strip_prefix(host)?;
    if let Some(port) = rest.strip_prefix(':') {
        let path = port.trim_start_matches(|letter: char| letter.is_ascii_digit());
        port.strip_suffix(path)?.parse::<u16>().ok().filter(|port| *port > 0)?;
        rest = path;
    }
    let whole = rest.is_empty() || rest.starts_with(['/', '?']);
    let plain = rest.chars().all(|letter| letter.is_ascii_graphic() && !matches!(letter, '#' | '\\'));
    (whole && plain).then_some((host, rest))
}

/// The redirect URI with the parameters of an answer.
pub(super) fn with(uri: &str, parameters: &[(&str, Option<&str>)]) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in parameters {
        if let Some(value) = value {
            query.append_pair(name, value);
        }
    }
    let separator = if uri.contains('?') { '&' } else { '?' };
    format!("{uri}{separator}{}", query.finish())
}
