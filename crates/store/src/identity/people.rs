//! Accounts of people and the sessions of their browsers. Times are milliseconds since 1970.
//!
//! A person's sessions end with whatever changes who may sign in, in the same transaction.

mod passkeys;
mod sessions;

use std::collections::BTreeSet;

use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::IdentityStore;
use crate::fault::{Doing as _, StoreFault};
pub use passkeys::{Passkey, PasskeyUse};
pub use sessions::{Session, SessionEnds, SessionStart};

/// What [`account`] reads.
const ACCOUNT: &str = "users.id, users.name, display_name, tenant, roles, password, one_time_until, disabled, \
                       users.created_at, changed_at, signed_out_at";

/// An account to be made.
#[derive(Clone, PartialEq, Eq)]
pub struct NewAccount {
    /// Random and never given to another.
    pub id: String,
    /// What the person signs in with, folded.
    pub name: String,
    /// A name to show.
    pub display_name: String,
    /// The tenant that the person belongs to.
    pub tenant: String,
    /// Roles, as policies name them.
    pub roles: BTreeSet<String>,
    /// argon2id, as a PHC string.
    pub password: String,
    /// The end of a password that is good once.
    pub one_time_until: Option<i64>,
    /// When it is made.
    pub at: i64,
}

/// An account as it is kept.
#[derive(Clone, PartialEq, Eq)]
pub struct Account {
    /// Random and never given to another.
    pub id: String,
    /// What the person signs in with, folded.
    pub name: String,
    /// A name to show.
    pub display_name: String,
    /// The tenant that the person belongs to.
    pub tenant: String,
    /// Roles, as policies name them.
    pub roles: BTreeSet<String>,
    /// argon2id, as a PHC string.
    pub password: String,
    /// The end of a password that is good once; such a password has to be changed at the first sign-in.
    pub one_time_until: Option<i64>,
    /// Nobody signs in with it.
    pub disabled: bool,
    /// When it was made.
    pub created_at: i64,
    /// When it was changed.
    pub changed_at: i64,
    /// What was granted before this time is good no more.
    pub signed_out_at: Option<i64>,
}

fn account(row: &SqliteRow) -> Result<Account, StoreFault> {
    let read = || {
        Ok::<_, sqlx::Error>(Account {
            id: row.try_get("id")?,
            name: row.try_get("name")?,
            display_name: row.try_get("display_name")?,
            tenant: row.try_get("tenant")?,
            roles: BTreeSet::new(),
            password: row.try_get("password")?,
            one_time_until: row.try_get("one_time_until")?,
            disabled: row.try_get("disabled")?,
            created_at: row.try_get("created_at")?,
            changed_at: row.try_get("changed_at")?,
            signed_out_at: row.try_get("signed_out_at")?,
        })
    };
    let account = read().doing("read an account")?;
    let roles: &str = row.try_get("roles").doing("read an account")?;
    let roles = serde_json::from_str(roles)
        .map_err(|source| StoreFault::Unreadable { what: "list of roles", source })?;
    Ok(Account { roles, ..account })
}

/// A password that its person changes.
#[derive(Clone, Copy)]
pub struct PasswordChange<'a> {
    /// The account.
    pub user: &'a str,
    /// The PHC string of the password that was checked.
    pub checked: &'a str,
    /// The PHC string of the new one.
    pub anew: &'a str,
    /// SHA-256 of what the cookie of the session holds that it is changed in.
    pub session: &'a [u8],
    /// SHA-256 of what that cookie holds from now on.
    pub hash: &'a [u8],
    /// When.
    pub at: i64,
}

async fn end_sessions(connection: &mut SqliteConnection, user: &str) -> Result<(), StoreFault> {
    sqlx::query("DELETE FROM sessions WHERE user = ?")
        .bind(user)
        .execute(connection)
        .await
        .doing("end sessions")?;
    Ok(())
}

