//! Many-row inserts: rows are collected and written a few hundred at a time, so memory stays bounded.

#[cfg(test)]
mod tests;

use sqlx::{QueryBuilder, Sqlite, SqliteConnection};

use crate::store::StoreFault;

const ROWS: usize = 400;

/// A value of a column.
#[derive(Debug, Clone)]
pub(super) enum Cell {
    Number(i64),
    Text(String),
    Nothing,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Cell {
        Cell::Number(number)
    }
}

impl From<usize> for Cell {
    fn from(number: usize) -> Cell {
        Cell::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        value.map_or(Cell::Nothing, Into::into)
    }
}

/// Rows of one table that wait to be written.
#[derive(Debug)]
pub(super) struct Batch {
    /// `INSERT INTO table (columns)`.
    insert: &'static str,
    rows: Vec<Vec<Cell>>,
}

impl Batch {
    pub(super) fn new(insert: &'static str) -> Batch {
        Batch { insert, rows: Vec::with_capacity(ROWS) }
    }

    pub(super) async fn add(
        &mut self,
        connection: &mut SqliteConnection,
        row: Vec<Cell>,
    ) -> Result<(), StoreFault> {
        self.rows.push(row);
        if self.rows.len() >= ROWS { self.write(connection).await } else { Ok(()) }
    }

    /// Writes what waits.
    pub(super) async fn write(&mut self, connection: &mut SqliteConnection) -> Result<(), StoreFault> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut query = QueryBuilder::<Sqlite>::new(self.insert);
        query.push(" ");
        query.push_values(self.rows.drain(..), |mut columns, row| {
            for cell in row {
                match cell {
                    Cell::Number(number) => columns.push_bind(number),
                    Cell::Text(text) => columns.push_bind(text),
                    Cell::Nothing => columns.push_bind(None::<String>),
                };
            }
        });
        query.build().execute(connection).await?;
        Ok(())
    }
}
