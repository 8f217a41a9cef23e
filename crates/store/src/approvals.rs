//! Approval records: asked for, decided, redeemed once.

use aldgate_approval::{Binding, CallId, Decision, Record, RecordState, Redemption, Timestamp};
use sqlx::sqlite::SqliteRow;
use sqlx::{Connection as _, QueryBuilder, Row as _, Sqlite, SqliteConnection};

use crate::evidence::{NewRow, insert};
use crate::fault::{Doing as _, StoreFault};
use crate::open::{Durability, Store};

/// What a request for an approval found.
#[derive(Debug)]
pub enum AskOutcome {
    /// A new record was written.
    Asked(Record),
    /// One for the same binding is pending or approved already.
    Open(Record),
    /// A person denied this action to this principal before; the denial stands.
    Denied(Record),
    /// As many approvals of this principal are pending as may be.
    TooMany,
}

/// Which approvals to list. Those of other tenants are never read.
#[derive(Clone, Debug, Default)]
pub struct ApprovalFilter {
    /// The tenant.
    pub tenant: String,
    /// Only those in this state, as it is at `now`.
    pub state: Option<RecordState>,
    /// Only those that are older than the approval with this id.
    pub before: Option<String>,
    /// At most so many; the newest are taken.
    pub limit: u32,
}

/// Proof that one approval was redeemed in the store, together with the intent row of the call that it allows. Made
/// here alone, not copyable: it is worth one permit.
#[derive(Debug)]
pub struct Redeemed {
    decision: Decision,
    approval: String,
}

impl Redeemed {
    /// The approval's id and the decision that the call rests on.
    #[must_use]
    pub fn into_parts(self) -> (String, Decision) {
        (self.approval, self.decision)
    }
}

fn encode(record: &Record) -> Result<String, StoreFault> {
    serde_json::to_string(record).map_err(|source| StoreFault::Unreadable { what: "approval", source })
}

fn decode(row: &SqliteRow) -> Result<Record, StoreFault> {
    let text: &str = row.try_get("record").doing("read an approval")?;
    serde_json::from_str(text).map_err(|source| StoreFault::Unreadable { what: "approval", source })
}

async fn update(
    connection: &mut SqliteConnection,
    record: &Record,
    from: RecordState,
) -> Result<bool, StoreFault> {
    let done =
        sqlx::query("UPDATE approvals SET state = ?, expires_at = ?, record = ? WHERE id = ? AND state = ?")
            .bind(record.state.as_str())
            .bind(record.expires_at.0)
            .bind(encode(record)?)
            .bind(record.id.as_str())
            .bind(from.as_str())
            .execute(connection)
            .await
            .doing("write an approval")?;
    Ok(done.rows_affected() == 1)
}

/// Nobody needs the arguments of a call that will not be made.
async fn forget_arguments(connection: &mut SqliteConnection, record: &Record) -> Result<(), StoreFault> {
    sqlx::query("UPDATE approvals SET arguments = NULL WHERE id = ?")
        .bind(record.id.as_str())
        .execute(connection)
        .await
        .doing("forget arguments")?;
    Ok(())
}

async fn find_open(
    connection: &mut SqliteConnection,
    binding: &Binding,
) -> Result<Option<Record>, StoreFault> {
    let query = "SELECT record FROM approvals WHERE binding_key = ? AND state IN ('pending', 'approved')";
    find(connection, query, binding.key()).await
}

async fn find_denial(
    connection: &mut SqliteConnection,
    binding: &Binding,
) -> Result<Option<Record>, StoreFault> {
    let query = "SELECT record FROM approvals WHERE denial_key = ? AND state = 'denied' LIMIT 1";
    find(connection, query, binding.denial_key()).await
}

async fn find(
    connection: &mut SqliteConnection,
    query: &'static str,
    key: String,
) -> Result<Option<Record>, StoreFault> {
    let row = sqlx::query(query).bind(key).fetch_optional(connection).await.doing("look for an approval")?;
    row.as_ref().map(decode).transpose()
}

