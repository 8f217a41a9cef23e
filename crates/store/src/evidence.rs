//! Evidence rows: appended in groups, never changed.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use sqlx::{Connection as _, QueryBuilder, Row as _, Sqlite, SqliteConnection};

use crate::fault::{Doing as _, StoreFault};
use crate::open::{Durability, Store};

/// A row to append.
#[derive(Clone, Debug, Default)]
pub struct NewRow {
    /// Milliseconds since the Unix epoch.
    pub at: i64,
    /// Whose row it is.
    pub tenant: String,
    /// The call that it belongs to.
    pub call: String,
    /// The round of the call, from 0.
    pub round: u32,
    /// `intent`, `outcome`, `refusal`, …
    pub kind: &'static str,
    /// `upstream/tool`, where there is one.
    pub tool: Option<Arc<str>>,
    /// Key of the digests in the body.
    pub digest_key: Option<[u8; 16]>,
    /// The whole row as JSON.
    pub body: String,
}

/// A row as it was stored.
#[derive(Clone, Debug)]
pub struct StoredRow {
    /// Position in the log, from 1.
    pub seq: i64,
    /// The whole row as JSON.
    pub body: String,
}

/// Which rows to read. Rows of other tenants are never read.
#[derive(Clone, Debug, Default)]
pub struct EvidenceFilter {
    /// The tenant.
    pub tenant: String,
    /// Only rows of this call.
    pub call: Option<String>,
    /// Only rows of this tool.
    pub tool: Option<String>,
    /// Only rows of this kind.
    pub kind: Option<String>,
    /// Only rows before this position; for paging backwards.
    pub before: Option<i64>,
    /// At most so many; the newest are taken.
    pub limit: u32,
}

/// Rows that one statement takes at the most.
const MOST: usize = 64;

/// The statements that insert so many rows, from one row on; each is prepared once.
static INSERTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let insert = |rows| {
        let values = vec!["(?,?,?,?,?,?,?)"; rows].join(",");
        format!("INSERT INTO evidence (at, tenant, call, kind, tool, digest_key, body) VALUES {values}")
    };
    (1..=MOST).map(insert).collect()
});

/// Inserts rows within a transaction of the caller's.
pub(crate) async fn insert(connection: &mut SqliteConnection, rows: &[NewRow]) -> Result<(), StoreFault> {
    for chunk in rows.chunks(MOST) {
        insert_at_once(connection, chunk).await?;
    }
    let open = Open::of(rows);
    open.note(connection).await
}

async fn insert_at_once(connection: &mut SqliteConnection, rows: &[NewRow]) -> Result<(), StoreFault> {
    let Some(statement) = rows.len().checked_sub(1).and_then(|index| INSERTS.get(index)) else {
        return Ok(());
    };
    let mut query = sqlx::query(statement.as_str());
    for row in rows {
        query = query
            .bind(row.at)
            .bind(&row.tenant)
            .bind(&row.call)
            .bind(row.kind)
            .bind(row.tool.as_deref())
            .bind(row.digest_key.as_ref().map(<[u8; 16]>::as_slice))
            .bind(&row.body);
    }
    query.execute(connection).await.doing("append evidence")?;
    Ok(())
}

/// What rows change in the account of intents without an outcome: one more or fewer, for each round of a call.
struct Open<'a>(BTreeMap<(&'a str, u32), i64>);

impl<'a> Open<'a> {
    fn of(rows: &'a [NewRow]) -> Self {
        let mut open = BTreeMap::new();
        for row in rows {
            let change = match row.kind {
                "intent" => 1,
                "outcome" => -1,
                _ => continue,
            };
            *open.entry((row.call.as_str(), row.round)).or_default() += change;
        }
        open.retain(|_, change| *change != 0);
        Self(open)
    }

    /// Whether each intent has its outcome beside it, so that there is nothing to note.
    fn is_unchanged(&self) -> bool {
        self.0.is_empty()
    }

    async fn note(&self, connection: &mut SqliteConnection) -> Result<(), StoreFault> {
        for ((call, round), change) in &self.0 {
            let statement = if *change > 0 {
                "INSERT INTO open_calls (call, round, count) VALUES (?1, ?2, ?3) \
                 ON CONFLICT DO UPDATE SET count = count + excluded.count"
            } else {
                "UPDATE open_calls SET count = count + ?3 WHERE call = ?1 AND round = ?2"
            };
            let note = sqlx::query(statement).bind(call).bind(round).bind(change);
            note.execute(&mut *connection).await.doing("note an open call")?;
        }
        if self.0.values().any(|change| *change < 0) {
            let ended = sqlx::query("DELETE FROM open_calls WHERE count <= 0");
            ended.execute(&mut *connection).await.doing("note the end of a call")?;
        }
        Ok(())
    }
}

impl Store {
    /// Appends rows in one transaction.
    ///
    /// # Errors
    /// Where the database refuses; then none of them is stored.
    pub async fn append(&self, rows: &[NewRow], durability: Durability) -> Result<(), StoreFault> {
        self.noted(self.append_now(rows, durability).await)
    }

