//! What an upstream serves now, for whoever writes or checks a lock.

use aldgate_contract::{Kind, Live, Lock, UpstreamIdentity};

use crate::catalog::{LiveList, live_list};
use crate::clock;
use crate::gateway::StartFault;
use crate::settings::{Settings, UpstreamSettings};
use crate::upstream::Upstream;

/// Pins what an upstream serves now, for a lock file; `before` keeps the history.
///
/// # Errors
/// Where the upstream cannot be asked, or serves what cannot be pinned.
pub async fn pin_live(
    one: &UpstreamSettings,
    settings: &Settings,
    before: Option<&Lock>,
) -> Result<(Lock, Vec<String>), StartFault> {
    let live = fetch_live(one, settings).await?;
    let at = clock::rfc3339(clock::now());
    let pinned = match before {
        Some(before) => before.repin(live.as_live(), &at).map(|mut lock| {
            lock.upstream = live.identity();
            lock
        }),
        None => Lock::pin(live.identity(), live.as_live(), &at),
    };
    let lock = pinned.map_err(|source| StartFault::Pin { name: one.name.clone(), source })?;
    Ok((lock, live.list.unreadable))
}

/// What an upstream serves now.
pub struct LiveContracts {
    name: String,
    endpoint: String,
    list: LiveList,
}

impl LiveContracts {
    /// Which upstream it is.
    #[must_use]
    pub fn identity(&self) -> UpstreamIdentity {
        let (name, endpoint) = (self.name.clone(), self.endpoint.clone());
        UpstreamIdentity { name, endpoint, server: self.list.server.clone() }
    }

    /// Its contracts, as a lock compares them.
    #[must_use]
    pub fn as_live(&self) -> Live<'_> {
        self.list.as_live()
    }

    /// The definition of one contract as it is served.
    #[must_use]
    pub fn definition(&self, kind: Kind, name: &str) -> Option<&str> {
        let definitions = self.list.contracts.get(&kind)?;
        definitions.iter().find(|(served, _)| served == name).map(|(_, raw)| raw.get())
    }

    /// The names and definitions of a kind, in the upstream's order.
    pub fn definitions(&self, kind: Kind) -> impl Iterator<Item = (&str, &str)> {
        let definitions = self.list.contracts.get(&kind).into_iter().flatten();
        definitions.map(|(name, raw)| (name.as_str(), raw.get()))
    }

    /// The elements of its lists that cannot be read, in words.
    #[must_use]
    pub fn unreadable(&self) -> &[String] {
        &self.list.unreadable
    }
}

/// What an upstream serves now: its identity, its contracts, and the elements of its lists that cannot be read.
///
/// # Errors
/// Where the upstream cannot be asked.
pub async fn fetch_live(one: &UpstreamSettings, settings: &Settings) -> Result<LiveContracts, StartFault> {
    let name = one.name.clone();
    let upstream = Upstream::new(&name, one.transport.clone(), &one.credential)
        .map_err(|source| StartFault::Upstream { name: name.clone(), source })?;
    let list = live_list(&upstream, &settings.bounds)
        .await
        .map_err(|source| StartFault::FirstUse { name: name.clone(), source })?;
    Ok(LiveContracts { name, endpoint: upstream.endpoint().to_owned(), list })
}
