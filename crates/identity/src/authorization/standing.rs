//! Which tokens stand: what was revoked, and who is barred, in memory. A check of a token asks no store.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use time::{Duration, OffsetDateTime};

/// How old the picture may be before nobody is believed any more.
const STALE: Duration = Duration::seconds(30);

/// The picture of the store, and what this process did since.
pub(super) struct Standing(Mutex<Picture>);

struct Picture {
    revoked: HashSet<String>,
    disabled: HashSet<String>,
    services: HashSet<String>,
    /// What this process revoked while a picture was being made: the new one may not have it yet.
    since: HashSet<String>,
    /// The services to which this process gave tokens while a picture was being made, by what it read in the store itself.
    served: HashSet<String>,
    at: OffsetDateTime,
}

impl Picture {
    fn is_current(&self, now: OffsetDateTime) -> bool {
        now - self.at <= STALE
    }
}

impl Standing {
    pub(super) fn new(now: OffsetDateTime) -> Self {
        let none = HashSet::new;
        Self(Mutex::new(Picture {
            revoked: none(),
            disabled: none(),
            services: none(),
            since: none(),
            served: none(),
            at: now - STALE - Duration::SECOND,
        }))
    }

    /// Before the store is asked.
    pub(super) fn begin(&self) {
        let mut picture = self.locked();
        picture.since.clear();
        picture.served.clear();
    }

    /// What the store said.
    pub(super) fn replace(
        &self,
        revoked: HashSet<String>,
        disabled: HashSet<String>,
        services: HashSet<String>,
        now: OffsetDateTime,
    ) {
        let mut picture = self.locked();
        picture.revoked = revoked;
        let since = std::mem::take(&mut picture.since);
        picture.revoked.extend(since);
        picture.disabled = disabled;
        picture.services = services;
        let served = std::mem::take(&mut picture.served);
        picture.services.extend(served);
        picture.at = now;
    }

    /// This process revoked a grant.
    pub(super) fn revoke(&self, grant: &str) {
        let mut picture = self.locked();
        picture.revoked.insert(grant.to_owned());
        picture.since.insert(grant.to_owned());
    }

    /// A service that the store has was given a token: the picture may be older than it.
    pub(super) fn serve(&self, service: &str) {
        let mut picture = self.locked();
        picture.services.insert(service.to_owned());
        picture.served.insert(service.to_owned());
    }

    /// Whether a grant is known to be revoked.
    pub(super) fn revoked(&self, grant: &str) -> bool {
        self.locked().revoked.contains(grant)
    }

    /// Whether the picture is new enough to be believed.
    pub(super) fn is_current(&self, now: OffsetDateTime) -> bool {
        self.locked().is_current(now)
    }

    /// Whether tokens of this subject under this grant stand; without a grant, whether the service does.
    pub(super) fn stands(&self, subject: &str, grant: Option<&str>, now: OffsetDateTime) -> bool {
        let picture = self.locked();
        let standing = match grant {
            Some(grant) => !picture.revoked.contains(grant) && !picture.disabled.contains(subject),
            None => picture.services.contains(subject),
        };
        picture.is_current(now) && standing
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Picture> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