    async fn append_now(&self, rows: &[NewRow], durability: Durability) -> Result<(), StoreFault> {
        let mut writer = self.writer(durability).await?;
        if rows.len() <= MOST && Open::of(rows).is_unchanged() {
            // One statement is a transaction of its own.
            insert_at_once(&mut writer.connection, rows).await?;
        } else {
            let mut transaction = writer.connection.begin_with("BEGIN IMMEDIATE").await.doing("begin")?;
            insert(&mut transaction, rows).await?;
            transaction.commit().await.doing("commit evidence")?;
        }
        writer.keep();
        Ok(())
    }

    /// Rows in the order in which they were appended.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn evidence(&self, filter: &EvidenceFilter) -> Result<Vec<StoredRow>, StoreFault> {
        let mut query = QueryBuilder::<Sqlite>::new("SELECT seq, body FROM evidence WHERE tenant = ");
        query.push_bind(&filter.tenant);
        for (column, wanted) in [("call", &filter.call), ("tool", &filter.tool), ("kind", &filter.kind)] {
            if let Some(wanted) = wanted {
                query.push(format!(" AND {column} = ")).push_bind(wanted);
            }
        }
        if let Some(before) = filter.before {
            query.push(" AND seq < ").push_bind(before);
        }
        query.push(" ORDER BY seq DESC LIMIT ").push_bind(i64::from(filter.limit));
        let rows = query.build().fetch_all(&self.readers).await.doing("read evidence")?;
        let read =
            |row: &sqlx::sqlite::SqliteRow| Ok(StoredRow { seq: row.try_get(0)?, body: row.try_get(1)? });
        rows.iter().rev().map(read).collect::<Result<_, sqlx::Error>>().doing("read evidence")
    }

    /// The newest rows of drift of a tool, as evidence names it, the newest first.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn drift_events(
        &self,
        tenant: &str,
        tool: &str,
        limit: u32,
    ) -> Result<Vec<StoredRow>, StoreFault> {
        let rows = sqlx::query(
            "SELECT seq, body FROM evidence WHERE kind = 'drift' AND tenant = ? AND tool = ? \
             ORDER BY seq DESC LIMIT ?",
        )
        .bind(tenant)
        .bind(tool)
        .bind(limit)
        .fetch_all(&self.readers)
        .await
        .doing("read evidence of drift")?;
        let read =
            |row: &sqlx::sqlite::SqliteRow| Ok(StoredRow { seq: row.try_get(0)?, body: row.try_get(1)? });
        rows.iter().map(read).collect::<Result<_, sqlx::Error>>().doing("read evidence of drift")
    }

    /// The intent rows that have no outcome: calls of which nobody knows whether they were executed.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn open_intents(&self) -> Result<Vec<StoredRow>, StoreFault> {
        let rows = sqlx::query(
            "SELECT seq, body FROM (\
                 SELECT intent.seq AS seq, intent.body AS body, open.count AS count, row_number() OVER (\
                     PARTITION BY open.call, open.round ORDER BY intent.seq DESC) AS place \
                 FROM open_calls AS open JOIN evidence AS intent ON intent.call = open.call \
                 WHERE intent.kind = 'intent' AND coalesce(json_extract(intent.body, '$.round'), 0) = open.round\
             ) WHERE place <= count ORDER BY seq",
        )
        .fetch_all(&self.readers)
        .await
        .doing("look for open calls")?;
        let read =
            |row: &sqlx::sqlite::SqliteRow| Ok(StoredRow { seq: row.try_get(0)?, body: row.try_get(1)? });
        rows.iter().map(read).collect::<Result<_, sqlx::Error>>().doing("look for open calls")
    }

    /// Marks a round of a call as dispatched and appends its intent, in one durable transaction.
    ///
    /// # Errors
    /// Where the round was dispatched before, or the database refuses.
    pub async fn spend_round(&self, call: &str, round: u32, intent: NewRow) -> Result<(), StoreFault> {
        self.noted(self.spend_round_now(call, round, intent).await)
    }

    async fn spend_round_now(&self, call: &str, round: u32, intent: NewRow) -> Result<(), StoreFault> {
        let mut writer = self.writer(Durability::Full).await?;
        let mut transaction = writer.connection.begin_with("BEGIN IMMEDIATE").await.doing("begin")?;
        let done =
            sqlx::query("INSERT INTO rounds (call, round, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING")
                .bind(call)
                .bind(round)
                .bind(intent.at)
                .execute(&mut *transaction)
                .await
                .doing("mark a round")?;
        if done.rows_affected() == 0 {
            transaction.rollback().await.doing("end")?;
            writer.keep();
            return Err(StoreFault::RoundSpent { call: call.to_owned(), round });
        }
        insert(&mut transaction, &[intent]).await?;
        transaction.commit().await.doing("commit a round")?;
        writer.keep();
        Ok(())
    }
}
