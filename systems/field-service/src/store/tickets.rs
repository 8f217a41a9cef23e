//! Reading tickets, and appending notes and exports. Queries name every column that they return: payment and
//! contract fields of the customer table are in none of them.

use serde::Serialize;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::{Store, StoreFault, rfc3339};

/// Whether a ticket is still worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TicketStatus {
    Open,
    Closed,
}

/// A closed ticket as the search returns it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ClosedTicket {
    #[serde(skip)]
    pub(crate) ord: i64,
    pub(crate) ticket_id: String,
    pub(crate) model_variant: String,
    pub(crate) opened_at: String,
    pub(crate) closed_at: String,
    pub(crate) fault_code: String,
    pub(crate) fault: String,
    pub(crate) symptom: String,
    pub(crate) cause: String,
    pub(crate) resolution: String,
    pub(crate) part_category: String,
    pub(crate) part_no: String,
    pub(crate) repair_minutes: i64,
}

/// One complete ticket.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Ticket {
    #[serde(skip)]
    pub(crate) ord: i64,
    #[serde(skip)]
    pub(crate) account_no: String,
    pub(crate) ticket_id: String,
    pub(crate) status: TicketStatus,
    pub(crate) model_variant: String,
    pub(crate) serial_no: String,
    pub(crate) opened_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) closed_at: Option<String>,
    pub(crate) engineer: String,
    pub(crate) customer: String,
    pub(crate) site: Site,
    pub(crate) symptom: String,
    /// Written by the customer: untrusted text.
    pub(crate) customer_text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) diagnosis: Option<Diagnosis>,
    pub(crate) notes: Vec<Note>,
}

/// Where the machine stands and who answers there.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Site {
    pub(crate) street: String,
    pub(crate) city: String,
    pub(crate) contact_name: String,
    pub(crate) contact_phone: String,
    pub(crate) contact_email: String,
}

/// How a closed ticket was solved.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Diagnosis {
    pub(crate) fault_code: String,
    pub(crate) fault: String,
    pub(crate) cause: String,
    pub(crate) resolution: String,
    pub(crate) part_category: String,
    pub(crate) part_no: Option<String>,
    pub(crate) repair_minutes: Option<i64>,
}

/// One note. Notes are never changed or removed.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Note {
    pub(crate) note_id: i64,
    pub(crate) written_at: String,
    pub(crate) author: String,
    pub(crate) note: String,
}

/// What became of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Posted {
    /// Appended: its id, and how many notes the ticket has now.
    Appended {
        note_id: i64,
        written_at: String,
        notes: i64,
    },
    Closed,
    Unknown,
}

/// The columns of [`ClosedTicket`].
const CLOSED: &str = "SELECT t.ord, t.id, t.model_variant, t.opened_at, t.closed_at, t.fault_code, t.symptom, \
     t.part_no, t.repair_minutes, f.title, f.category, f.cause, f.fix FROM tickets t JOIN faults f ON f.code = t.fault_code";

impl Store {
    /// Closed tickets of one model variant, newest first.
    pub(crate) async fn newest_closed(
        &self,
        model_variant: &str,
        fault_code: Option<&str>,
        limit: i64,
    ) -> Result<Vec<ClosedTicket>, StoreFault> {
        let sql = format!(
            "{CLOSED} WHERE t.model_variant = ?1 AND t.status = 'closed' AND (?2 IS NULL OR t.fault_code = ?2) \
             ORDER BY t.ord LIMIT ?3"
        );
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(model_variant)
            .bind(fault_code)
            .bind(limit)
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(closed_ticket).collect()
    }

    /// Closed tickets that match a full-text query, best first, with their BM25 score (greater is better).
    pub(crate) async fn matching_closed(
        &self,
        model_variant: &str,
        fault_code: Option<&str>,
        query: &str,
        limit: i64,
    ) -> Result<Vec<(ClosedTicket, f64)>, StoreFault> {
        let variant = crate::generate::variant_word(model_variant);
        let sql = format!(
            "{CLOSED_MATCHING} WHERE ticket_words MATCH ?1 AND t.model_variant = ?2 AND t.status = 'closed' \
             AND (?3 IS NULL OR t.fault_code = ?3) ORDER BY score, t.ord LIMIT ?4"
        );
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(format!("variant : {variant} AND symptom : ({query})"))
            .bind(model_variant)
            .bind(fault_code)
            .bind(limit)
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(|row| Ok((closed_ticket(row)?, -row.try_get::<f64, _>("score")?))).collect()
    }

    /// Fault codes whose title and reported symptoms match a full-text query, with their BM25 score.
    pub(crate) async fn matching_faults(&self, query: &str) -> Result<Vec<(String, f64)>, StoreFault> {
        let rows = sqlx::query(
            "SELECT code, bm25(fault_words, 0.0, 3.0, 1.0) AS score FROM fault_words WHERE fault_words MATCH ?1 \
             ORDER BY score, code",
        )
        .bind(query)
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(|row| Ok((row.try_get("code")?, -row.try_get::<f64, _>("score")?))).collect()
    }

