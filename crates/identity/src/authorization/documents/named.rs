//! Hosts inside a private network whose clients' documents are fetched all the same, because the configuration names them.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use url::{Host, Url};

/// More hosts than a network has that clients' documents stand at.
const MOST: usize = 100;

/// Hosts whose documents are fetched although their addresses are private, each at one port; and the certificates that
/// theirs are checked against beside the system's.
#[derive(Clone, Debug, Default)]
pub struct MetadataHosts {
    hosts: BTreeSet<(String, u16)>,
    pub(super) ca: Vec<reqwest::Certificate>,
}

/// Hosts that cannot be named.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetadataHostsFault {
    /// No host.
    #[error(
        "`{found}` is no host; expected a name such as `clients.example.com`, or `clients.example.com:8443` where the port is not \
         443, in lower case, without scheme, path or `*`, and no address"
    )]
    Host {
        /// What was found.
        found: String,
    },
    /// Too many.
    #[error("{found} hosts are named; expected at most {MOST}")]
    Many {
        /// How many.
        found: usize,
    },
    /// Certificates for nothing.
    #[error("there are certificates, but no host that they could be for; name the hosts too")]
    NoHost,
    /// No certificates.
    #[error("the certificates cannot be used; expected a file in PEM form with at least one `CERTIFICATE`")]
    Certificates,
}

impl MetadataHosts {
    /// Hosts as `host` or `host:port`, and the PEM form of their certificate authorities, where there are any.
    ///
    /// # Errors
    /// What is no host, or no certificate.
    pub fn new<'a>(
        listed: impl IntoIterator<Item = &'a str>,
        ca: Option<&[u8]>,
    ) -> Result<Self, MetadataHostsFault> {
        let hosts: BTreeSet<_> = listed.into_iter().map(host).collect::<Result<_, _>>()?;
        if hosts.len() > MOST {
            return Err(MetadataHostsFault::Many { found: hosts.len() });
        }
        let ca = match ca {
            None => Vec::new(),
            Some(_) if hosts.is_empty() => return Err(MetadataHostsFault::NoHost),
            Some(pem) => certificates(pem).ok_or(MetadataHostsFault::Certificates)?,
        };
        Ok(Self { hosts, ca })
    }

    /// Whether the host of a URL is one of them, at its port.
    pub(super) fn name(&self, url: &Url) -> bool {
        match (url.host(), url.port_or_known_default()) {
            // Nothing is named by an address.
            (Some(Host::Domain(host)), Some(port)) => self.hosts.contains(&(host.to_owned(), port)),
            _ => false,
        }
    }
}

fn host(found: &str) -> Result<(String, u16), MetadataHostsFault> {
    let written = format!("https://{found}/");
    let odd = |letter: char| !letter.is_ascii_alphanumeric() && !matches!(letter, '-' | '.' | ':');
    let url = Url::parse(&written).ok().filter(|url| url.as_str() == written && !found.contains(odd));
    let named = url.as_ref().and_then(|url| Some((url.host()?, url.port_or_known_default()?)));
    match named {
        Some((Host::Domain(host), port)) if !host.ends_with('.') => Ok((host.to_owned(), port)),
        _ => {
            let found = found.chars().filter(|letter| !letter.is_control()).take(200).collect();
            Err(MetadataHostsFault::Host { found })
        }
    }
}

/// The certificates of a file, where each of them is one that others can be checked against.
fn certificates(pem: &[u8]) -> Option<Vec<reqwest::Certificate>> {
    let all = reqwest::Certificate::from_pem_bundle(pem).ok().filter(|all| !all.is_empty())?;
    reqwest::Client::builder().tls_certs_only(all.clone()).build().ok()?;
    Some(all)
}
