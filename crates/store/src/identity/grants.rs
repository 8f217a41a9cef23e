//! What people granted to clients, and assertions and authorization requests that were used.

use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::IdentityStore;
use crate::fault::{Doing as _, StoreFault};

/// What a person allowed a client: one family of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredGrant {
    /// Random, and never used again.
    pub id: String,
    /// The client.
    pub client: String,
    /// The person.
    pub subject: String,
    /// JSON: what was allowed.
    pub record: String,
    /// 0 while its code is good; then the number of the refresh token that is.
    pub generation: i64,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// From when on nothing of it can be used, milliseconds since 1970.
    pub ends_at: i64,
    /// When it was revoked, milliseconds since 1970.
    pub revoked_at: Option<i64>,
}

/// What became of a code or a refresh token that was to be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advanced {
    /// It was good, and is no more: the next of the family has this number.
    To(i64),
    /// It was used before, so that it is in two hands: the whole family was revoked.
    Reused,
    /// The family is revoked, at its end, or not there.
    Over,
}

fn read(row: &SqliteRow) -> Result<StoredGrant, sqlx::Error> {
    Ok(StoredGrant {
        id: row.try_get("id")?,
        client: row.try_get("client")?,
        subject: row.try_get("subject")?,
        record: row.try_get("record")?,
        generation: row.try_get("generation")?,
        created_at: row.try_get("created_at")?,
        ends_at: row.try_get("ends_at")?,
        revoked_at: row.try_get("revoked_at")?,
    })
}

async fn find(connection: &mut SqliteConnection, id: &str) -> Result<Option<StoredGrant>, StoreFault> {
    let row = sqlx::query("SELECT * FROM grants WHERE id = ?").bind(id).fetch_optional(connection).await;
    row.doing("look for a grant")?.as_ref().map(read).transpose().doing("read a grant")
}

impl IdentityStore {
    /// Keeps a new grant.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn add_grant(&self, grant: &StoredGrant) -> Result<(), StoreFault> {
        sqlx::query(
            "INSERT INTO grants (id, client, subject, record, generation, created_at, ends_at)
             VALUES (?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(&grant.id)
        .bind(&grant.client)
        .bind(&grant.subject)
        .bind(&grant.record)
        .bind(grant.generation)
        .bind(grant.created_at)
        .bind(grant.ends_at)
        .execute(&self.pool)
        .await
        .doing("write a grant")?;
        Ok(())
    }

    /// The grant with this id.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn grant(&self, id: &str) -> Result<Option<StoredGrant>, StoreFault> {
        let mut connection = self.pool.acquire().await.doing("look for a grant")?;
        find(&mut connection, id).await
    }

    /// Uses the code or refresh token with this number, once. With it come the grant's record as it is to be from now on,
    /// and its end.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn advance_grant(
        &self,
        id: &str,
        generation: i64,
        record: &str,
        ends_at: i64,
        now: i64,
    ) -> Result<Advanced, StoreFault> {
        let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await.doing("begin")?;
        let found = find(&mut transaction, id).await?;
        let live = found.filter(|grant| grant.revoked_at.is_none() && grant.ends_at > now);
        let Some(grant) = live else { return Ok(Advanced::Over) };
        if grant.generation != generation {
            revoke(&mut transaction, id, now).await?;
            transaction.commit().await.doing("revoke a grant")?;
            return Ok(Advanced::Reused);
        }
        let next = generation.saturating_add(1);
        sqlx::query("UPDATE grants SET generation = ?, record = ?, ends_at = ? WHERE id = ?")
            .bind(next)
            .bind(record)
            .bind(ends_at)
            .bind(id)
            .execute(&mut *transaction)
            .await
            .doing("write a grant")?;
        transaction.commit().await.doing("write a grant")?;
        Ok(Advanced::To(next))
    }

    /// Revokes a grant. `false` where there is none that stands.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn revoke_grant(&self, id: &str, now: i64) -> Result<bool, StoreFault> {
        let mut connection = self.pool.acquire().await.doing("revoke a grant")?;
        revoke(&mut connection, id, now).await
    }

    /// Revokes what a person granted before this time.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn revoke_grants_of(&self, subject: &str, before: i64, now: i64) -> Result<u64, StoreFault> {
        let done = sqlx::query(
            "UPDATE grants SET revoked_at = ? WHERE subject = ? AND created_at < ? AND revoked_at IS NULL",
        )
        .bind(now)
        .bind(subject)
        .bind(before)
        .execute(&self.pool)
        .await
        .doing("revoke grants")?;
        Ok(done.rows_affected())
    }

    /// The ids of those that were revoked since then.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn grants_revoked_since(&self, since: i64) -> Result<Vec<String>, StoreFault> {
        sqlx::query_scalar("SELECT id FROM grants WHERE revoked_at >= ?")
            .bind(since)
            .fetch_all(&self.pool)
            .await
            .doing("list revoked grants")
    }

    /// Notes that an assertion was used. `false` where it was before.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn use_assertion(&self, id: &[u8], until: i64) -> Result<bool, StoreFault> {
        let done =
            sqlx::query("INSERT INTO assertions (id, until) VALUES (?, ?) ON CONFLICT (id) DO NOTHING")
                .bind(id)
                .bind(until)
                .execute(&self.pool)
                .await
                .doing("note an assertion")?;
        Ok(done.rows_affected() == 1)
    }

    /// Notes that an authorization request was answered. `false` where it was before.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn answer_request(&self, id: &str, until: i64) -> Result<bool, StoreFault> {
        let done = sqlx::query(
            "INSERT INTO answered_requests (id, until) VALUES (?, ?) ON CONFLICT (id) DO NOTHING",
        )
        .bind(id)
        .bind(until)
        .execute(&self.pool)
        .await
        .doing("note an answer")?;
        Ok(done.rows_affected() == 1)
    }

    /// Whether an authorization request was answered.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn request_was_answered(&self, id: &str) -> Result<bool, StoreFault> {
        let found: Option<i64> = sqlx::query_scalar("SELECT until FROM answered_requests WHERE id = ?")
            .bind(id)
            .fetch_optional(&self.pool)
            .await
            .doing("look for an answer")?;
        Ok(found.is_some())
    }

    /// Forgets grants that ended before `ended`, and assertions and requests that would be refused by now for their age.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn sweep_grants(&self, ended: i64, now: i64) -> Result<(), StoreFault> {
        let queries = [
            ("DELETE FROM grants WHERE ends_at < ?", ended),
            ("DELETE FROM assertions WHERE until < ?", now),
            ("DELETE FROM answered_requests WHERE until < ?", now),
        ];
        for (query, before) in queries {
            sqlx::query(query).bind(before).execute(&self.pool).await.doing("sweep grants")?;
        }
        Ok(())
    }
}

async fn revoke(connection: &mut SqliteConnection, id: &str, now: i64) -> Result<bool, StoreFault> {
    let done = sqlx::query("UPDATE grants SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL")
        .bind(now)
        .bind(id)
        .execute(connection)
        .await
        .doing("revoke a grant")?;
    Ok(done.rows_affected() == 1)
}
