//! Accounts of people at upstreams. What is kept of one is sealed before it comes here.

use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::IdentityStore;
use crate::fault::{Doing as _, StoreFault};

/// Which connection: of one person, at one upstream, with tokens of one authorization server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionKey<'a> {
    /// The upstream's authorization server.
    pub issuer: &'a str,
    /// The host's name of the upstream.
    pub upstream: &'a str,
    /// The id of the account.
    pub user: &'a str,
}

/// A connection of a person, without what is sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredConnection {
    /// The upstream's authorization server.
    pub issuer: String,
    /// The host's name of the upstream.
    pub upstream: String,
    /// Milliseconds since 1970.
    pub connected_at: i64,
}

fn read(row: &SqliteRow) -> Result<StoredConnection, sqlx::Error> {
    Ok(StoredConnection {
        issuer: row.try_get("issuer")?,
        upstream: row.try_get("upstream")?,
        connected_at: row.try_get("connected_at")?,
    })
}

impl IdentityStore {
    /// What is sealed of a connection; nothing where there is none, or its person is disabled.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn connection(&self, key: ConnectionKey<'_>) -> Result<Option<String>, StoreFault> {
        let query = "SELECT sealed FROM connections JOIN users ON users.id = connections.user \
            WHERE issuer = ? AND upstream = ? AND user = ? AND disabled = 0";
        sqlx::query_scalar(query)
            .bind(key.issuer)
            .bind(key.upstream)
            .bind(key.user)
            .fetch_optional(&self.pool)
            .await
            .doing("read a connection")
    }

    /// Keeps a connection in the place of the one that there was.
    ///
    /// # Errors
    /// Where the database refuses, or there is no such person.
    pub async fn connect(&self, key: ConnectionKey<'_>, sealed: &str, now: i64) -> Result<(), StoreFault> {
        let query = "INSERT INTO connections (issuer, upstream, user, sealed, connected_at) VALUES (?, ?, ?, ?, ?) \
            ON CONFLICT DO UPDATE SET sealed = excluded.sealed, connected_at = excluded.connected_at";
        let inserted =
            sqlx::query(query).bind(key.issuer).bind(key.upstream).bind(key.user).bind(sealed).bind(now);
        inserted.execute(&self.pool).await.doing("keep a connection")?;
        Ok(())
    }

    /// Puts fresh tokens into a connection; `false` where it has ended meanwhile.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn refresh_connection(&self, key: ConnectionKey<'_>, sealed: &str) -> Result<bool, StoreFault> {
        let query = "UPDATE connections SET sealed = ? WHERE issuer = ? AND upstream = ? AND user = ?";
        let updated = sqlx::query(query).bind(sealed).bind(key.issuer).bind(key.upstream).bind(key.user);
        Ok(updated.execute(&self.pool).await.doing("keep a connection")?.rows_affected() > 0)
    }

    /// Takes away a connection that has ended at its server; `false` where there was none.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn end_connection(&self, key: ConnectionKey<'_>) -> Result<bool, StoreFault> {
        let query = "DELETE FROM connections WHERE issuer = ? AND upstream = ? AND user = ?";
        let deleted = sqlx::query(query).bind(key.issuer).bind(key.upstream).bind(key.user);
        Ok(deleted.execute(&self.pool).await.doing("end a connection")?.rows_affected() > 0)
    }

    /// Ends all connections of a person to what the host calls `upstream`, whatever their authorization server, because the
    /// person takes them back.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn disconnect(&self, upstream: &str, user: &str) -> Result<(), StoreFault> {
        let doing = "end a connection";
        let mut both = self.pool.begin_with("BEGIN IMMEDIATE").await.doing(doing)?;
        for query in [
            "UPDATE connections SET taken_back = 1 WHERE upstream = ? AND user = ?",
            "DELETE FROM connections WHERE upstream = ? AND user = ?",
        ] {
            sqlx::query(query).bind(upstream).bind(user).execute(&mut *both).await.doing(doing)?;
        }
        both.commit().await.doing(doing)
    }

    /// The connections of a person, the oldest first.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn connections_of(&self, user: &str) -> Result<Vec<StoredConnection>, StoreFault> {
        let query = "SELECT issuer, upstream, connected_at FROM connections WHERE user = ? ORDER BY connected_at, upstream";
        let rows = sqlx::query(query).bind(user).fetch_all(&self.pool).await.doing("list connections")?;
        rows.iter().map(read).collect::<Result<_, _>>().doing("read a connection")
    }
}