impl Store {
    /// Asks for an approval: writes `record` and `row` unless the action was denied, or one is open already.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn ask(
        &self,
        record: Record,
        sealed_arguments: &[u8],
        row: NewRow,
        now: Timestamp,
        most_pending: u32,
    ) -> Result<AskOutcome, StoreFault> {
        let asked = self.ask_now(record, sealed_arguments, row, now, most_pending).await;
        // The other outcomes are of what was read.
        if matches!(asked, Ok(AskOutcome::Asked(_)) | Err(_)) { self.noted(asked) } else { asked }
    }

    async fn ask_now(
        &self,
        record: Record,
        sealed_arguments: &[u8],
        row: NewRow,
        now: Timestamp,
        most_pending: u32,
    ) -> Result<AskOutcome, StoreFault> {
        let mut writer = self.writer(Durability::Full).await?;
        let mut transaction = writer.connection.begin_with("BEGIN IMMEDIATE").await.doing("begin")?;
        if let Some(denied) = find_denial(&mut transaction, &record.binding).await? {
            transaction.rollback().await.doing("end")?;
            writer.keep();
            return Ok(AskOutcome::Denied(denied));
        }
        if let Some(open) = find_open(&mut transaction, &record.binding).await? {
            if open.state_at(now) != RecordState::Expired {
                transaction.rollback().await.doing("end")?;
                writer.keep();
                return Ok(AskOutcome::Open(open));
            }
            let from = open.state;
            let expired = Record { state: RecordState::Expired, ..open };
            update(&mut transaction, &expired, from).await?;
            forget_arguments(&mut transaction, &expired).await?;
        }
        let pending: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM approvals WHERE tenant = ? AND caller = ? AND state = 'pending' AND expires_at > ?",
        )
        .bind(&record.binding.caller.tenant)
        .bind(record.binding.caller.id())
        .bind(now.0)
        .fetch_one(&mut *transaction)
        .await
        .doing("count approvals")?;
        if pending >= i64::from(most_pending) {
            transaction.rollback().await.doing("end")?;
            writer.keep();
            return Ok(AskOutcome::TooMany);
        }
        sqlx::query(
            "INSERT INTO approvals (id, tenant, caller, binding_key, denial_key, state, created_at, expires_at, record, arguments) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(record.id.as_str())
        .bind(&record.binding.caller.tenant)
        .bind(record.binding.caller.id())
        .bind(record.binding.key())
        .bind(record.binding.denial_key())
        .bind(record.state.as_str())
        .bind(record.created_at.0)
        .bind(record.expires_at.0)
        .bind(encode(&record)?)
        .bind(sealed_arguments)
        .execute(&mut *transaction)
        .await
        .doing("write an approval")?;
        insert(&mut transaction, &[row]).await?;
        transaction.commit().await.doing("commit an approval")?;
        writer.keep();
        Ok(AskOutcome::Asked(record))
    }

    /// One approval of `tenant` with its sealed arguments.
    ///
    /// # Errors
    /// Where there is none, or the database refuses.
    pub async fn approval(&self, tenant: &str, id: &str) -> Result<(Record, Vec<u8>), StoreFault> {
        let row = sqlx::query("SELECT record, arguments FROM approvals WHERE id = ? AND tenant = ?")
            .bind(id)
            .bind(tenant)
            .fetch_optional(&self.readers)
            .await
            .doing("read an approval")?
            .ok_or_else(|| StoreFault::NoApproval { id: id.to_owned() })?;
        let sealed: Option<Vec<u8>> = row.try_get("arguments").doing("read an approval")?;
        Ok((decode(&row)?, sealed.unwrap_or_default()))
    }

    /// Other approvals of the same action (caller, tool and arguments) that were redeemed, the newest first, `most` at the most.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn redeemed_before(&self, record: &Record, most: u32) -> Result<Vec<Record>, StoreFault> {
        let rows = sqlx::query(
            "SELECT record FROM approvals WHERE denial_key = ? AND state = 'redeemed' AND tenant = ? AND id <> ? \
             ORDER BY created_at DESC LIMIT ?",
        )
        .bind(record.binding.denial_key())
        .bind(&record.binding.caller.tenant)
        .bind(record.id.as_str())
        .bind(most)
        .fetch_all(&self.readers)
        .await
        .doing("look for earlier approvals")?;
        rows.iter().map(decode).collect()
    }

    /// Approvals with their sealed arguments, oldest first.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn approvals(
        &self,
        filter: &ApprovalFilter,
        now: Timestamp,
    ) -> Result<Vec<(Record, Vec<u8>)>, StoreFault> {
        let rows = self.listed("record, arguments", filter, now).await?;
        let read = |row: &SqliteRow| {
            let sealed: Option<Vec<u8>> = row.try_get("arguments").doing("list approvals")?;
            Ok((decode(row)?, sealed.unwrap_or_default()))
        };
        rows.iter().rev().map(read).collect()
    }

    /// Approvals without their arguments, the newest first.
    ///
    /// # Errors
    /// Where the database refuses.
    pub async fn newest_approvals(
        &self,
        filter: &ApprovalFilter,
        now: Timestamp,
    ) -> Result<Vec<Record>, StoreFault> {
        self.listed("record", filter, now).await?.iter().map(decode).collect()
    }

    /// These columns of approvals, the newest first.
    async fn listed(
        &self,
        columns: &'static str,
        filter: &ApprovalFilter,
        now: Timestamp,
    ) -> Result<Vec<SqliteRow>, StoreFault> {
        let mut query = QueryBuilder::<Sqlite>::new("SELECT ");
        query.push(columns).push(" FROM approvals WHERE tenant = ").push_bind(&filter.tenant);
        match filter.state {
            None => {}
            Some(RecordState::Expired) => {
                query.push(" AND (state = 'expired' OR (state IN ('pending', 'approved') AND expires_at <= ");
                query.push_bind(now.0).push("))");
            }
            Some(state) => {
                query.push(" AND state = ").push_bind(state.as_str());
                if matches!(state, RecordState::Pending | RecordState::Approved) {
                    query.push(" AND expires_at > ").push_bind(now.0);
                }
            }
        }
        if let Some(before) = &filter.before {
            query.push(" AND (created_at, id) < (SELECT created_at, id FROM approvals WHERE id = ");
            query.push_bind(before).push(" AND tenant = ").push_bind(&filter.tenant).push(")");
        }
        query.push(" ORDER BY created_at DESC, id DESC LIMIT ").push_bind(i64::from(filter.limit));
        query.build().fetch_all(&self.readers).await.doing("list approvals")
    }

    /// Writes a decision and its evidence row. The record must be the one that the person saw.
    ///
    /// # Errors
    /// Where it is not pending any more, or the database refuses.
    pub async fn decide(
        &self,
        seen: &Record,
        decision: Decision,
        redeem_within_ms: u64,
        row: NewRow,
    ) -> Result<Record, StoreFault> {
        self.noted(self.decide_now(seen, decision, redeem_within_ms, row).await)
    }

    async fn decide_now(
        &self,
        seen: &Record,
        decision: Decision,
        redeem_within_ms: u64,
        row: NewRow,
    ) -> Result<Record, StoreFault> {
        let mut writer = self.writer(Durability::Full).await?;
        let mut transaction = writer.connection.begin_with("BEGIN IMMEDIATE").await.doing("begin")?;
        let current = sqlx::query("SELECT record FROM approvals WHERE id = ?")
            .bind(seen.id.as_str())
            .fetch_optional(&mut *transaction)
            .await
            .doing("read an approval")?
            .as_ref()
            .map(decode)
            .transpose()?
            .ok_or_else(|| StoreFault::NoApproval { id: seen.id.to_string() })?;
        let decided = current.decide(decision, redeem_within_ms)?;
        update(&mut transaction, &decided, RecordState::Pending).await?;
        if decided.state == RecordState::Denied {
            forget_arguments(&mut transaction, &decided).await?;
        }
        insert(&mut transaction, &[row]).await?;
        transaction.commit().await.doing("commit a decision")?;
        writer.keep();
        Ok(decided)
    }

    /// Redeems an approval once and appends the intent row of the call, in one durable transaction.
    ///
    /// # Errors
    /// Where it was redeemed meanwhile or has run out, a person denied the same action under another approval, or the
    /// database refuses.
    pub async fn redeem(
        &self,
        redemption: Redemption,
        call: &CallId,
        intent: NewRow,
    ) -> Result<Redeemed, StoreFault> {
        self.noted(self.redeem_now(redemption, call, intent).await)
    }

    async fn redeem_now(
        &self,
        redemption: Redemption,
        call: &CallId,
        intent: NewRow,
    ) -> Result<Redeemed, StoreFault> {
        let spent = || StoreFault::Spent { id: redemption.id().to_string() };
        let mut writer = self.writer(Durability::Full).await?;
        let mut transaction = writer.connection.begin_with("BEGIN IMMEDIATE").await.doing("begin")?;
        let row = sqlx::query("SELECT record FROM approvals WHERE id = ? AND state = 'approved'")
            .bind(redemption.id().as_str())
            .fetch_optional(&mut *transaction)
            .await
            .doing("read an approval")?;
        let record = row.as_ref().map(decode).transpose()?;
        let Some(record) = record.filter(|one| one.state_at(redemption.at()) == RecordState::Approved) else {
            transaction.rollback().await.doing("end")?;
            writer.keep();
            return Err(spent());
        };
        if let Some(denied) = find_denial(&mut transaction, &record.binding).await? {
            transaction.rollback().await.doing("end")?;
            writer.keep();
            let (by, note) =
                denied.decision.map(|decision| (decision.by.name, decision.note)).unwrap_or_default();
            return Err(StoreFault::Denied { id: denied.id.to_string(), by, note });
        }
        let redeemed = Record { state: RecordState::Redeemed, redeemed_by: Some(call.clone()), ..record };
        if !update(&mut transaction, &redeemed, RecordState::Approved).await? {
            return Err(spent());
        }
        sqlx::query("INSERT INTO rounds (call, round, at) VALUES (?, 0, ?)")
            .bind(call.as_str())
            .bind(intent.at)
            .execute(&mut *transaction)
            .await
            .doing("mark a round")?;
        insert(&mut transaction, &[intent]).await?;
        transaction.commit().await.doing("commit a redemption")?;
        writer.keep();
        Ok(Redeemed { decision: redemption.decision().clone(), approval: redemption.id().to_string() })
    }
}
