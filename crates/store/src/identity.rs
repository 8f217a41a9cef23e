//! The store of the authorization server, `identity.sqlite`: accounts, clients, grants and keys.
//!
//! Unlike the gateway's own file, several processes write it at once: `aldgate users` and `aldgate clients` work beside a
//! gateway that runs. Each change is one short transaction; what one process writes, the others read.

mod clients;
mod connections;
mod events;
mod grants;
mod keys;
mod people;
#[cfg(test)]
mod tests;

use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, SqliteConnection, SqlitePool};

use crate::fault::{Doing as _, StoreFault};
use crate::open::migrate;
pub use clients::StoredClient;
pub use connections::{ConnectionKey, StoredConnection};
pub use events::{EventAccount, StoredEvent};
pub use grants::{Advanced, StoredGrant};
pub use keys::StoredKey;
pub use people::{
    Account, NewAccount, Passkey, PasskeyUse, PasswordChange, Session, SessionEnds, SessionStart,
};

/// The forms of the database in their order.
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/identity/0001_authorization.sql"),
    include_str!("../migrations/identity/0002_people.sql"),
    include_str!("../migrations/identity/0003_events.sql"),
    include_str!("../migrations/identity/0004_connections.sql"),
];

/// Whether a connection is in no transaction. Where one failed, as on a full disk, SQLite may have ended it by itself, and nobody
/// knows what is still open: such a connection is closed.
async fn is_whole(connection: &mut SqliteConnection) -> bool {
    match connection.begin_with("BEGIN").await {
        Ok(transaction) => transaction.rollback().await.is_ok(),
        Err(_) => false,
    }
}

/// The store of one authorization server.
pub struct IdentityStore {
    pub(crate) pool: SqlitePool,
}

impl IdentityStore {
    /// Opens or makes `identity.sqlite` in `folder`, readable for its owner alone.
    ///
    /// # Errors
    /// Where the folder cannot be written, or the file is of a later version.
    pub async fn open(folder: &Path) -> Result<Self, StoreFault> {
        let path = folder.join("identity.sqlite");
        let fault = |source| StoreFault::Path { path: path.clone(), source };
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(fault)?;
        // One process at a time makes the file, or brings it to another form: SQLite waits for nobody there.
        let mut kept = std::fs::File::options();
        kept.write(true).create(true).truncate(false).mode(0o600);
        let lock = kept.open(folder.join("identity.lock")).map_err(fault)?;
        let locked = tokio::task::spawn_blocking(move || lock.lock().map(|()| lock)).await;
        let _lock = locked.map_err(|gone| fault(std::io::Error::other(gone)))?.map_err(fault)?;
        // SQLite gives its other files the rights of this one.
        let private = std::fs::OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
        drop(private.map_err(fault)?);
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(10))
            .disable_statement_logging();
        let mut connection = SqliteConnection::connect_with(&options).await.doing("be opened")?;
        migrate(&mut connection, MIGRATIONS).await?;
        connection.close().await.doing("be opened")?;
        let pool = SqlitePoolOptions::new()
            .max_connections(4)
            .after_release(|connection, _| Box::pin(async move { Ok(is_whole(connection).await) }))
            .connect_with(options)
            .await
            .doing("be opened")?;
        Ok(Self { pool })
    }

    /// Gives the file back. Whoever asks for something later is refused.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}
