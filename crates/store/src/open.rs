//! Opening the store, and the one connection that writes.

use std::fs::File;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, SqliteConnection, SqlitePool};
use tokio::sync::{Mutex, MutexGuard};

use crate::evidence::{NewRow, insert};
use crate::fault::{Doing as _, StoreFault};

/// The forms of the database in their order; `user_version` counts how many of them a file has been through.
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_start.sql"),
    include_str!("../migrations/0002_open_calls.sql"),
    include_str!("../migrations/0003_contracts.sql"),
];

/// How a commit reaches the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// On the disk before the commit returns.
    Full,
    /// Safe from a crash of the process; the last commits may be lost when the machine loses power.
    Group,
}

/// The store of one gateway.
pub struct Store {
    pub(crate) readers: SqlitePool,
    writer: Mutex<Option<(SqliteConnection, Durability)>>,
    options: SqliteConnectOptions,
    failing: AtomicBool,
    /// Keeps other processes out; a store that is only read needs none.
    _lock: Option<File>,
}

/// The one connection that writes, for one transaction.
///
/// **Invariant:** a connection is used again only after a transaction that was committed, or rolled back without an error
/// ([`Lease::keep`]). One that failed, or that somebody gave up, is closed with its lease: nobody knows what is still open
/// in it.
pub(crate) struct Lease<'a> {
    pub(crate) connection: SqliteConnection,
    durability: Durability,
    place: MutexGuard<'a, Option<(SqliteConnection, Durability)>>,
}

impl Lease<'_> {
    /// Gives the connection back after its transaction ended.
    pub(crate) fn keep(mut self) {
        *self.place = Some((self.connection, self.durability));
    }
}

impl Store {
    /// Opens or makes the store `aldgate.sqlite` in `folder`, and keeps other processes out of it.
    ///
    /// # Errors
    /// Where the folder cannot be written, another process has the store, or it is of a later version.
    pub async fn open(folder: &Path) -> Result<Self, StoreFault> {
        let path = folder.join("aldgate.sqlite");
        let fault = |source| StoreFault::Path { path: path.clone(), source };
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(fault)?;
        // What is in it is for the gateway alone; SQLite gives its other files the rights of this one.
        let private = std::fs::OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
        drop(private.map_err(fault)?);
        let mut kept = File::options();
        kept.write(true).create(true).truncate(false).mode(0o600);
        let lock = kept.open(folder.join("aldgate.lock")).map_err(fault)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => return Err(StoreFault::InUse { path }),
            Err(std::fs::TryLockError::Error(source)) => return Err(fault(source)),
        }
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(Duration::from_secs(10))
            .disable_statement_logging();
        let mut connection = SqliteConnection::connect_with(&options).await.doing("be opened")?;
        migrate(&mut connection, MIGRATIONS).await?;
        let readers = SqlitePoolOptions::new()
            .max_connections(4)
            .connect_with(options.clone().read_only(true))
            .await
            .doing("be opened for reading")?;
        let writer = Mutex::new(Some((connection, Durability::Full)));
        // A file that is gone is not made anew while the gateway runs: its rows would be gone with it.
        let options = options.create_if_missing(false);
        Ok(Self { readers, writer, options, failing: AtomicBool::new(false), _lock: Some(lock) })
    }

    /// Opens the store in `folder` to be read, beside a gateway that may run with it. Nothing is made or changed, and every
    /// write is refused.
    ///
    /// # Errors
    /// Where there is none, or it is of another version.
    pub async fn open_to_read(folder: &Path) -> Result<Self, StoreFault> {
        let path = folder.join("aldgate.sqlite");
        std::fs::metadata(&path).map_err(|source| StoreFault::Path { path: path.clone(), source })?;
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .read_only(true)
            .busy_timeout(Duration::from_secs(10))
            .disable_statement_logging();
        let readers = SqlitePoolOptions::new()
            .max_connections(4)
            .connect_with(options.clone())
            .await
            .doing("be opened for reading")?;
        let mut connection = readers.acquire().await.doing("be opened for reading")?;
        let known = MIGRATIONS.len();
        match migrated(&mut connection, MIGRATIONS).await? {
            done if done < known => return Err(StoreFault::EarlierVersion { found: done, known }),
            _ => drop(connection),
        }
        Ok(Self { readers, writer: Mutex::new(None), options, failing: AtomicBool::new(false), _lock: None })
    }

    /// The connection that writes, in this durability.
    pub(crate) async fn writer(&self, durability: Durability) -> Result<Lease<'_>, StoreFault> {
        let mut place = self.writer.lock().await;
        // Taken out: who gives up in the middle takes it along.
        let (mut connection, now) = match place.take() {
            Some(kept) => kept,
            None => {
                let opened = SqliteConnection::connect_with(&self.options).await;
                (opened.doing("be opened again")?, Durability::Full)
            }
        };
        if now != durability {
            let pragma = match durability {
                Durability::Full => "PRAGMA synchronous = FULL",
                Durability::Group => "PRAGMA synchronous = NORMAL",
            };
            connection.execute(pragma).await.doing("set its durability")?;
        }
        Ok(Lease { connection, durability, place })
    }

    /// Notes whether a write succeeded. One that the database was not asked to take says nothing.
    pub(crate) fn noted<T>(&self, written: Result<T, StoreFault>) -> Result<T, StoreFault> {
        match written {
            Ok(_) => self.failing.store(false, Ordering::Relaxed),
            Err(StoreFault::Database { .. }) => self.failing.store(true, Ordering::Relaxed),
            Err(_) => {}
        }
        written
    }

    /// Whether the last write failed.
    #[must_use]
    pub fn is_failing(&self) -> bool {
        self.failing.load(Ordering::Relaxed)
    }

    /// Whether the store answers. Where it did not take the last write, it is asked to take one that changes nothing: whoever
    /// waits for it to be well again may be all that comes.
    ///
    /// # Errors
    /// Where it does not answer, or does not write.
    pub async fn ping(&self) -> Result<(), StoreFault> {
        self.readers.execute("SELECT 1").await.doing("answer")?;
        if self.is_failing() { self.noted(self.rewrite().await) } else { Ok(()) }
    }

    async fn rewrite(&self) -> Result<(), StoreFault> {
        let mut writer = self.writer(Durability::Full).await?;
        let mut transaction = writer.connection.begin_with("BEGIN IMMEDIATE").await.doing("begin")?;
        // A row goes in and is taken back; the version is what is really written, as it was.
        transaction.execute("SAVEPOINT probe").await.doing("begin")?;
        insert(&mut transaction, &[NewRow::default()]).await?;
        transaction.execute("ROLLBACK TO probe").await.doing("end")?;
        let same = format!("PRAGMA user_version = {}", MIGRATIONS.len());
        sqlx::raw_sql(sqlx::AssertSqlSafe(same)).execute(&mut *transaction).await.doing("write")?;
        transaction.commit().await.doing("write")?;
        writer.keep();
        Ok(())
    }
}

