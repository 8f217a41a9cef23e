//! The keys that sign access tokens.

use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::IdentityStore;
use crate::fault::{Doing as _, StoreFault};

/// A key as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredKey {
    /// Names it in headers of tokens.
    pub kid: String,
    /// The private key, sealed.
    pub sealed: Vec<u8>,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// From when on a later one signs, milliseconds since 1970.
    pub retired_at: Option<i64>,
}

fn read(row: &SqliteRow) -> Result<StoredKey, sqlx::Error> {
    Ok(StoredKey {
        kid: row.try_get("kid")?,
        sealed: row.try_get("sealed")?,
        created_at: row.try_get("created_at")?,
        retired_at: row.try_get("retired_at")?,
    })
}

impl IdentityStore {
    /// All keys, the one that signs first.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn signing_keys(&self) -> Result<Vec<StoredKey>, StoreFault> {
        let query = "SELECT * FROM signing_keys ORDER BY retired_at IS NOT NULL, created_at DESC, kid";
        let rows = sqlx::query(query).fetch_all(&self.pool).await.doing("list signing keys")?;
        rows.iter().map(read).collect::<Result<_, _>>().doing("read a signing key")
    }

    /// Lets a new key sign, and retires the one that did. Those that retired before `expired` are gone for good.
    ///
    /// With `only_first`, nothing happens where there is a key already: two processes that start at once agree on one.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn add_signing_key(
        &self,
        key: &StoredKey,
        only_first: bool,
        expired: i64,
    ) -> Result<bool, StoreFault> {
        let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await.doing("begin")?;
        let signing: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM signing_keys WHERE retired_at IS NULL")
            .fetch_one(&mut *transaction)
            .await
            .doing("list signing keys")?;
        if only_first && signing > 0 {
            return Ok(false);
        }
        sqlx::query("UPDATE signing_keys SET retired_at = ? WHERE retired_at IS NULL")
            .bind(key.created_at)
            .execute(&mut *transaction)
            .await
            .doing("retire a signing key")?;
        sqlx::query("DELETE FROM signing_keys WHERE retired_at < ?")
            .bind(expired)
            .execute(&mut *transaction)
            .await
            .doing("remove a signing key")?;
        sqlx::query("INSERT INTO signing_keys (kid, sealed, created_at) VALUES (?, ?, ?)")
            .bind(&key.kid)
            .bind(&key.sealed)
            .bind(key.created_at)
            .execute(&mut *transaction)
            .await
            .doing("write a signing key")?;
        transaction.commit().await.doing("write a signing key")?;
        Ok(true)
    }
}
