//! What the authorization server asks of the people.

use async_trait::async_trait;
use http::{HeaderMap, HeaderValue};
use time::OffsetDateTime;

use super::keys::kept;
use super::{PageKey, People, SignedIn, User};
use crate::authorization::{self, Barred, PeopleFault};

#[async_trait]
impl authorization::People for People {
    async fn signed_in(
        &self,
        headers: &HeaderMap,
        key: &PageKey,
        now: OffsetDateTime,
    ) -> Result<Option<SignedIn>, PeopleFault> {
        Self::signed_in(self, headers, key, now).await.map_err(PeopleFault::because)
    }

    async fn part(&self, headers: &HeaderMap) -> Result<Vec<HeaderValue>, PeopleFault> {
        Self::part(self, headers).await.map_err(PeopleFault::because)
    }

    async fn user(&self, id: &str) -> Result<Option<User>, PeopleFault> {
        Self::user(self, id).await.map_err(PeopleFault::because)
    }

    async fn barred(&self) -> Result<Vec<Barred>, PeopleFault> {
        let found = self.store.barred_accounts().await.map_err(PeopleFault::because)?;
        let barred = found.into_iter().map(|(user, disabled, signed_out_at)| Barred {
            user,
            granted_before: if disabled { None } else { signed_out_at.map(kept) },
        });
        Ok(barred.collect())
    }
}
