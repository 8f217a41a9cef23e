//! Opening the store, and the one connection that writes.

use std::fs::File;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, SqliteConnection, SqlitePool};
use tokio::sync::{Mutex, MutexGuard};

use crate::fault::{Doing as _, StoreFault};

/// The forms of the database in their order; `user_version` counts how many of them a file has been through.
const MIGRATIONS: &[&str] = &[include_str!("../migrations/0001_start.sql")];

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
    writer: Mutex<Writer>,
    _lock: File,
}

pub(crate) struct Writer {
    pub(crate) connection: SqliteConnection,
    /// `None` while it is being changed: whoever gave up meanwhile leaves it unknown, not wrong.
    durability: Option<Durability>,
}

impl Writer {
    /// Sets how the next commits reach the disk.
    pub(crate) async fn set(&mut self, durability: Durability) -> Result<(), StoreFault> {
        if self.durability.replace(durability) == Some(durability) {
            return Ok(());
        }
        self.durability = None;
        let pragma = match durability {
            Durability::Full => "PRAGMA synchronous = FULL",
            Durability::Group => "PRAGMA synchronous = NORMAL",
        };
        self.connection.execute(pragma).await.doing("set its durability")?;
        self.durability = Some(durability);
        Ok(())
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
        let lock = File::create(folder.join("aldgate.lock")).map_err(fault)?;
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
        migrate(&mut connection).await?;
        let readers = SqlitePoolOptions::new()
            .max_connections(4)
            .connect_with(options.read_only(true))
            .await
            .doing("be opened for reading")?;
        let writer = Mutex::new(Writer { connection, durability: Some(Durability::Full) });
        Ok(Self { readers, writer, _lock: lock })
    }

    pub(crate) async fn writer(&self, durability: Durability) -> Result<MutexGuard<'_, Writer>, StoreFault> {
        let mut writer = self.writer.lock().await;
        writer.set(durability).await?;
        Ok(writer)
    }

    /// Whether the store answers.
    ///
    /// # Errors
    /// Where it does not.
    pub async fn ping(&self) -> Result<(), StoreFault> {
        self.readers.execute("SELECT 1").await.doing("answer")?;
        Ok(())
    }
}

async fn migrate(connection: &mut SqliteConnection) -> Result<(), StoreFault> {
    let known = MIGRATIONS.len();
    let version: i64 =
        sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut *connection).await.doing("tell its version")?;
    let done = usize::try_from(version).unwrap_or(usize::MAX);
    let pending = MIGRATIONS.get(done..).ok_or(StoreFault::LaterVersion { found: version, known })?;
    let mut digest = digest_of(MIGRATIONS.get(..done).unwrap_or_default());
    if done > 0 {
        let found: i64 = sqlx::query_scalar("PRAGMA application_id")
            .fetch_one(&mut *connection)
            .await
            .doing("tell its form")?;
        if found != i64::from(digest) {
            return Err(StoreFault::OtherForm);
        }
    }
    for (index, script) in pending.iter().enumerate() {
        let mut transaction = connection.begin().await.doing("begin")?;
        sqlx::raw_sql(*script).execute(&mut *transaction).await.doing("be brought to this version's form")?;
        digest = digest_of(MIGRATIONS.get(..=done + index).unwrap_or_default());
        let set = format!("PRAGMA user_version = {}; PRAGMA application_id = {digest}", done + index + 1);
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
