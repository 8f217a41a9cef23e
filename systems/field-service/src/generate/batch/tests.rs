use sqlx::{Connection as _, SqliteConnection};

use super::{Batch, ROWS};

#[tokio::test]
async fn no_more_than_one_batch_ever_waits() {
    let mut connection = SqliteConnection::connect("sqlite::memory:").await.unwrap();
    sqlx::query("CREATE TABLE t (n INTEGER, word TEXT, blank TEXT)").execute(&mut connection).await.unwrap();
    let mut batch = Batch::new("INSERT INTO t (n, word, blank)");
    let rows = 3 * ROWS + 7;
    for number in 0..rows {
        batch
            .add(&mut connection, vec![number.into(), format!("word {number}").into(), None::<&str>.into()])
            .await
            .unwrap();
        assert_eq!(batch.rows.len(), (number + 1) % ROWS, "row {number}");
        assert!(batch.rows.capacity() <= 2 * ROWS);
    }
    batch.write(&mut connection).await.unwrap();
    assert!(batch.rows.is_empty());
    let query = "SELECT count(*), count(DISTINCT n), count(word), count(blank) FROM t";
    let found: (i64, i64, i64, i64) = sqlx::query_as(query).fetch_one(&mut connection).await.unwrap();
    let rows = i64::try_from(rows).unwrap();
    assert_eq!(found, (rows, rows, rows, 0));
}
