//! What became of accounts, clients, grants and keys, until the evidence has it. Triggers of the database write it.

use sqlx::Row as _;

use super::IdentityStore;
use crate::fault::{Doing as _, StoreFault};

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    /// Its place in the row of events.
    pub id: i64,
    /// When it was, in milliseconds since 1970.
    pub at: i64,
    /// 10 random bytes that name it.
    pub mark: Vec<u8>,
    /// `signed_in`, `granted`, `account_added`, …
    pub what: String,
    /// The account that it is about: id, tenant, name to show and roles as they are now. None where it is about none.
    pub account: Option<EventAccount>,
    /// JSON with what else there is to say.
    pub detail: String,
}

/// The account that an event is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventAccount {
    /// Its id.
    pub id: String,
    /// Its tenant.
    pub tenant: String,
    /// A name to show.
    pub display_name: String,
    /// JSON list of its roles.
    pub roles: String,
}

impl IdentityStore {
    /// The oldest `most` events that are still here.
    ///
    /// # Errors
    /// Where the database refuses, or a row cannot be read.
    pub async fn events(&self, most: u32) -> Result<Vec<StoredEvent>, StoreFault> {
        let rows = sqlx::query(
            "SELECT events.id, at, mark, what, detail, users.id AS user, tenant, display_name, roles \
             FROM events LEFT JOIN users ON users.id = events.user ORDER BY events.id LIMIT ?",
        )
        .bind(most)
        .fetch_all(&self.pool)
        .await
        .doing("read events")?;
        let read = |row: &sqlx::sqlite::SqliteRow| {
            let user: Option<String> = row.try_get("user")?;
            let account = match user {
                None => None,
                Some(id) => Some(EventAccount {
                    id,
                    tenant: row.try_get("tenant")?,
                    display_name: row.try_get("display_name")?,
                    roles: row.try_get("roles")?,
                }),
            };
            Ok::<_, sqlx::Error>(StoredEvent {
                id: row.try_get("id")?,
                at: row.try_get("at")?,
                mark: row.try_get("mark")?,
                what: row.try_get("what")?,
                account,
                detail: row.try_get("detail")?,
            })
        };
        rows.iter().map(read).collect::<Result<_, _>>().doing("read events")
    }

    /// Forgets the events up to this one, which the evidence has.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn forget_events(&self, last: i64) -> Result<(), StoreFault> {
        let done = sqlx::query("DELETE FROM events WHERE id <= ?").bind(last).execute(&self.pool).await;
        done.doing("forget events").map(|_| ())
    }
}
