//! The frames of a removed stream are deleted in small steps.

use everstep_store::{Commit, Store};
use everstep_store_testkit::sample::{closing, event, inbox, removal};

use crate::support::{Installation, create, in_parallel};

/// The number of rows of a table.
async fn count(sql: &tokio_postgres::Client, table: &str) -> i64 {
    let count = format!("SELECT count(*) FROM {table}");
    sql.query_one(&count, &[]).await.unwrap().get(0)
}

#[test]
fn frames_of_a_removed_stream_are_deleted() {
    in_parallel(async {
        let installation = Installation::new();
        let store = installation.store().await;
        let streams = create(&store, &["large", "kept"]).await;
        for _ in 0..5 {
            let one_each: Vec<Commit> = (0..500)
                .map(|_| inbox(streams[0], vec![event("x")]).into())
                .collect();
            store.commit(&one_each).await.unwrap();
        }
        store.commit(&[closing(streams[0]).into()]).await.unwrap();
        store
            .commit(&[removal(&[streams[0]]).into()])
            .await
            .unwrap();
        let sql = installation.sql().await;
        while count(&sql, "garbage").await > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(count(&sql, "frames").await, 1, "that of the other stream");
        assert_eq!(count(&sql, "streams").await, 1);
    });
}
