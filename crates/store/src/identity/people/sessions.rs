//! Sessions of browsers.
//!
//! **Invariant:** a session begins only with the password that was checked: it is compared again in the transaction that
//! writes the session, so that a reset or a disabling meanwhile is not overtaken.

use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::{ACCOUNT, Account, account, end_sessions};
use crate::fault::{Doing as _, StoreFault};
use crate::identity::IdentityStore;

/// How many sessions one account has at most; the one that was seen least recently goes first.
const MOST_SESSIONS: i64 = 50;

/// A session as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// SHA-256 of what the cookie holds.
    pub hash: Vec<u8>,
    /// When it began: when the person proved who it is.
    pub signed_in_at: i64,
    /// When it was last used, to a minute.
    pub seen_at: i64,
    /// SHA-256 of the sealed authorization request that the person signed in for, base64url.
    pub signed_in_for: Option<String>,
}

/// What sessions have to be younger than.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionEnds {
    /// One that began at or before this time is over.
    pub signed_in_by: i64,
    /// One that was last used at or before this time is over.
    pub seen_by: i64,
}

/// A session that begins.
#[derive(Clone, Copy)]
pub struct SessionStart<'a> {
    /// SHA-256 of what the cookie holds.
    pub hash: &'a [u8],
    /// The account.
    pub user: &'a str,
    /// The PHC string of the password that was checked.
    pub password: &'a str,
    /// SHA-256 of the sealed authorization request that the person signed in for, base64url.
    pub signed_in_for: Option<&'a str>,
    /// The session of the same browser until now; it ends.
    pub replaces: Option<&'a [u8]>,
    /// When.
    pub at: i64,
    /// Which other sessions, of whomever, are over and can be forgotten.
    pub ends: SessionEnds,
}

fn session(row: &SqliteRow) -> Result<Session, StoreFault> {
    let read = || {
        Ok::<_, sqlx::Error>(Session {
            hash: row.try_get("hash")?,
            signed_in_at: row.try_get("signed_in_at")?,
            seen_at: row.try_get("seen_at")?,
            signed_in_for: row.try_get("signed_in_for")?,
        })
    };
    read().doing("read a session")
}

async fn insert_session(
    connection: &mut SqliteConnection,
    start: &SessionStart<'_>,
) -> Result<bool, StoreFault> {
    if let Some(replaced) = start.replaces {
        sqlx::query("DELETE FROM sessions WHERE hash = ?")
            .bind(replaced)
            .execute(&mut *connection)
            .await
            .doing("end a session")?;
    }
    sqlx::query("DELETE FROM sessions WHERE signed_in_at <= ? OR (user = ? AND seen_at <= ?)")
        .bind(start.ends.signed_in_by)
        .bind(start.user)
        .bind(start.ends.seen_by)
        .execute(&mut *connection)
        .await
        .doing("forget sessions")?;
    let begun = sqlx::query(
        "INSERT INTO sessions (hash, user, signed_in_at, seen_at, signed_in_for) \
         SELECT ?, id, ?, ?, ? FROM users WHERE id = ? AND password = ? AND disabled = 0",
    )
    .bind(start.hash)
    .bind(start.at)
    .bind(start.at)
    .bind(start.signed_in_for)
    .bind(start.user)
    .bind(start.password)
    .execute(&mut *connection)
    .await
    .doing("begin a session")?;
    if begun.rows_affected() != 1 {
        return Ok(false);
    }
    sqlx::query(
        "DELETE FROM sessions WHERE hash IN \
         (SELECT hash FROM sessions WHERE user = ? AND hash <> ? ORDER BY seen_at DESC LIMIT -1 OFFSET ?)",
    )
    .bind(start.user)
    .bind(start.hash)
    .bind(MOST_SESSIONS - 1)
    .execute(connection)
    .await
    .doing("forget sessions")?;
    Ok(true)
}

impl IdentityStore {
    /// Begins a session; `false` where the account has another password meanwhile, or is disabled.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn begin_session(&self, start: &SessionStart<'_>) -> Result<bool, StoreFault> {
        let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await.doing("begin")?;
        let begun = insert_session(&mut transaction, start).await?;
        transaction.commit().await.doing("begin a session")?;
        Ok(begun)
    }

    /// A session and its account.
    ///
    /// # Errors
    /// Where the database refuses, or a row cannot be read.
    pub async fn session(&self, hash: &[u8]) -> Result<Option<(Session, Account)>, StoreFault> {
        let query = format!(
            "SELECT hash, signed_in_at, seen_at, signed_in_for, {ACCOUNT} FROM sessions JOIN users ON users.id = user WHERE hash = ?"
        );
        let query = sqlx::query(sqlx::AssertSqlSafe(query)).bind(hash);
        let row = query.fetch_optional(&self.pool).await.doing("look for a session")?;
        row.as_ref().map(|row| Ok((session(row)?, account(row)?))).transpose()
    }

    /// Notes that a session was used.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn see_session(&self, hash: &[u8], now: i64) -> Result<(), StoreFault> {
        sqlx::query("UPDATE sessions SET seen_at = MAX(seen_at, ?) WHERE hash = ?")
            .bind(now)
            .bind(hash)
            .execute(&self.pool)
            .await
            .doing("note the use of a session")?;
        Ok(())
    }

    /// The sessions of an account, those that were used last first.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn sessions_of(&self, user: &str) -> Result<Vec<Session>, StoreFault> {
        let rows = sqlx::query(
            "SELECT hash, signed_in_at, seen_at, signed_in_for FROM sessions WHERE user = ? ORDER BY seen_at DESC, hash",
        )
        .bind(user)
        .fetch_all(&self.pool)
        .await
        .doing("list sessions")?;
        rows.iter().map(session).collect()
    }

    /// Ends one session.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn end_session(&self, hash: &[u8]) -> Result<(), StoreFault> {
        sqlx::query("DELETE FROM sessions WHERE hash = ?")
            .bind(hash)
            .execute(&self.pool)
            .await
            .doing("end a session")?;
        Ok(())
    }

    /// Ends all sessions of an account, and notes that what was granted until now is good no more.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn sign_out_everywhere(&self, user: &str, now: i64) -> Result<(), StoreFault> {
        let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await.doing("begin")?;
        sqlx::query("UPDATE users SET signed_out_at = ? WHERE id = ?")
            .bind(now)
            .bind(user)
            .execute(&mut *transaction)
            .await
            .doing("sign out")?;
        end_sessions(&mut transaction, user).await?;
        transaction.commit().await.doing("sign out")?;
        Ok(())
    }
}
