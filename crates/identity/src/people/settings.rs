//! What can be set about people who sign in.

use std::time::Duration;

use super::throttle::Rate;

/// Settings of [`super::People`].
#[derive(Clone, Debug)]
pub struct Settings {
    /// The issuer's URL: whether cookies are for `https` alone, and where forms come from.
    pub issuer: url::Url,
    /// A session ends so long after its last use.
    pub idle: Duration,
    /// A session ends so long after its sign-in.
    pub absolute: Duration,
    /// How passwords are hashed.
    pub hashing: Hashing,
    /// How many tries are let through.
    pub tries: Tries,
}

impl Settings {
    /// The defaults for an issuer.
    #[must_use]
    pub fn at(issuer: url::Url) -> Self {
        Self {
            issuer,
            idle: Duration::from_secs(8 * 3600),
            absolute: Duration::from_secs(7 * 24 * 3600),
            hashing: Hashing::default(),
            tries: Tries::default(),
        }
    }

    /// Whether the issuer is reached by TLS.
    #[must_use]
    pub fn is_secure(&self) -> bool {
        self.issuer.scheme() == "https"
    }

    /// Whether programs at other ports get to see the cookies: browsers do not tell ports apart in cookies (RFC 6265 §8.5), and
    /// on this computer any program may have a port. Without TLS no cookie is kept from anybody.
    #[must_use]
    pub fn shares_cookies(&self) -> bool {
        let loopback = match self.issuer.host() {
            Some(url::Host::Ipv4(address)) => address.is_loopback(),
            Some(url::Host::Ipv6(address)) => address.is_loopback(),
            Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            None => true,
        };
        loopback || !self.is_secure()
    }
}

/// Parameters of argon2id (RFC 9106), and how much of it runs at once.
#[derive(Clone, Debug)]
pub struct Hashing {
    /// Memory, cost in time and lanes. The default is argon2's own: 19 MiB, twice, one lane.
    pub params: argon2::Params,
    /// How many passwords are hashed at the same time; each takes a thread and the memory.
    pub at_once: usize,
    /// How many may wait for their turn. A device that a person signed in with before may wait where others are sent away.
    pub waiting: usize,
}

impl Default for Hashing {
    fn default() -> Self {
        Self { params: argon2::Params::default(), at_once: 3, waiting: 24 }
    }
}

/// How many tries to sign in are let through. A try that succeeds is not counted.
#[derive(Clone, Debug)]
pub struct Tries {
    /// For one name from one source.
    pub name_and_source: Rate,
    /// From one source for all names.
    pub source: Rate,
    /// From one device that the person has signed in with before. Only these count there.
    pub device: Rate,
    /// From all sources that failed lately, together. It never holds back a first try.
    pub all: Rate,
    /// How many names, sources and devices are counted at most, each.
    pub counted: usize,
}

impl Default for Tries {
    fn default() -> Self {
        Self {
            name_and_source: Rate { burst: 5, every: Duration::from_secs(60) },
            source: Rate { burst: 30, every: Duration::from_secs(10) },
            device: Rate { burst: 10, every: Duration::from_secs(30) },
            all: Rate { burst: 200, every: Duration::from_millis(250) },
            counted: 16_384,
        }
    }
}
