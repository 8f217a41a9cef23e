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
    at: OffsetDateTime,
}

impl Standing {
    pub(super) fn new(now: OffsetDateTime) -> Self {
        let none = HashSet::new;
        Self(Mutex::new(Picture {
            revoked: none(),
            disabled: none(),
            services: none(),
            since: none(),
            at: now - STALE - Duration::SECOND,
        }))
    }

    /// Before the store is asked.
    pub(super) fn begin(&self) {
        self.locked().since.clear();
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
        picture.at = now;
    }

    /// This process revoked a grant.
    pub(super) fn revoke(&self, grant: &str) {
        let mut picture = self.locked();
        picture.revoked.insert(grant.to_owned());
        picture.since.insert(grant.to_owned());
    }

    /// Whether a grant is known to be revoked.
    pub(super) fn revoked(&self, grant: &str) -> bool {
        self.locked().revoked.contains(grant)
    }

    /// Whether tokens of this subject under this grant stand; without a grant, whether the service does.
    pub(super) fn stands(&self, subject: &str, grant: Option<&str>, now: OffsetDateTime) -> bool {
        let picture = self.locked();
        let fresh = now - picture.at <= STALE;
        let standing = match grant {
            Some(grant) => !picture.revoked.contains(grant) && !picture.disabled.contains(subject),
            None => picture.services.contains(subject),
        };
        fresh && standing
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Picture> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
