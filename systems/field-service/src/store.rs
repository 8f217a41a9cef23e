//! The SQLite store of the three servers: one file, write-ahead log, full-text search.

mod manuals;
mod orders;
mod parts;
mod schema;
mod tickets;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, SqliteConnection};
use tempfile::TempDir;
use thiserror::Error;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

pub(crate) use manuals::Passage;
pub(crate) use orders::{NewOrder, Spent};
pub(crate) use parts::{CURRENCY, Part, money};
pub(crate) use tickets::{ClosedTicket, Posted, Ticket, TicketStatus};

use crate::content::Content;
use crate::generate::{self, Plan, Progress};

/// How long a connection waits for another process that writes, or that generates the data.
const BUSY: Duration = Duration::from_secs(15);
const BUSY_GENERATING: Duration = Duration::from_secs(600);
const CONNECTIONS: u32 = 4;
const FILE_NAME: &str = "field-service.sqlite";

/// The store could not be read or written.
#[derive(Debug, Error)]
pub enum StoreFault {
    /// SQLite refused.
    #[error("the field-service store could not be read or written")]
    Sql(#[from] sqlx::Error),
    /// The tables are those of another release.
    #[error(
        "the field-service store has tables of version `{found}`, expected {expected}; choose another `store` or remove \
         the file, its orders and notes included"
    )]
    Version {
        /// The version of the file.
        found: i64,
        /// The version of this program.
        expected: i64,
    },
    /// A folder or temporary file could not be made.
    #[error("the folder `{path}` for the field-service store could not be made; choose another `store`")]
    Folder {
        /// The folder.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

/// The open store. Dropping it removes the file if it was a private temporary one.
#[derive(Debug)]
pub(crate) struct Store {
    pool: SqlitePool,
    /// What the stored data was generated with.
    plan: Plan,
    _temporary: Option<TempDir>,
}

impl Store {
    /// Opens the store at `place`, and fills it first if it is empty. Generation happens in one transaction, so
    /// that a process that is killed leaves an empty store, and a second process waits for the first.
    pub(crate) async fn open(
        place: Option<&Path>,
        plan: Plan,
        content: &Content,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Store, StoreFault> {
        let (file, temporary) = locate(place)?;
        let options = SqliteConnectOptions::new().filename(&file).create_if_missing(true);
        // Batches of different tables are written when they are full, so rows may come before what they refer to.
        let generating = options.clone().busy_timeout(BUSY_GENERATING).foreign_keys(false);
        let mut first = generating.connect().await?;
        let plan = match schema::stored_plan(&mut first).await? {
            Some(stored) => stored,
            None => fill(&mut first, plan, content, progress).await?,
        };
        sqlx::query("PRAGMA journal_mode = WAL").execute(&mut first).await?;
        first.close().await?;
        let options = options.busy_timeout(BUSY).synchronous(SqliteSynchronous::Full).foreign_keys(true);
        let pool = SqlitePoolOptions::new().max_connections(CONNECTIONS).connect_with(options).await?;
        Ok(Store { pool, plan, _temporary: temporary })
    }

    pub(crate) fn plan(&self) -> Plan {
        self.plan
    }

    /// Closes all connections; later calls fail.
    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }

    /// 128 random bits, as hexadecimal text, from SQLite's own generator that the operating system seeds.
    pub(crate) async fn nonce(&self) -> Result<String, StoreFault> {
        Ok(sqlx::query_scalar("SELECT lower(hex(randomblob(16)))").fetch_one(&self.pool).await?)
    }

    #[cfg(test)]
    pub(crate) fn pool(&self) -> &SqlitePool {
        &self.pool
    }
}

async fn fill(
    connection: &mut SqliteConnection,
    plan: Plan,
    content: &Content,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Plan, StoreFault> {
    let mut transaction = connection.begin_with("BEGIN EXCLUSIVE").await?;
    // Another process may have filled the store while this one waited for the lock.
    if let Some(stored) = schema::stored_plan(&mut transaction).await? {
        return Ok(stored);
    }
    schema::create(&mut transaction).await?;
    generate::generate(&mut transaction, plan, content, progress).await?;
    schema::finish(&mut transaction, plan).await?;
    transaction.commit().await?;
    Ok(plan)
}

/// A folder gets the standard file name; a path with an extension is the file itself.
fn locate(place: Option<&Path>) -> Result<(PathBuf, Option<TempDir>), StoreFault> {
    let Some(place) = place else {
        let folder =
            tempfile::Builder::new().prefix("aldgate-field-service-").tempdir().map_err(|source| {
                StoreFault::Folder { path: std::env::temp_dir().display().to_string(), source }
            })?;
        return Ok((folder.path().join(FILE_NAME), Some(folder)));
    };
    let is_folder = place.is_dir() || (!place.exists() && place.extension().is_none());
    let file = if is_folder { place.join(FILE_NAME) } else { place.to_path_buf() };
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)
            .map_err(|source| StoreFault::Folder { path: folder.display().to_string(), source })?;
    }
    Ok((file, None))
}

/// Seconds since 1970 as RFC 3339 text in UTC.
pub(crate) fn rfc3339(seconds: i64) -> String {
    OffsetDateTime::from_unix_timestamp(seconds)
        .ok()
        .and_then(|moment| moment.format(&Rfc3339).ok())
        .unwrap_or_default()
}
