//! Calls added up by tenant, tool and contract version.

use sqlx::{Connection as _, Row as _, SqliteConnection};

use crate::fault::{Doing as _, StoreFault};
use crate::open::{Durability, Store};

/// Upper bounds of the latencies that are counted together, in milliseconds; the last count is of all above.
pub const LATENCY_BOUNDS_MS: [u64; 13] = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 10_000, 60_000];

/// What was seen of one version of a tool's contract.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// The contract version.
    pub version: u32,
    /// Calls that ended.
    pub calls: u64,
    /// Those that did not end with a result that is no error.
    pub failures: u64,
    /// Results that did not fit the output schema; they are failures too.
    pub violations: u64,
    /// How many calls took how long, by [`LATENCY_BOUNDS_MS`].
    pub latencies: [u64; LATENCY_BOUNDS_MS.len() + 1],
    /// The longest, in milliseconds.
    pub longest_ms: u64,
}

impl Observation {
    /// Adds one call.
    pub fn add(&mut self, failed: bool, violation: bool, took_ms: u64) {
        self.calls = self.calls.saturating_add(1);
        self.failures = self.failures.saturating_add(u64::from(failed));
        self.violations = self.violations.saturating_add(u64::from(violation));
        let place = LATENCY_BOUNDS_MS.iter().take_while(|bound| took_ms > **bound).count();
        if let Some(count) = self.latencies.get_mut(place) {
            *count = count.saturating_add(1);
        }
        self.longest_ms = self.longest_ms.max(took_ms);
    }

    fn plus(mut self, other: &Self) -> Self {
        self.calls = self.calls.saturating_add(other.calls);
        self.failures = self.failures.saturating_add(other.failures);
        self.violations = self.violations.saturating_add(other.violations);
        for (count, more) in self.latencies.iter_mut().zip(&other.latencies) {
            *count = count.saturating_add(*more);
        }
        self.longest_ms = self.longest_ms.max(other.longest_ms);
        self
    }
}

impl Store {
    /// Adds to what was seen: of each tenant's tool, as evidence names it, one version.
    ///
    /// # Errors
    /// Where the database refuses; then nothing is added.
    pub async fn add_observations(&self, seen: &[(&str, &str, &Observation)]) -> Result<(), StoreFault> {
        self.noted(self.add_observations_now(seen).await)
    }

    async fn add_observations_now(&self, seen: &[(&str, &str, &Observation)]) -> Result<(), StoreFault> {
        let mut writer = self.writer(Durability::Group).await?;
        let mut transaction = writer.connection.begin_with("BEGIN IMMEDIATE").await.doing("begin")?;
        for (tenant, tool, more) in seen {
            let before = of_version(&mut transaction, tenant, tool, more.version).await?;
            let sum = before.plus(more);
            sqlx::query(
                "INSERT OR REPLACE INTO observations \
                 (tenant, tool, version, calls, failures, violations, latencies, longest_ms) \
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            )
            .bind(*tenant)
            .bind(*tool)
            .bind(sum.version)
            .bind(signed(sum.calls))
            .bind(signed(sum.failures))
            .bind(signed(sum.violations))
            .bind(serde_json::to_string(&sum.latencies).map_err(unreadable)?)
            .bind(signed(sum.longest_ms))
            .execute(&mut *transaction)
            .await
            .doing("add observations")?;
        }
        transaction.commit().await.doing("commit observations")?;
        writer.keep();
        Ok(())
    }

    /// What was seen of a tenant's tool, as evidence names it, by contract version, the newest first.
    ///
    /// # Errors
    /// Where the database refuses, or holds what was not written by this program.
    pub async fn observations(&self, tenant: &str, tool: &str) -> Result<Vec<Observation>, StoreFault> {
        let rows = sqlx::query(OF_TOOL)
            .bind(tenant)
            .bind(tool)
            .fetch_all(&self.readers)
            .await
            .doing("read observations")?;
        rows.iter().map(read).collect()
    }
}

const OF_TOOL: &str = "SELECT version, calls, failures, violations, latencies, longest_ms FROM observations \
    WHERE tenant = ? AND tool = ? ORDER BY version DESC";
const OF_VERSION: &str = "SELECT version, calls, failures, violations, latencies, longest_ms FROM observations \
    WHERE tenant = ? AND tool = ? AND version = ?";

async fn of_version(
    connection: &mut SqliteConnection,
    tenant: &str,
    tool: &str,
    version: u32,
) -> Result<Observation, StoreFault> {
    let row = sqlx::query(OF_VERSION)
        .bind(tenant)
        .bind(tool)
        .bind(version)
        .fetch_optional(connection)
        .await
        .doing("read observations")?;
    row.as_ref().map_or_else(|| Ok(Observation { version, ..Observation::default() }), read)
}

fn read(row: &sqlx::sqlite::SqliteRow) -> Result<Observation, StoreFault> {
    let latencies: String = row.try_get(4).doing("read observations")?;
    let number = |index: usize| -> Result<u64, StoreFault> {
        let number: i64 = row.try_get(index).doing("read observations")?;
        Ok(u64::try_from(number).unwrap_or_default())
    };
    Ok(Observation {
        version: row.try_get(0).doing("read observations")?,
        calls: number(1)?,
        failures: number(2)?,
        violations: number(3)?,
        latencies: serde_json::from_str(&latencies).map_err(unreadable)?,
        longest_ms: number(5)?,
    })
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn unreadable(source: serde_json::Error) -> StoreFault {
    StoreFault::Unreadable { what: "row of observations", source }
}