/// How many of the forms the file has been through, all of them this version's.
pub(crate) async fn migrated(
    connection: &mut SqliteConnection,
    scripts: &[&str],
) -> Result<usize, StoreFault> {
    let known = scripts.len();
    let version: i64 = sqlx::query_scalar("PRAGMA user_version")
        .fetch_one(&mut *connection)
        .await
        .doing("tell its version")?;
    let done = usize::try_from(version).unwrap_or(usize::MAX);
    let through = scripts.get(..done).ok_or(StoreFault::LaterVersion { found: version, known })?;
    if done > 0 {
        let found: i64 = sqlx::query_scalar("PRAGMA application_id")
            .fetch_one(&mut *connection)
            .await
            .doing("tell its form")?;
        if found != i64::from(digest_of(through)) {
            return Err(StoreFault::OtherForm);
        }
    }
    Ok(done)
}

/// Brings the file to the last of these forms. One process at a time.
pub(crate) async fn migrate(
    connection: &mut SqliteConnection,
    scripts: &[&'static str],
) -> Result<(), StoreFault> {
    let done = migrated(connection, scripts).await?;
    for (index, script) in scripts.iter().enumerate().skip(done) {
        let mut transaction = connection.begin().await.doing("begin")?;
        sqlx::raw_sql(*script).execute(&mut *transaction).await.doing("be brought to this version's form")?;
        let digest = digest_of(scripts.get(..=index).unwrap_or_default());
        let set = format!("PRAGMA user_version = {}; PRAGMA application_id = {digest}", index + 1);
        sqlx::raw_sql(sqlx::AssertSqlSafe(set)).execute(&mut *transaction).await.doing("note its version")?;
        transaction.commit().await.doing("commit its new form")?;
    }
    Ok(())
}

/// A number for the form that these scripts make (FNV-1a, positive as SQLite keeps it): a file that was made by others
/// under the same version is told apart.
fn digest_of(scripts: &[&str]) -> i32 {
    let bytes = scripts.iter().flat_map(|script| script.bytes());
    let hash = bytes.fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    i32::try_from(hash & 0x7fff_ffff).unwrap_or_default()
}
