//! Clients that are known beforehand, or that registered themselves.

use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::IdentityStore;
use crate::fault::{Doing as _, StoreFault};

/// A client as it is kept. What the record holds is the authorization server's business.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredClient {
    /// Its `client_id`.
    pub id: String,
    /// It registered itself; otherwise whoever runs the gateway wrote it down.
    pub dynamic: bool,
    /// JSON.
    pub record: String,
    /// SHA-256 of its secret.
    pub secret: Option<Vec<u8>>,
    /// It gets nothing, and what it got is good no more.
    pub disabled: bool,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// When it last got a token, milliseconds since 1970.
    pub used_at: Option<i64>,
}

fn read(row: &SqliteRow) -> Result<StoredClient, sqlx::Error> {
    let origin: &str = row.try_get("origin")?;
    Ok(StoredClient {
        id: row.try_get("id")?,
        dynamic: origin == "dynamic",
        record: row.try_get("record")?,
        secret: row.try_get("secret")?,
        disabled: row.try_get("disabled")?,
        created_at: row.try_get("created_at")?,
        used_at: row.try_get("used_at")?,
    })
}

impl IdentityStore {
    /// Keeps a client. `false` where its id is taken already.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn add_client(&self, client: &StoredClient) -> Result<bool, StoreFault> {
        let done = sqlx::query(
            "INSERT INTO clients (id, origin, record, secret, disabled, created_at, used_at)
             VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
        )
        .bind(&client.id)
        .bind(if client.dynamic { "dynamic" } else { "beforehand" })
        .bind(&client.record)
        .bind(&client.secret)
        .bind(client.disabled)
        .bind(client.created_at)
        .bind(client.used_at)
        .execute(&self.pool)
        .await
        .doing("write a client")?;
        Ok(done.rows_affected() == 1)
    }

    /// Keeps a client that registered itself, unless there are `most` of them. Those make room first that registered before
    /// `unused_since` and never got a token, or got none since `idle_since`; none that is disabled.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn add_dynamic_client(
        &self,
        client: &StoredClient,
        most: u32,
        unused_since: i64,
        idle_since: i64,
    ) -> Result<bool, StoreFault> {
        let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await.doing("begin")?;
        sqlx::query(
            "DELETE FROM clients WHERE origin = 'dynamic' AND NOT disabled
             AND ((used_at IS NULL AND created_at < ?) OR used_at < ?)",
        )
        .bind(unused_since)
        .bind(idle_since)
        .execute(&mut *transaction)
        .await
        .doing("sweep clients")?;
        let done = sqlx::query(
            "INSERT INTO clients (id, origin, record, created_at)
             SELECT ?, 'dynamic', ?, ? WHERE (SELECT COUNT(*) FROM clients WHERE origin = 'dynamic') < ?
             ON CONFLICT (id) DO NOTHING",
        )
        .bind(&client.id)
        .bind(&client.record)
        .bind(client.created_at)
        .bind(most)
        .execute(&mut *transaction)
        .await
        .doing("write a client")?;
        transaction.commit().await.doing("write a client")?;
        Ok(done.rows_affected() == 1)
    }

    /// The client with this id.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn client(&self, id: &str) -> Result<Option<StoredClient>, StoreFault> {
        let row = sqlx::query("SELECT * FROM clients WHERE id = ?").bind(id).fetch_optional(&self.pool).await;
        let row = row.doing("look for a client")?;
        row.as_ref().map(read).transpose().doing("read a client")
    }

    /// All clients that are kept, the oldest first.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn clients(&self) -> Result<Vec<StoredClient>, StoreFault> {
        let rows = sqlx::query("SELECT * FROM clients ORDER BY created_at, id").fetch_all(&self.pool).await;
        rows.doing("list clients")?.iter().map(read).collect::<Result<_, _>>().doing("read a client")
    }

    /// The ids of the clients that were written down beforehand and are not disabled.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn enabled_clients(&self) -> Result<Vec<String>, StoreFault> {
        sqlx::query_scalar("SELECT id FROM clients WHERE origin = 'beforehand' AND NOT disabled")
            .fetch_all(&self.pool)
            .await
            .doing("list clients")
    }

    /// Notes that a client got a token.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn note_client_used(&self, id: &str, now: i64) -> Result<(), StoreFault> {
        sqlx::query("UPDATE clients SET used_at = ? WHERE id = ?")
            .bind(now)
            .bind(id)
            .execute(&self.pool)
            .await
            .doing("write a client")?;
        Ok(())
    }

    /// Disables a client, or enables it again. What people granted to a disabled one is revoked. `false` where there is none.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn set_client_disabled(&self, id: &str, disabled: bool, now: i64) -> Result<bool, StoreFault> {
        let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await.doing("begin")?;
        let done = sqlx::query("UPDATE clients SET disabled = ? WHERE id = ?")
            .bind(disabled)
            .bind(id)
            .execute(&mut *transaction)
            .await
            .doing("write a client")?;
        if disabled {
            revoke_all(&mut transaction, id, now).await?;
        }
        transaction.commit().await.doing("write a client")?;
        Ok(done.rows_affected() == 1)
    }

    /// Removes a client for good, and revokes what people granted to it. `false` where there is none.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn remove_client(&self, id: &str, now: i64) -> Result<bool, StoreFault> {
        let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await.doing("begin")?;
        revoke_all(&mut transaction, id, now).await?;
        let done = sqlx::query("DELETE FROM clients WHERE id = ?").bind(id).execute(&mut *transaction).await;
        let done = done.doing("remove a client")?;
        transaction.commit().await.doing("remove a client")?;
        Ok(done.rows_affected() == 1)
    }
}

async fn revoke_all(connection: &mut SqliteConnection, client: &str, now: i64) -> Result<(), StoreFault> {
    sqlx::query("UPDATE grants SET revoked_at = ? WHERE client = ? AND revoked_at IS NULL")
        .bind(now)
        .bind(client)
        .execute(connection)
        .await
        .doing("revoke grants")?;
    Ok(())
}