impl IdentityStore {
    /// Makes an account; `false` where the name is taken.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn add_account(&self, new: &NewAccount) -> Result<bool, StoreFault> {
        let roles = serde_json::to_string(&new.roles)
            .map_err(|source| StoreFault::Unreadable { what: "list of roles", source })?;
        let done = sqlx::query(
            "INSERT INTO users (id, name, display_name, tenant, roles, password, one_time_until, created_at, \
             changed_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING",
        )
        .bind(&new.id)
        .bind(&new.name)
        .bind(&new.display_name)
        .bind(&new.tenant)
        .bind(roles)
        .bind(&new.password)
        .bind(new.one_time_until)
        .bind(new.at)
        .bind(new.at)
        .execute(&self.pool)
        .await
        .doing("add an account")?;
        Ok(done.rows_affected() == 1)
    }

    /// All accounts, by name.
    ///
    /// # Errors
    /// Where the database refuses, or a row cannot be read.
    pub async fn accounts(&self) -> Result<Vec<Account>, StoreFault> {
        let query = format!("SELECT {ACCOUNT} FROM users ORDER BY name");
        let rows =
            sqlx::query(sqlx::AssertSqlSafe(query)).fetch_all(&self.pool).await.doing("list accounts")?;
        rows.iter().map(account).collect()
    }

    /// Accounts whose tokens are refused, or those that were granted before some time: id, disabled, milliseconds since 1970.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn barred_accounts(&self) -> Result<Vec<(String, bool, Option<i64>)>, StoreFault> {
        sqlx::query_as(
            "SELECT id, disabled, signed_out_at FROM users WHERE disabled <> 0 OR signed_out_at IS NOT NULL",
        )
        .fetch_all(&self.pool)
        .await
        .doing("read who is disabled")
    }

    /// The account with this id.
    ///
    /// # Errors
    /// Where the database refuses, or the row cannot be read.
    pub async fn account(&self, id: &str) -> Result<Option<Account>, StoreFault> {
        self.find_account(format!("SELECT {ACCOUNT} FROM users WHERE id = ?"), id).await
    }

    /// The account with this folded name.
    ///
    /// # Errors
    /// Where the database refuses, or the row cannot be read.
    pub async fn account_named(&self, name: &str) -> Result<Option<Account>, StoreFault> {
        self.find_account(format!("SELECT {ACCOUNT} FROM users WHERE name = ?"), name).await
    }

    async fn find_account(&self, query: String, key: &str) -> Result<Option<Account>, StoreFault> {
        let query = sqlx::query(sqlx::AssertSqlSafe(query)).bind(key);
        let row = query.fetch_optional(&self.pool).await.doing("look for an account")?;
        row.as_ref().map(account).transpose()
    }

    /// Gives an account another name to show, tenant and roles, ends its sessions, and notes that what was granted until now is
    /// good no more; `false` where there is none.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn change_account(
        &self,
        id: &str,
        (display_name, tenant, roles): (&str, &str, &BTreeSet<String>),
        now: i64,
    ) -> Result<bool, StoreFault> {
        let roles = serde_json::to_string(roles)
            .map_err(|source| StoreFault::Unreadable { what: "list of roles", source })?;
        let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await.doing("begin")?;
        let done = sqlx::query(
            "UPDATE users SET display_name = ?, tenant = ?, roles = ?, changed_at = ?, signed_out_at = ? WHERE id = ?",
        )
        .bind(display_name)
        .bind(tenant)
        .bind(roles)
        .bind(now)
        .bind(now)
        .bind(id)
        .execute(&mut *transaction)
        .await
        .doing("change an account")?;
        end_sessions(&mut transaction, id).await?;
        transaction.commit().await.doing("change an account")?;
        Ok(done.rows_affected() == 1)
    }

    /// Disables an account, which ends its sessions, or enables it; `false` where there is none.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn set_disabled(&self, id: &str, disabled: bool, now: i64) -> Result<bool, StoreFault> {
        let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await.doing("begin")?;
        let done = sqlx::query(
            "UPDATE users SET disabled = ?, changed_at = ?, signed_out_at = IIF(?, ?, signed_out_at) WHERE id = ?",
        )
        .bind(disabled)
        .bind(now)
        .bind(disabled)
        .bind(now)
        .bind(id)
        .execute(&mut *transaction)
        .await
        .doing("change an account")?;
        if disabled {
            end_sessions(&mut transaction, id).await?;
        }
        transaction.commit().await.doing("change an account")?;
        Ok(done.rows_affected() == 1)
    }

    /// Gives an account a password that is good once and until `until`, ends its sessions, and removes its passkeys and the accounts that
    /// it connected: whoever had it may have added them. `false` where there is no such account.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn reset_password(
        &self,
        id: &str,
        password: &str,
        until: i64,
        now: i64,
    ) -> Result<bool, StoreFault> {
        let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await.doing("begin")?;
        let done = sqlx::query(
            "UPDATE users SET password = ?, one_time_until = ?, changed_at = ?, signed_out_at = ? WHERE id = ?",
        )
        .bind(password)
        .bind(until)
        .bind(now)
        .bind(now)
        .bind(id)
        .execute(&mut *transaction)
        .await
        .doing("reset a password")?;
        end_sessions(&mut transaction, id).await?;
        for own in ["DELETE FROM passkeys WHERE user = ?", "DELETE FROM connections WHERE user = ?"] {
            sqlx::query(own).bind(id).execute(&mut *transaction).await.doing("reset a password")?;
        }
        transaction.commit().await.doing("reset a password")?;
        Ok(done.rows_affected() == 1)
    }

    /// Replaces the password that was checked by the person's own new one, notes that what was granted until now is good no
    /// more, and ends all sessions but the one that it is changed in, which goes on under another name; `false`, and nothing is
    /// changed, where the account has another password meanwhile or is disabled, or that session ended.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn change_password(&self, change: &PasswordChange<'_>) -> Result<bool, StoreFault> {
        let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await.doing("begin")?;
        let changed = sqlx::query(
            "UPDATE users SET password = ?, one_time_until = NULL, changed_at = ?, signed_out_at = ? \
             WHERE id = ? AND password = ? AND disabled = 0",
        )
        .bind(change.anew)
        .bind(change.at)
        .bind(change.at)
        .bind(change.user)
        .bind(change.checked)
        .execute(&mut *transaction)
        .await
        .doing("change a password")?;
        // Nobody signs in here: no session begins.
        let goes_on = sqlx::query(
            "UPDATE sessions SET hash = ?, signed_in_at = ?, seen_at = ? WHERE hash = ? AND user = ?",
        )
        .bind(change.hash)
        .bind(change.at)
        .bind(change.at)
        .bind(change.session)
        .bind(change.user)
        .execute(&mut *transaction)
        .await
        .doing("go on with a session")?;
        if changed.rows_affected() != 1 || goes_on.rows_affected() != 1 {
            transaction.rollback().await.doing("end")?;
            return Ok(false);
        }
        sqlx::query("DELETE FROM sessions WHERE user = ? AND hash <> ?")
            .bind(change.user)
            .bind(change.hash)
            .execute(&mut *transaction)
            .await
            .doing("end sessions")?;
        transaction.commit().await.doing("change a password")?;
        Ok(true)
    }

    /// Keeps the same password under other parameters; `false` where the account has another password meanwhile.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn rehash_password(&self, id: &str, checked: &str, anew: &str) -> Result<bool, StoreFault> {
        let done = sqlx::query("UPDATE users SET password = ? WHERE id = ? AND password = ?")
            .bind(anew)
            .bind(id)
            .bind(checked)
            .execute(&self.pool)
            .await
            .doing("change a password")?;
        Ok(done.rows_affected() == 1)
    }
}
