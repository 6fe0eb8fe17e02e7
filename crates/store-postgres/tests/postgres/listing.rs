//! Pages of the list of runs: what a page reads.

use everstep_model::Timestamp;
use everstep_store::{ListQuery, Store};
use tokio_postgres::Client;

use crate::counting::with_runs;
use crate::support::in_parallel;

/// Returns the ids of all pages, page by page.
async fn pages(store: &impl Store, mut query: ListQuery) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    loop {
        let page = store.list(query.clone()).await.unwrap();
        let ids = page.rows.iter().map(|row| row.id.to_string());
        pages.push(ids.collect());
        query.cursor = page.next;
        if query.cursor.is_none() {
            return pages;
        }
    }
}

fn with_prefix(prefix: &str) -> ListQuery {
    ListQuery {
        id_prefixes: vec![prefix.to_owned()],
        limit: 2,
        ..ListQuery::default()
    }
}

// B680
#[test]
fn a_page_compares_a_bounded_number_of_ids_with_their_beginnings() {
    in_parallel(async {
        let (store, _) = with_runs().await;
        let absent = pages(&*store, with_prefix("absent")).await;
        assert_eq!(absent, vec![Vec::<String>::new(); 4], "30,000 runs");
        let oldest = pages(&*store, with_prefix("run-1500")).await.concat();
        assert_eq!(
            oldest,
            [
                "run-15009",
                "run-15008",
                "run-15007",
                "run-15006",
                "run-15005",
                "run-15004",
                "run-15003",
                "run-15002",
                "run-15001",
                "run-15000",
                "run-1500"
            ]
        );
        let newest = pages(&*store, with_prefix("run-2999")).await.concat();
        assert_eq!(newest.len(), 11);
        assert_eq!(newest[0], "run-29999");
    });
}

async fn plan(sql: &Client, condition: &str) -> String {
    let statement = format!(
        "EXPLAIN SELECT stream FROM runs r WHERE listed AND {condition} ORDER BY stream DESC LIMIT 50"
    );
    let lines = sql.query(&statement, &[]).await.unwrap();
    let lines = lines.iter().map(|line| line.get::<_, String>(0));
    lines.collect::<Vec<_>>().join("\n")
}

// B884
#[test]
fn a_list_of_a_time_reads_only_the_runs_of_that_time() {
    in_parallel(async {
        let (store, sql) = with_runs().await;
        let query = ListQuery {
            created_from: Some(Timestamp::from_millis(11)),
            created_before: Some(Timestamp::from_millis(14)),
            limit: 10,
            ..ListQuery::default()
        };
        let found = pages(&*store, query).await;
        assert_eq!(found, [["run-13", "run-12", "run-11"]]);
        let old = plan(&sql, "created_at >= 11 AND created_at < 14").await;
        assert!(old.contains("runs_created"), "{old}");
    });
}
