//! Reading the manual corpus, which is fixed.

use serde::Serialize;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::{Store, StoreFault};

/// A passage of a manual, with what is needed to look it up.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Passage {
    #[serde(skip)]
    pub(crate) id: i64,
    pub(crate) document: String,
    pub(crate) revision: String,
    pub(crate) page: i64,
    /// Whether a later revision of the document exists.
    pub(crate) superseded: bool,
    pub(crate) product_family: String,
    /// The variant that it is about; `null` where it holds for all.
    pub(crate) variant: Option<String>,
    pub(crate) section: String,
    pub(crate) title: String,
    pub(crate) kind: String,
    pub(crate) passage: String,
    pub(crate) uri: String,
}

/// A page that exists: document, revision and page number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) document: String,
    pub(crate) revision: String,
    pub(crate) page: i64,
    pub(crate) title: String,
}

const COLUMNS: &str = "p.id, p.document, p.revision, p.page, p.superseded, p.family, p.variant, p.section, p.title, \
     p.kind, p.passage";

impl Store {
    /// Passages that match a full-text query, best first, with their BM25 score (greater is better).
    pub(crate) async fn matching_passages(
        &self,
        family: Option<&str>,
        variant: Option<&str>,
        query: &str,
        limit: i64,
    ) -> Result<Vec<(Passage, f64)>, StoreFault> {
        let sql = format!(
            "SELECT {COLUMNS}, bm25(passage_words, 4.0, 1.0) AS score FROM passage_words \
             JOIN passages p ON p.id = passage_words.rowid WHERE passage_words MATCH ?1 \
             AND (?2 IS NULL OR p.family = ?2) AND (?3 IS NULL OR p.variant IS NULL OR p.variant = ?3) \
             ORDER BY score, p.superseded, p.id LIMIT ?4"
        );
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(query)
            .bind(family)
            .bind(variant)
            .bind(limit)
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(|row| Ok((passage(row)?, -row.try_get::<f64, _>("score")?))).collect()
    }

    /// The passages of one page.
    pub(crate) async fn page(
        &self,
        document: &str,
        revision: &str,
        page: i64,
    ) -> Result<Vec<Passage>, StoreFault> {
        let sql = format!(
            "SELECT {COLUMNS} FROM passages p WHERE p.document = ?1 AND p.revision = ?2 AND p.page = ?3 ORDER BY p.id"
        );
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(document)
            .bind(revision)
            .bind(page)
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(passage).collect()
    }

    /// The first page of the current revision of each document.
    pub(crate) async fn first_pages(&self) -> Result<Vec<Page>, StoreFault> {
        let rows = sqlx::query(
            "SELECT document, revision, min(page) AS page, title FROM passages WHERE superseded = 0 \
             GROUP BY document, revision ORDER BY document",
        )
        .fetch_all(&self.pool)
        .await?;
        rows.iter()
            .map(|row| {
                Ok(Page {
                    document: row.try_get("document")?,
                    revision: row.try_get("revision")?,
                    page: row.try_get("page")?,
                    title: row.try_get("title")?,
                })
            })
            .collect()
    }
}

fn passage(row: &SqliteRow) -> Result<Passage, StoreFault> {
    let document: String = row.try_get("document")?;
    let revision: String = row.try_get("revision")?;
    let page: i64 = row.try_get("page")?;
    let uri = format!("manual://{document}/{revision}/{page}");
    Ok(Passage {
        id: row.try_get("id")?,
        document,
        revision,
        page,
        superseded: row.try_get("superseded")?,
        product_family: row.try_get("family")?,
        variant: row.try_get("variant")?,
        section: row.try_get("section")?,
        title: row.try_get("title")?,
        kind: row.try_get("kind")?,
        passage: row.try_get("passage")?,
        uri,
    })
}