    /// One ticket with all of its notes.
    pub(crate) async fn ticket(&self, ticket_id: &str) -> Result<Option<Ticket>, StoreFault> {
        let row = sqlx::query(
            "SELECT t.ord, t.id, t.status, t.model_variant, t.serial_no, t.opened_at, t.closed_at, t.engineer, \
             t.symptom, t.customer_text, t.fault_code, t.part_no, t.repair_minutes, f.title, f.category, f.cause, \
             f.fix, s.street, s.city, s.contact_name, s.contact_phone, s.contact_email, c.name, c.account_no \
             FROM tickets t JOIN sites s ON s.id = t.site_id JOIN customers c ON c.id = s.customer_id \
             LEFT JOIN faults f ON f.code = t.fault_code WHERE t.id = ?1",
        )
        .bind(ticket_id)
        .fetch_optional(&self.pool)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let mut ticket = whole_ticket(&row)?;
        let notes =
            sqlx::query("SELECT id, written_at, author, note FROM notes WHERE ticket_ord = ?1 ORDER BY id")
                .bind(ticket.ord)
                .fetch_all(&self.pool)
                .await?;
        ticket.notes = notes.iter().map(note).collect::<Result<_, _>>()?;
        Ok(Some(ticket))
    }

    /// Appends a note to an open ticket.
    pub(crate) async fn append_note(
        &self,
        ticket_id: &str,
        author: &str,
        text: &str,
        now: i64,
    ) -> Result<Posted, StoreFault> {
        let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await?;
        let Some((ord, open)) = status_of(&mut transaction, ticket_id).await? else {
            return Ok(Posted::Unknown);
        };
        if !open {
            return Ok(Posted::Closed);
        }
        let done =
            sqlx::query("INSERT INTO notes (ticket_ord, written_at, author, note) VALUES (?, ?, ?, ?)")
                .bind(ord)
                .bind(now)
                .bind(author)
                .bind(text)
                .execute(&mut *transaction)
                .await?;
        let notes: i64 = sqlx::query_scalar("SELECT count(*) FROM notes WHERE ticket_ord = ?")
            .bind(ord)
            .fetch_one(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(Posted::Appended { note_id: done.last_insert_rowid(), written_at: rfc3339(now), notes })
    }
}

const CLOSED_MATCHING: &str = "SELECT t.ord, t.id, t.model_variant, t.opened_at, t.closed_at, t.fault_code, t.symptom, \
     t.part_no, t.repair_minutes, f.title, f.category, f.cause, f.fix, bm25(ticket_words, 1.0, 0.0) AS score \
     FROM ticket_words JOIN tickets t ON t.ord = ticket_words.rowid JOIN faults f ON f.code = t.fault_code";

/// Position of a ticket and whether it is open.
pub(super) async fn status_of(
    connection: &mut SqliteConnection,
    ticket_id: &str,
) -> Result<Option<(i64, bool)>, StoreFault> {
    let row = sqlx::query("SELECT ord, status FROM tickets WHERE id = ?")
        .bind(ticket_id)
        .fetch_optional(connection)
        .await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some((row.try_get("ord")?, row.try_get::<String, _>("status")? == "open")))
}

fn closed_ticket(row: &SqliteRow) -> Result<ClosedTicket, StoreFault> {
    Ok(ClosedTicket {
        ord: row.try_get("ord")?,
        ticket_id: row.try_get("id")?,
        model_variant: row.try_get("model_variant")?,
        opened_at: rfc3339(row.try_get("opened_at")?),
        closed_at: rfc3339(row.try_get("closed_at")?),
        fault_code: row.try_get("fault_code")?,
        fault: row.try_get("title")?,
        symptom: row.try_get("symptom")?,
        cause: row.try_get("cause")?,
        resolution: row.try_get("fix")?,
        part_category: row.try_get("category")?,
        part_no: row.try_get("part_no")?,
        repair_minutes: row.try_get("repair_minutes")?,
    })
}

fn whole_ticket(row: &SqliteRow) -> Result<Ticket, StoreFault> {
    let closed_at: Option<i64> = row.try_get("closed_at")?;
    let diagnosis = match row.try_get::<Option<String>, _>("fault_code")? {
        None => None,
        Some(fault_code) => Some(Diagnosis {
            fault_code,
            fault: row.try_get("title")?,
            cause: row.try_get("cause")?,
            resolution: row.try_get("fix")?,
            part_category: row.try_get("category")?,
            part_no: row.try_get("part_no")?,
            repair_minutes: row.try_get("repair_minutes")?,
        }),
    };
    let open = row.try_get::<String, _>("status")? == "open";
    Ok(Ticket {
        ord: row.try_get("ord")?,
        account_no: row.try_get("account_no")?,
        ticket_id: row.try_get("id")?,
        status: if open { TicketStatus::Open } else { TicketStatus::Closed },
        model_variant: row.try_get("model_variant")?,
        serial_no: row.try_get("serial_no")?,
        opened_at: rfc3339(row.try_get("opened_at")?),
        closed_at: closed_at.map(rfc3339),
        engineer: row.try_get("engineer")?,
        customer: row.try_get("name")?,
        site: Site {
            street: row.try_get("street")?,
            city: row.try_get("city")?,
            contact_name: row.try_get("contact_name")?,
            contact_phone: row.try_get("contact_phone")?,
            contact_email: row.try_get("contact_email")?,
        },
        symptom: row.try_get("symptom")?,
        customer_text: row.try_get("customer_text")?,
        diagnosis,
        notes: Vec::new(),
    })
}

fn note(row: &SqliteRow) -> Result<Note, StoreFault> {
    Ok(Note {
        note_id: row.try_get("id")?,
        written_at: rfc3339(row.try_get("written_at")?),
        author: row.try_get("author")?,
        note: row.try_get("note")?,
    })
}
