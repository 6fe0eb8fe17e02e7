//! Counts of runs: exact while few rows are read, otherwise estimated.

use everstep_model::RunStatus;
use everstep_store::{Count, ListQuery, Store};
use everstep_store_testkit::sample::name;

use crate::support::{Place, in_parallel};

/// 30,000 runs of three workflows; every thousandth is cancelled, and every hundredth has a tag.
const RUNS: &str = "
    INSERT INTO runs SELECT n, n, n, 1, 1, CASE WHEN n % 1000 = 0 THEN $1::int2 ELSE $2::int2 END, false, true,
        'run-' || n, 'workflow-' || n % 3, '{}' FROM generate_series(1, 30000) n";
const TAGS: &str = "INSERT INTO tags SELECT 'rare', n * 100 FROM generate_series(1, 300) n";

#[test]
fn a_large_count_is_estimated_and_a_small_one_is_exact() {
    in_parallel(async {
        let place = Place::new();
        let store = place.store().await;
        let sql = place.sql().await;
        let [rare, common] =
            [RunStatus::Cancelled, RunStatus::Completed].map(|s| i16::from(s.code()));
        sql.execute(RUNS, &[&rare, &common]).await.unwrap();
        sql.execute(TAGS, &[]).await.unwrap();
        sql.batch_execute("ANALYZE runs; ANALYZE tags")
            .await
            .unwrap();
        let count = |query| store.count(query);
        let estimated = [
            (ListQuery::default(), 30_000),
            (
                ListQuery {
                    statuses: vec![RunStatus::Completed],
                    ..ListQuery::default()
                },
                29_970,
            ),
            (
                ListQuery {
                    created_before: Some(everstep_model::Timestamp::from_millis(15_000)),
                    ..ListQuery::default()
                },
                15_000,
            ),
        ];
        for (query, number) in estimated {
            let found = count(query.clone()).await.unwrap();
            assert!(!found.exact, "{query:?}");
            let near = number * 9 / 10..number * 11 / 10;
            assert!(near.contains(&found.number), "{query:?}: {found:?}");
        }
        let exact = [
            (
                ListQuery {
                    statuses: vec![RunStatus::Cancelled],
                    ..ListQuery::default()
                },
                30,
            ),
            (
                ListQuery {
                    workflows: vec![name("workflow-1")],
                    ..ListQuery::default()
                },
                10_000,
            ),
            (
                ListQuery {
                    tag: Some("rare".to_owned()),
                    statuses: vec![RunStatus::Cancelled],
                    ..ListQuery::default()
                },
                30,
            ),
        ];
        for (query, number) in exact {
            let exact = Count {
                number,
                exact: true,
            };
            assert_eq!(count(query).await, Ok(exact));
        }
    });
}
