//! Counts of runs: exact if few match, otherwise estimated.

use std::sync::Arc;

use everstep_model::{RunStatus, Timestamp};
use everstep_store::{Count, ListQuery, Store};
use everstep_store_postgres::PostgresStore;
use everstep_store_testkit::sample::name;
use tokio_postgres::Client;

use crate::support::{Installation, in_parallel};

/// 30,000 runs of three workflows; every thousandth is cancelled, and every hundredth has a tag.
const RUNS: &str = "
    INSERT INTO runs SELECT n, n, n, 1, 1, CASE WHEN n % 1000 = 0 THEN $1::int2 ELSE $2::int2 END, false, true,
        'run-' || n, 'workflow-' || n % 3, '{}' FROM generate_series(1, 30000) n";
const TAGS: &str = "INSERT INTO tags SELECT 'rare', n * 100 FROM generate_series(1, 300) n";

pub(crate) async fn with_runs() -> (Arc<PostgresStore>, Client) {
    let installation = Installation::new();
    let (store, sql) = (installation.store().await, installation.sql().await);
    let statuses = [RunStatus::Cancelled, RunStatus::Completed].map(|s| i16::from(s.code()));
    sql.execute(RUNS, &[&statuses[0], &statuses[1]])
        .await
        .unwrap();
    sql.execute(TAGS, &[]).await.unwrap();
    sql.batch_execute("ANALYZE runs; ANALYZE tags")
        .await
        .unwrap();
    (store, sql)
}

/// Runs with one of these statuses that were created in this range of times.
fn filter(statuses: &[RunStatus], created: std::ops::Range<u64>) -> ListQuery {
    ListQuery {
        statuses: statuses.to_vec(),
        created_from: Some(Timestamp::from_millis(created.start)),
        created_before: Some(Timestamp::from_millis(created.end)),
        ..ListQuery::default()
    }
}

#[test]
fn large_counts_are_estimated() {
    in_parallel(async {
        let (store, _) = with_runs().await;
        let large = [
            (ListQuery::default(), 30_000),
            (filter(&[RunStatus::Completed], 0..30_001), 29_970),
            (filter(&[], 0..15_001), 15_000),
        ];
        for (query, number) in large {
            let found = store.count(query.clone()).await.unwrap();
            assert!(!found.exact, "{query:?}");
            let near = number * 9 / 10..number * 11 / 10;
            assert!(near.contains(&found.number), "{query:?}: {found:?}");
        }
    });
}

/// The number of matches decides, not the number of rows that are read to find them.
#[test]
fn small_counts_are_exact() {
    in_parallel(async {
        let (store, _) = with_runs().await;
        let of_workflow = ListQuery {
            workflows: vec![name("workflow-1")],
            ..ListQuery::default()
        };
        let tagged = ListQuery {
            tag: Some("rare".to_owned()),
            ..filter(&[RunStatus::Cancelled], 0..30_001)
        };
        let both = [RunStatus::Completed, RunStatus::Cancelled];
        let small = [
            (of_workflow, 10_000),
            (tagged, 30),
            (filter(&[RunStatus::Cancelled], 0..30_001), 30),
            (filter(&[], 11..21), 10),
            (filter(&both, 0..2_001), 2_000),
        ];
        for (query, number) in small {
            let exact = true;
            let found = store.count(query.clone()).await;
            assert_eq!(found, Ok(Count { number, exact }), "{query:?}");
        }
    });
}

/// A filter without an index is applied to a limited number of rows; one with an index is exact.
#[test]
fn counts_read_a_limited_number_of_rows() {
    in_parallel(async {
        let (store, sql) = with_runs().await;
        let [cancelled, completed] =
            [RunStatus::Cancelled, RunStatus::Completed].map(|s| i16::from(s.code()));
        let more = "INSERT INTO runs SELECT n, n, n, 1, 1, $1::int2, false, true, 'run-' || n, 'workflow-1', '{}'
            FROM generate_series(30001, 130000) n";
        sql.execute(more, &[&completed]).await.unwrap();
        sql.batch_execute("ANALYZE runs").await.unwrap();
        let found = store.count(filter(&[], 11..21)).await.unwrap();
        assert!(!found.exact && found.number < 1_000, "{found:?}");
        let by_status = filter(&[RunStatus::Completed], 11..21);
        let found = store.count(by_status).await.unwrap();
        assert!(!found.exact && found.number < 1_000, "{found:?}");
        let rare = ListQuery {
            statuses: vec![RunStatus::Cancelled],
            ..ListQuery::default()
        };
        let exact = true;
        let found = store.count(rare).await;
        assert_eq!(found, Ok(Count { number: 30, exact }));
        // Superseded runs are not read.
        let supersede = "UPDATE runs SET listed = false WHERE stream > 30000 AND status <> $1";
        sql.execute(supersede, &[&cancelled]).await.unwrap();
        sql.batch_execute("VACUUM ANALYZE runs").await.unwrap();
        let found = store.count(filter(&[], 11..21)).await;
        assert_eq!(found, Ok(Count { number: 10, exact }));
    });
}

#[test]
fn superseded_runs_do_not_make_a_count_inexact() {
    in_parallel(async {
        let (store, sql) = with_runs().await;
        let supersede = "UPDATE runs SET listed = false WHERE stream > 25";
        sql.batch_execute(supersede).await.unwrap();
        let (number, exact) = (25, true);
        let found = store.count(ListQuery::default()).await;
        assert_eq!(found, Ok(Count { number, exact }));
    });
}
