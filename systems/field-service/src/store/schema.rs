//! Tables and indexes, and the row that says with what the data was generated.

use sqlx::{Row as _, SqliteConnection};

use super::StoreFault;
use crate::generate::Plan;

/// `ord` is a ticket's position from the newest one, so that "newest first" is the order of the primary key.
const TABLES: &[&str] = &[
    "CREATE TABLE plan (tickets INTEGER NOT NULL, seed TEXT NOT NULL)",
    "CREATE TABLE customers (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL, account_no TEXT NOT NULL,
        payment_iban TEXT NOT NULL, payment_terms TEXT NOT NULL,
        contract_no TEXT NOT NULL, contract_rate TEXT NOT NULL)",
    "CREATE TABLE sites (
        id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id),
        street TEXT NOT NULL, city TEXT NOT NULL,
        contact_name TEXT NOT NULL, contact_phone TEXT NOT NULL, contact_email TEXT NOT NULL)",
    "CREATE TABLE faults (
        code TEXT PRIMARY KEY, title TEXT NOT NULL, category TEXT NOT NULL,
        cause TEXT NOT NULL, fix TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE tickets (
        ord INTEGER PRIMARY KEY, id TEXT NOT NULL, status TEXT NOT NULL, model_variant TEXT NOT NULL,
        serial_no TEXT NOT NULL, site_id INTEGER NOT NULL REFERENCES sites(id),
        opened_at INTEGER NOT NULL, closed_at INTEGER, fault_code TEXT REFERENCES faults(code),
        symptom TEXT NOT NULL, customer_text TEXT NOT NULL, engineer TEXT NOT NULL,
        part_no TEXT, repair_minutes INTEGER)",
    "CREATE TABLE notes (
        id INTEGER PRIMARY KEY AUTOINCREMENT, ticket_ord INTEGER NOT NULL REFERENCES tickets(ord),
        written_at INTEGER NOT NULL, author TEXT NOT NULL, note TEXT NOT NULL)",
    "CREATE VIRTUAL TABLE ticket_words USING fts5(
        symptom, variant, content='', tokenize='porter unicode61')",
    "CREATE VIRTUAL TABLE fault_words USING fts5(
        code UNINDEXED, title, symptoms, tokenize='porter unicode61')",
    "CREATE TABLE parts (
        part_no TEXT PRIMARY KEY, category TEXT NOT NULL, description TEXT NOT NULL,
        price_cents INTEGER NOT NULL, stock INTEGER NOT NULL, lead_time_days INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE fitment (
        model_variant TEXT NOT NULL, part_no TEXT NOT NULL REFERENCES parts(part_no),
        PRIMARY KEY (model_variant, part_no)) WITHOUT ROWID",
    "CREATE TABLE passages (
        id INTEGER PRIMARY KEY, document TEXT NOT NULL, revision TEXT NOT NULL, page INTEGER NOT NULL,
        section TEXT NOT NULL, title TEXT NOT NULL, kind TEXT NOT NULL, family TEXT NOT NULL,
        variant TEXT, superseded INTEGER NOT NULL, passage TEXT NOT NULL)",
    "CREATE VIRTUAL TABLE passage_words USING fts5(
        title, passage, content='', tokenize='porter unicode61')",
    "CREATE TABLE order_calls (nonce TEXT PRIMARY KEY, decision TEXT NOT NULL, decided_at INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE orders (
        id INTEGER PRIMARY KEY AUTOINCREMENT, part_no TEXT NOT NULL REFERENCES parts(part_no),
        quantity INTEGER NOT NULL, unit_price_cents INTEGER NOT NULL,
        ticket_ord INTEGER NOT NULL REFERENCES tickets(ord), account_no TEXT NOT NULL,
        justification TEXT NOT NULL, approver TEXT NOT NULL, approver_note TEXT NOT NULL,
        ordered_at INTEGER NOT NULL)",
    "CREATE TABLE outbox (
        id INTEGER PRIMARY KEY AUTOINCREMENT, recipient TEXT NOT NULL, model_variant TEXT NOT NULL,
        reason TEXT NOT NULL, body TEXT NOT NULL, queued_at INTEGER NOT NULL)",
];

const INDEXES: &[&str] = &[
    "CREATE UNIQUE INDEX tickets_by_id ON tickets (id)",
    "CREATE INDEX tickets_by_variant ON tickets (model_variant, status, ord)",
    "CREATE INDEX notes_by_ticket ON notes (ticket_ord)",
    "CREATE INDEX passages_by_page ON passages (document, revision, page)",
    "INSERT INTO ticket_words (ticket_words) VALUES ('optimize')",
    "INSERT INTO fault_words (code, title, symptoms)
        SELECT f.code, f.title, (SELECT group_concat(DISTINCT t.symptom) FROM tickets t
            WHERE t.fault_code = f.code AND t.status = 'closed') FROM faults f",
    "ANALYZE",
];

/// Raised whenever a table changes.
const VERSION: i64 = 1;

/// What the stored data was generated with; `None` for an empty store.
pub(super) async fn stored_plan(connection: &mut SqliteConnection) -> Result<Option<Plan>, StoreFault> {
    let tables: i64 = sqlx::query_scalar("SELECT count(*) FROM sqlite_master WHERE name = 'plan'")
        .fetch_one(&mut *connection)
        .await?;
    if tables == 0 {
        return Ok(None);
    }
    let row = sqlx::query("SELECT tickets, seed FROM plan").fetch_optional(&mut *connection).await?;
    let Some(row) = row else { return Ok(None) };
    let version: i64 = sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut *connection).await?;
    if version != VERSION {
        return Err(StoreFault::Version { found: version, expected: VERSION });
    }
    let tickets: i64 = row.try_get("tickets")?;
    let seed: String = row.try_get("seed")?;
    Ok(Some(Plan {
        tickets: usize::try_from(tickets).unwrap_or_default(),
        seed: u64::from_str_radix(&seed, 16).unwrap_or_default(),
    }))
}

pub(super) async fn create(connection: &mut SqliteConnection) -> Result<(), StoreFault> {
    for statement in TABLES {
        sqlx::query(*statement).execute(&mut *connection).await?;
    }
    Ok(())
}

/// Indexes are made after the rows, which is faster than keeping them up to date, and the plan is written last.
pub(super) async fn finish(connection: &mut SqliteConnection, plan: Plan) -> Result<(), StoreFault> {
    for statement in INDEXES {
        sqlx::query(*statement).execute(&mut *connection).await?;
    }
    let version = format!("PRAGMA user_version = {VERSION}");
    sqlx::query(sqlx::AssertSqlSafe(version)).execute(&mut *connection).await?;
    sqlx::query("INSERT INTO plan (tickets, seed) VALUES (?, ?)")
        .bind(i64::try_from(plan.tickets).unwrap_or(i64::MAX))
        .bind(format!("{:x}", plan.seed))
        .execute(&mut *connection)
        .await?;
    Ok(())
}
