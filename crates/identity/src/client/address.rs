//! Which addresses are asked, and which are not.
//!
//! Whatever a server says of where others are is followed only to `https`, whose certificate is checked before anything
//! is sent: that leaves nothing to be had from services of an internal network, so their private addresses need no list.
//! A resource on this machine may name `http` addresses of this machine, which is what development needs; one elsewhere
//! may not.

#[cfg(test)]
mod tests;

use std::net::IpAddr;

use url::{Host, Url};

/// How far the addresses may reach that somebody else named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// `https` on other machines.
    Elsewhere,
    /// That, and this machine by `http` or `https`.
    ThisMachine,
}

/// An address that is not asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressFault {
    /// Not an absolute URL with a host.
    #[error("`{found}` is no absolute `https` URL")]
    Url {
        /// What was found, shortened.
        found: String,
    },
    /// Another scheme than `https`.
    #[error(
        "`{found}` is not `https`; `http` is used only for a resource on this machine, at 127.0.0.1 or localhost"
    )]
    Scheme {
        /// What was found, shortened.
        found: String,
    },
    /// User, password or fragment.
    #[error("`{found}` holds a user, a password or a fragment, and no such URL is used")]
    Parts {
        /// What was found, shortened and without them.
        found: String,
    },
    /// An address of this machine or of its link, named by a resource elsewhere.
    #[error(
        "`{found}` is an address of this machine or its own link, which a resource elsewhere may not name"
    )]
    Inside {
        /// What was found, shortened.
        found: String,
    },
}

impl Reach {
    /// How far a resource may send us.
    #[must_use]
    pub fn of(resource: &Url) -> Self {
        if is_loopback(resource) { Self::ThisMachine } else { Self::Elsewhere }
    }

    /// Reads an address that somebody named.
    ///
    /// # Errors
    /// Where it is not one that this reach has.
    pub fn address(self, text: &str) -> Result<Url, AddressFault> {
        let url = Url::parse(text).map_err(|_| AddressFault::Url { found: shown(text) })?;
        self.check(&url)?;
        Ok(url)
    }

    /// Whether an address may be asked.
    ///
    /// # Errors
    /// Where it may not.
    pub fn check(self, url: &Url) -> Result<(), AddressFault> {
        let found = || shown(&without_secrets(url));
        if url.host().is_none() {
            return Err(AddressFault::Url { found: found() });
        }
        if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
            return Err(AddressFault::Parts { found: found() });
        }
        match (url.scheme(), self) {
            ("https", Self::ThisMachine) => Ok(()),
            ("https", Self::Elsewhere) if is_inside(url) => Err(AddressFault::Inside { found: found() }),
            ("https", Self::Elsewhere) => Ok(()),
            ("http", Self::ThisMachine) if is_loopback(url) => Ok(()),
            _ => Err(AddressFault::Scheme { found: found() }),
        }
    }
}

/// Whether the host is this machine: `localhost` or a loopback address.
fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn is_inside(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => is_not_elsewhere(IpAddr::V4(address)),
        Some(Host::Ipv6(address)) => is_not_elsewhere(IpAddr::V6(address)),
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
        None => true,
    }
}

/// Whether an address is of this machine or of its own link, where no server of others is.
pub(super) fn is_not_elsewhere(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            v4.is_loopback()
                || v4.is_link_local()
                || v4.is_unspecified()
                || v4.is_broadcast()
                || v4.is_multicast()
        }
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(inner) => is_not_elsewhere(IpAddr::V4(inner)),
            None => {
                v6.is_loopback() || v6.is_unspecified() || v6.is_multicast() || v6.is_unicast_link_local()
            }
        },
    }
}

/// A URL as an error may show it.
pub(super) fn without_secrets(url: &Url) -> String {
    let mut url = url.clone();
    // Both refuse URLs that cannot have a user, and those have none.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.into()
}

/// What somebody else sent, as an error may show it: printable ASCII, 200 characters of it.
pub(super) fn shown(text: &str) -> String {
    text.chars()
        .filter(|letter| (letter.is_ascii_graphic() && *letter != '`') || *letter == ' ')
        .take(200)
        .collect()
}
