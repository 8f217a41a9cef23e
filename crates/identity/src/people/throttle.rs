//! Tries that are let through, so that nobody can guess passwords, and nobody can lock somebody else out.
//!
//! A stranger's failures count for the stranger's own address: the same name from another address, and from a device that
//! the person signed in with before, has counts of its own. What all strangers do together holds back only those that
//! failed already.

pub(crate) mod buckets;
#[cfg(test)]
mod tests;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

pub use buckets::Rate;
use buckets::{Buckets, Key};

use super::keys::Keys;
use super::settings::Tries;

/// The address that a request came from, as those see it who know which proxies to trust. Put it into the extensions of
/// a request; without it the peer of the connection counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source(pub IpAddr);

impl Source {
    /// Whom nobody knows the address of: they count as one.
    pub const UNKNOWN: Self = Self(IpAddr::V6(Ipv6Addr::UNSPECIFIED));

    /// What counts as one: this computer, whichever of its own addresses it used, an IPv4 address, or the network of 56 bits that one
    /// subscriber has (RFC 6177 §2).
    #[must_use]
    pub fn counted(self) -> Vec<u8> {
        match self.0.to_canonical() {
            address if address.is_loopback() => Vec::from(Ipv4Addr::LOCALHOST.octets()),
            IpAddr::V4(address) => address.octets().to_vec(),
            IpAddr::V6(address) => address.octets().into_iter().take(7).collect(),
        }
    }
}

/// Who tries.
#[derive(Clone, Copy, Debug)]
pub(super) enum Trier<'a> {
    /// A device that the person signed in with before.
    Device(&'a str),
    /// Anybody.
    Stranger { name: &'a str, source: Source },
    /// Somebody signed in who is asked for the password once more.
    Session(&'a [u8]),
}

/// The counts of one process.
pub(super) struct Throttle {
    names: Buckets,
    sources: Buckets,
    devices: Buckets,
    all: Buckets,
}

/// A try that was let through and is counted. [`Throttle::uncount`] takes it back where it was none.
pub(super) struct Counted {
    name: Option<Key>,
    source: Option<Key>,
    device: Option<Key>,
    all: bool,
}

/// How long to wait before the next try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wait(pub(crate) Duration);

fn everybody() -> Key {
    Key::from("all")
}

impl Throttle {
    pub(super) fn new(tries: &Tries) -> Self {
        Self {
            names: Buckets::new(tries.name_and_source, tries.counted),
            sources: Buckets::new(tries.source, tries.counted),
            devices: Buckets::new(tries.device, tries.counted),
            all: Buckets::new(tries.all, 1),
        }
    }

    /// Counts a try at `now`, in milliseconds since 1970, before it is known whether it succeeds: many at once are no more
    /// than many in a row.
    pub(super) fn count(&self, trier: Trier<'_>, keys: &Keys, now: i64) -> Result<Counted, Wait> {
        let mut counted = Counted { name: None, source: None, device: None, all: false };
        let (name, source) = match trier {
            Trier::Device(device) => {
                let key = Key::from(keys.tag("throttle device", &[device.as_bytes()]));
                self.devices.take(&key, now)?;
                counted.device = Some(key);
                return Ok(counted);
            }
            Trier::Session(hash) => {
                let key = Key::from(keys.tag("throttle session", &[hash]));
                self.devices.take(&key, now)?;
                counted.device = Some(key);
                return Ok(counted);
            }
            Trier::Stranger { name, source } => (name, source.counted()),
        };
        let name = Key::from(keys.tag("throttle name", &[name.as_bytes(), &source]));
        let source = Key::from(keys.tag("throttle source", &[&source]));
        let failed_lately = self.sources.is_counting(&source, now);
        self.names.take(&name, now)?;
        counted.name = Some(name);
        if let Err(wait) = self.sources.take(&source, now) {
            self.uncount(counted, now);
            return Err(wait);
        }
        counted.source = Some(source);
        match self.all.take(&everybody(), now) {
            Ok(()) => counted.all = true,
            Err(wait) if failed_lately => {
                self.uncount(counted, now);
                return Err(wait);
            }
            Err(_) => {}
        }
        Ok(counted)
    }

    /// Takes a try back: it succeeded, or nothing was tried.
    pub(super) fn uncount(&self, counted: Counted, now: i64) {
        for (buckets, key) in
            [(&self.names, counted.name), (&self.sources, counted.source), (&self.devices, counted.device)]
        {
            if let Some(key) = key {
                buckets.give_back(&key, now);
            }
        }
        if counted.all {
            self.all.give_back(&everybody(), now);
        }
    }

    /// How many names, sources and devices are counted now.
    #[cfg(test)]
    fn counting(&self) -> [usize; 3] {
        [self.names.len(), self.sources.len(), self.devices.len()]
    }
}
