//! What is kept of contracts: how they drifted, which versions were in use, and results that did not fit them.

use sqlx::{Connection as _, SqliteConnection};

use crate::evidence::{NewRow, insert};
use crate::fault::{Doing as _, StoreFault};
use crate::open::{Durability, Store};

/// What is kept of one contract that is, or was, not the pinned one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drifted {
    /// The word for what it is the contract of.
    pub kind: String,
    /// What its upstream calls it.
    pub name: String,
    /// The digest of the pinned bytes that it was compared with.
    pub pinned: String,
    /// How it stands, as JSON.
    pub body: String,
}

/// A version of a contract that was in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinnedVersion {
    /// The word for what it is the contract of.
    pub kind: String,
    /// What its upstream calls it.
    pub name: String,
    /// The version.
    pub version: u32,
    /// The digest of the pinned bytes.
    pub digest: String,
}

impl Store {
    /// What is kept of the contracts of an upstream.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn drifts(&self, upstream: &str) -> Result<Vec<Drifted>, StoreFault> {
        let sql = "SELECT kind, name, pinned, body FROM drifts WHERE upstream = ?";
        let rows = sqlx::query_as(sql).bind(upstream).fetch_all(&self.readers).await;
        let rows: Vec<(String, String, String, String)> = rows.doing("read what drifted")?;
        let read = |(kind, name, pinned, body)| Drifted { kind, name, pinned, body };
        Ok(rows.into_iter().map(read).collect())
    }

    /// Keeps how contracts of an upstream stand, in place of what was kept of them, and appends the evidence of it, in one
    /// durable transaction.
    ///
    /// # Errors
    /// Where the database refuses; then nothing is changed.
    pub async fn keep_drifts(
        &self,
        upstream: &str,
        drifts: &[Drifted],
        evidence: &[NewRow],
    ) -> Result<(), StoreFault> {
        self.noted(self.keep_drifts_now(upstream, drifts, evidence).await)
    }

    async fn keep_drifts_now(
        &self,
        upstream: &str,
        drifts: &[Drifted],
        evidence: &[NewRow],
    ) -> Result<(), StoreFault> {
        let mut writer = self.writer(Durability::Full).await?;
        let mut transaction = writer.connection.begin_with("BEGIN IMMEDIATE").await.doing("begin")?;
        for drift in drifts {
            sqlx::query(
                "INSERT INTO drifts (upstream, kind, name, pinned, body) VALUES (?1, ?2, ?3, ?4, ?5) \
                 ON CONFLICT DO UPDATE SET body = excluded.body",
            )
            .bind(upstream)
            .bind(&drift.kind)
            .bind(&drift.name)
            .bind(&drift.pinned)
            .bind(&drift.body)
            .execute(&mut *transaction)
            .await
            .doing("keep what drifted")?;
        }
        insert(&mut transaction, evidence).await?;
        transaction.commit().await.doing("commit what drifted")?;
        writer.keep();
        Ok(())
    }

    /// Every version of an upstream's contracts that was ever in use.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn pinned_versions(&self, upstream: &str) -> Result<Vec<PinnedVersion>, StoreFault> {
        let sql = "SELECT kind, name, version, digest FROM pinned_versions WHERE upstream = ?";
        let rows = sqlx::query_as(sql).bind(upstream).fetch_all(&self.readers).await;
        let rows: Vec<(String, String, u32, String)> = rows.doing("read versions of contracts")?;
        let read = |(kind, name, version, digest)| PinnedVersion { kind, name, version, digest };
        Ok(rows.into_iter().map(read).collect())
    }

    /// Notes that these versions are in use. A version that is noted already stays as it is.
    ///
    /// # Errors
    /// Where the database refuses; then nothing is changed.
    pub async fn note_versions(&self, upstream: &str, versions: &[PinnedVersion]) -> Result<(), StoreFault> {
        self.noted(self.note_versions_now(upstream, versions).await)
    }

    async fn note_versions_now(&self, upstream: &str, versions: &[PinnedVersion]) -> Result<(), StoreFault> {
        let mut writer = self.writer(Durability::Full).await?;
        let mut transaction = writer.connection.begin_with("BEGIN IMMEDIATE").await.doing("begin")?;
        for pinned in versions {
            sqlx::query(
                "INSERT INTO pinned_versions (upstream, kind, name, version, digest) VALUES (?, ?, ?, ?, ?) \
                 ON CONFLICT DO NOTHING",
            )
            .bind(upstream)
            .bind(&pinned.kind)
            .bind(&pinned.name)
            .bind(pinned.version)
            .bind(&pinned.digest)
            .execute(&mut *transaction)
            .await
            .doing("note versions of contracts")?;
        }
        transaction.commit().await.doing("commit versions of contracts")?;
        writer.keep();
        Ok(())
    }

    /// Notes that a result of a tool did not fit its output schema `at` (milliseconds since the Unix epoch). How many there
    /// are of it since `since`; older ones are forgotten.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn note_violation(
        &self,
        upstream: &str,
        name: &str,
        at: i64,
        since: i64,
    ) -> Result<u32, StoreFault> {
        self.noted(self.note_violation_now(upstream, name, at, since).await)
    }

    async fn note_violation_now(
        &self,
        upstream: &str,
        name: &str,
        at: i64,
        since: i64,
    ) -> Result<u32, StoreFault> {
        let mut writer = self.writer(Durability::Group).await?;
        let mut transaction = writer.connection.begin_with("BEGIN IMMEDIATE").await.doing("begin")?;
        sqlx::query("INSERT INTO violations (upstream, name, at) VALUES (?, ?, ?)")
            .bind(upstream)
            .bind(name)
            .bind(at)
            .execute(&mut *transaction)
            .await
            .doing("note a violation")?;
        forget(&mut transaction, upstream, name, since).await?;
        let count = sqlx::query_scalar("SELECT count(*) FROM violations WHERE upstream = ? AND name = ?")
            .bind(upstream)
            .bind(name)
            .fetch_one(&mut *transaction)
            .await
            .doing("count violations")?;
        transaction.commit().await.doing("commit a violation")?;
        writer.keep();
        Ok(count)
    }

    /// Forgets the violations of a tool.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn forget_violations(&self, upstream: &str, name: &str) -> Result<(), StoreFault> {
        let forgotten = async {
            let mut writer = self.writer(Durability::Group).await?;
            forget(&mut writer.connection, upstream, name, i64::MAX).await?;
            writer.keep();
            Ok(())
        };
        self.noted(forgotten.await)
    }
}

async fn forget(
    connection: &mut SqliteConnection,
    upstream: &str,
    name: &str,
    before: i64,
) -> Result<(), StoreFault> {
    sqlx::query("DELETE FROM violations WHERE upstream = ? AND name = ? AND at < ?")
        .bind(upstream)
        .bind(name)
        .bind(before)
        .execute(connection)
        .await
        .doing("forget violations")?;
    Ok(())
}
