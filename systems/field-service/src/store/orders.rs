//! Orders and the outbox: the rows that the servers themselves add. A decision is spent in the same transaction as
//! the order that it allows, so that one decision gives at most one order.

use sqlx::SqliteConnection;

use super::tickets::status_of;
use super::{Store, StoreFault, rfc3339};

/// An order that a person approved.
#[derive(Debug, Clone)]
pub(crate) struct NewOrder<'a> {
    pub(crate) part_no: &'a str,
    pub(crate) quantity: i64,
    pub(crate) unit_price_cents: i64,
    pub(crate) ticket_id: &'a str,
    pub(crate) account_no: &'a str,
    pub(crate) justification: &'a str,
    pub(crate) approver: &'a str,
    pub(crate) approver_note: &'a str,
}

/// What was written for an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) order_id: String,
    pub(crate) ordered_at: String,
}

/// The outcome of spending a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Spent<T> {
    Now(T),
    /// The decision was spent before: nothing was written.
    Before,
    /// The ticket was closed in the meantime: nothing was written.
    TicketClosed,
}

impl Store {
    /// Spends the decision `nonce` and writes the order, both or neither.
    pub(crate) async fn place_order(
        &self,
        nonce: &str,
        order: &NewOrder<'_>,
        now: i64,
    ) -> Result<Spent<Order>, StoreFault> {
        let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await?;
        if !spend(&mut transaction, nonce, "approve", now).await? {
            return Ok(Spent::Before);
        }
        let Some((ord, true)) = status_of(&mut transaction, order.ticket_id).await? else {
            return Ok(Spent::TicketClosed);
        };
        let done = sqlx::query(
            "INSERT INTO orders (part_no, quantity, unit_price_cents, ticket_ord, account_no, justification, \
             approver, approver_note, ordered_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(order.part_no)
        .bind(order.quantity)
        .bind(order.unit_price_cents)
        .bind(ord)
        .bind(order.account_no)
        .bind(order.justification)
        .bind(order.approver)
        .bind(order.approver_note)
        .bind(now)
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        let order_id = format!("PO-{:06}", done.last_insert_rowid());
        Ok(Spent::Now(Order { order_id, ordered_at: rfc3339(now) }))
    }

    /// Spends the decision `nonce` without an order.
    pub(crate) async fn refuse_order(
        &self,
        nonce: &str,
        decision: &str,
        now: i64,
    ) -> Result<Spent<()>, StoreFault> {
        let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await?;
        if !spend(&mut transaction, nonce, decision, now).await? {
            return Ok(Spent::Before);
        }
        transaction.commit().await?;
        Ok(Spent::Now(()))
    }

    /// Whether a decision was made in the exchange that `nonce` names.
    pub(crate) async fn is_spent(&self, nonce: &str) -> Result<bool, StoreFault> {
        let known: i64 = sqlx::query_scalar("SELECT count(*) FROM order_calls WHERE nonce = ?")
            .bind(nonce)
            .fetch_one(&self.pool)
            .await?;
        Ok(known > 0)
    }

    /// Appends the records of a model variant to the outbox, a table of this store; nothing is sent. Returns the
    /// number of the entry and how many tickets it holds.
    pub(crate) async fn append_to_outbox(
        &self,
        recipient: &str,
        model_variant: &str,
        with_contacts: bool,
        reason: &str,
        now: i64,
    ) -> Result<(i64, i64), StoreFault> {
        let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await?;
        let done = sqlx::query(
            "INSERT INTO outbox (recipient, model_variant, reason, body, queued_at) SELECT ?1, ?2, ?4, \
             coalesce(json_group_array(CASE WHEN ?3 THEN json_object('ticket_id', id, 'fault_code', fault_code, \
             'symptom', symptom, 'contact_name', contact_name, 'contact_phone', contact_phone, 'contact_email', \
             contact_email) ELSE json_object('ticket_id', id, 'fault_code', fault_code, 'symptom', symptom) END), '[]'), \
             ?5 FROM (SELECT t.id, t.fault_code, t.symptom, s.contact_name, s.contact_phone, s.contact_email \
             FROM tickets t JOIN sites s ON s.id = t.site_id WHERE t.model_variant = ?2 AND t.status = 'closed' \
             ORDER BY t.ord LIMIT 1000)",
        )
        .bind(recipient)
        .bind(model_variant)
        .bind(with_contacts)
        .bind(reason)
        .bind(now)
        .execute(&mut *transaction)
        .await?;
        let id = done.last_insert_rowid();
        let tickets: i64 = sqlx::query_scalar("SELECT json_array_length(body) FROM outbox WHERE id = ?")
            .bind(id)
            .fetch_one(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok((id, tickets))
    }
}

async fn spend(
    connection: &mut SqliteConnection,
    nonce: &str,
    decision: &str,
    now: i64,
) -> Result<bool, StoreFault> {
    let done =
        sqlx::query("INSERT OR IGNORE INTO order_calls (nonce, decision, decided_at) VALUES (?, ?, ?)")
            .bind(nonce)
            .bind(decision)
            .bind(now)
            .execute(connection)
            .await?;
    Ok(done.rows_affected() == 1)
}
