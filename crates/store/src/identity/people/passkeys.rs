//! Passkeys of people, and the challenges that were answered with them.

use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::{ACCOUNT, Account, account};
use crate::fault::{Doing as _, StoreFault};
use crate::identity::IdentityStore;

/// How many passkeys one account has at most.
const MOST_PASSKEYS: i64 = 20;

/// A passkey as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passkey {
    /// The credential's id, base64url.
    pub id: String,
    /// How its person calls it.
    pub name: String,
    /// COSE algorithm (RFC 9053).
    pub algorithm: i64,
    /// The public key, as DER of a `SubjectPublicKeyInfo`.
    pub public_key: Vec<u8>,
    /// What the authenticator counted at its last use; 0 where it does not count.
    pub counter: u32,
    /// When it was added.
    pub created_at: i64,
    /// When it was last used.
    pub used_at: Option<i64>,
}

/// The use of a passkey.
#[derive(Clone, Copy, Debug)]
pub struct PasskeyUse<'a> {
    /// The credential's id.
    pub id: &'a str,
    /// What the authenticator counts now.
    pub counter: u32,
    /// The challenge that it answered.
    pub challenge: &'a str,
    /// Until when the challenge is good.
    pub until: i64,
    /// When.
    pub at: i64,
}

fn passkey(row: &SqliteRow) -> Result<Passkey, StoreFault> {
    let read = || {
        Ok::<_, sqlx::Error>(Passkey {
            id: row.try_get("passkey")?,
            name: row.try_get("passkey_name")?,
            algorithm: row.try_get("algorithm")?,
            public_key: row.try_get("public_key")?,
            counter: row.try_get("counter")?,
            created_at: row.try_get("added_at")?,
            used_at: row.try_get("used_at")?,
        })
    };
    read().doing("read a passkey")
}

const PASSKEY: &str = "passkeys.id AS passkey, passkeys.name AS passkey_name, algorithm, public_key, counter, \
                       passkeys.created_at AS added_at, used_at";

/// Notes that a challenge was answered; `false` where it was before.
async fn spend(
    connection: &mut SqliteConnection,
    challenge: &str,
    until: i64,
    now: i64,
) -> Result<bool, StoreFault> {
    sqlx::query("DELETE FROM passkey_challenges WHERE until <= ?")
        .bind(now)
        .execute(&mut *connection)
        .await
        .doing("forget challenges")?;
    let spent =
        sqlx::query("INSERT INTO passkey_challenges (challenge, until) VALUES (?, ?) ON CONFLICT DO NOTHING")
            .bind(challenge)
            .bind(until)
            .execute(connection)
            .await
            .doing("note a challenge")?;
    Ok(spent.rows_affected() == 1)
}

impl IdentityStore {
    /// Adds a passkey that answered this challenge; `false` where the challenge was answered before, the credential is
    /// known, or the account has as many as it may or has to change its password.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn add_passkey(
        &self,
        user: &str,
        passkey: &Passkey,
        challenge: &str,
        until: i64,
    ) -> Result<bool, StoreFault> {
        let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await.doing("begin")?;
        let is_new = spend(&mut transaction, challenge, until, passkey.created_at).await?;
        let done = sqlx::query(
            "INSERT INTO passkeys (id, user, name, algorithm, public_key, counter, created_at) \
             SELECT ?, id, ?, ?, ?, ?, ? FROM users WHERE id = ? AND disabled = 0 AND one_time_until IS NULL \
             AND (SELECT COUNT(*) FROM passkeys WHERE user = users.id) < ? ON CONFLICT DO NOTHING",
        )
        .bind(&passkey.id)
        .bind(&passkey.name)
        .bind(passkey.algorithm)
        .bind(&passkey.public_key)
        .bind(passkey.counter)
        .bind(passkey.created_at)
        .bind(user)
        .bind(MOST_PASSKEYS)
        .execute(&mut *transaction)
        .await
        .doing("add a passkey")?;
        if !is_new || done.rows_affected() != 1 {
            transaction.rollback().await.doing("end")?;
            return Ok(false);
        }
        transaction.commit().await.doing("add a passkey")?;
        Ok(true)
    }

    /// Notes that a challenge was answered otherwise than with a passkey; `false` where it was answered before, in whichever way.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn spend_challenge(&self, challenge: &str, until: i64, now: i64) -> Result<bool, StoreFault> {
        let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await.doing("begin")?;
        let is_new = spend(&mut transaction, challenge, until, now).await?;
        transaction.commit().await.doing("note a challenge")?;
        Ok(is_new)
    }

    /// A passkey and its account.
    ///
    /// # Errors
    /// Where the database refuses, or a row cannot be read.
    pub async fn passkey(&self, id: &str) -> Result<Option<(Passkey, Account)>, StoreFault> {
        let query = format!(
            "SELECT {PASSKEY}, {ACCOUNT} FROM passkeys JOIN users ON users.id = user WHERE passkeys.id = ?"
        );
        let query = sqlx::query(sqlx::AssertSqlSafe(query)).bind(id);
        let row = query.fetch_optional(&self.pool).await.doing("look for a passkey")?;
        row.as_ref().map(|row| Ok((passkey(row)?, account(row)?))).transpose()
    }

    /// The passkeys of an account, the oldest first.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn passkeys_of(&self, user: &str) -> Result<Vec<Passkey>, StoreFault> {
        let query = format!("SELECT {PASSKEY} FROM passkeys WHERE user = ? ORDER BY created_at, id");
        let query = sqlx::query(sqlx::AssertSqlSafe(query)).bind(user);
        let rows = query.fetch_all(&self.pool).await.doing("list passkeys")?;
        rows.iter().map(passkey).collect()
    }

    /// Notes the use of a passkey; `false` where the challenge was answered before, or an authenticator that counts has
    /// counted no further: there are two of it.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn use_passkey(&self, used: &PasskeyUse<'_>) -> Result<bool, StoreFault> {
        let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await.doing("begin")?;
        let is_new = spend(&mut transaction, used.challenge, used.until, used.at).await?;
        let done = sqlx::query(
            "UPDATE passkeys SET counter = ?, used_at = ? WHERE id = ? AND (counter < ? OR counter = 0 AND ? = 0)",
        )
        .bind(used.counter)
        .bind(used.at)
        .bind(used.id)
        .bind(used.counter)
        .bind(used.counter)
        .execute(&mut *transaction)
        .await
        .doing("note the use of a passkey")?;
        if !is_new || done.rows_affected() != 1 {
            transaction.rollback().await.doing("end")?;
            return Ok(false);
        }
        transaction.commit().await.doing("note the use of a passkey")?;
        Ok(true)
    }

    /// Removes a passkey of an account.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn remove_passkey(&self, user: &str, id: &str) -> Result<(), StoreFault> {
        sqlx::query("DELETE FROM passkeys WHERE id = ? AND user = ?")
            .bind(id)
            .bind(user)
            .execute(&self.pool)
            .await
            .doing("remove a passkey")?;
        Ok(())
    }
}
