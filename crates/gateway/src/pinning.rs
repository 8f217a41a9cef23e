//! What an upstream serves now, for whoever writes or checks a lock.

use aldgate_contract::{Lock, UpstreamIdentity};

use crate::catalog::live_list;
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
    let (identity, tools, unreadable) = fetch_live(one, settings).await?;
    let live = tools.iter().map(|(name, raw)| (name.as_str(), raw.get()));
    let at = clock::rfc3339(clock::now());
    let pinned = match before {
        Some(before) => before.repin(live, &at).map(|mut lock| {
            lock.upstream = identity;
            lock
        }),
        None => Lock::pin(identity, live, &at),
    };
    let lock = pinned.map_err(|source| StartFault::Pin { name: one.name.clone(), source })?;
    Ok((lock, unreadable))
}

/// Tools as they are served now, by name.
pub type LiveTools = Vec<(String, Box<serde_json::value::RawValue>)>;

/// What an upstream serves now: its identity, its tools, and the elements of its list that cannot be read.
///
/// # Errors
/// Where the upstream cannot be asked.
pub async fn fetch_live(
    one: &UpstreamSettings,
    settings: &Settings,
) -> Result<(UpstreamIdentity, LiveTools, Vec<String>), StartFault> {
    let name = one.name.clone();
    let upstream = Upstream::new(&name, one.transport.clone(), one.bearer.as_deref())
        .map_err(|source| StartFault::Upstream { name: name.clone(), source })?;
    let live = live_list(&upstream, &settings.bounds)
        .await
        .map_err(|source| StartFault::FirstUse { name: name.clone(), source })?;
    let identity = UpstreamIdentity { name, endpoint: upstream.endpoint().to_owned(), server: live.server };
    Ok((identity, live.tools, live.unreadable))
}
