//! The parts catalogue: fitment, price, stock, lead time. Reading reserves nothing.

use serde::Serialize;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::{Store, StoreFault};

/// One part of the catalogue.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Part {
    pub(crate) part_no: String,
    pub(crate) category: String,
    pub(crate) description: String,
    /// Price of one in cents.
    #[serde(skip)]
    pub(crate) price_cents: i64,
    pub(crate) price: String,
    pub(crate) currency: &'static str,
    pub(crate) stock: i64,
    pub(crate) lead_time_days: i64,
    /// The exact model variants that this part fits.
    pub(crate) fits: Vec<String>,
}

pub(crate) const CURRENCY: &str = "GBP";

const PART: &str = "SELECT p.part_no, p.category, p.description, p.price_cents, p.stock, p.lead_time_days, \
     (SELECT group_concat(model_variant) FROM fitment x WHERE x.part_no = p.part_no) AS fits FROM parts p";

impl Store {
    /// Parts of a category whose fitment list holds exactly this model variant.
    pub(crate) async fn fitting_parts(
        &self,
        model_variant: &str,
        category: &str,
        in_stock_only: bool,
    ) -> Result<Vec<Part>, StoreFault> {
        let sql = format!(
            "{PART} JOIN fitment f ON f.part_no = p.part_no WHERE f.model_variant = ?1 AND p.category = ?2 \
             AND (?3 = 0 OR p.stock > 0) ORDER BY p.part_no"
        );
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(model_variant)
            .bind(category)
            .bind(in_stock_only)
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(part).collect()
    }

    /// One part by its number.
    pub(crate) async fn part(&self, part_no: &str) -> Result<Option<Part>, StoreFault> {
        let sql = format!("{PART} WHERE p.part_no = ?1");
        let row = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(part_no).fetch_optional(&self.pool).await?;
        row.as_ref().map(part).transpose()
    }
}

/// Cents as a decimal number with two places.
pub(crate) fn money(cents: i64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

fn part(row: &SqliteRow) -> Result<Part, StoreFault> {
    let price_cents: i64 = row.try_get("price_cents")?;
    let fits: Option<String> = row.try_get("fits")?;
    let mut fits: Vec<String> = fits.unwrap_or_default().split(',').map(str::to_owned).collect();
    fits.sort();
    Ok(Part {
        part_no: row.try_get("part_no")?,
        category: row.try_get("category")?,
        description: row.try_get("description")?,
        price_cents,
        price: money(price_cents),
        currency: CURRENCY,
        stock: row.try_get("stock")?,
        lead_time_days: row.try_get("lead_time_days")?,
        fits,
    })
}
