//! Tests of the work that a page of the list causes.

use std::sync::Arc;

use everstep_model::Timestamp;
use everstep_store::{Commit, Store};
use everstep_store_testkit::sample::{creation, name, run_creation};
use everstep_store_testkit::{Fixture, TestClock, block_on};

use super::*;
use crate::EmbeddedStore;

const RUNS: usize = 2_500;

fn store(folder: &tempfile::TempDir) -> Fixture<EmbeddedStore> {
    let clock = Arc::new(TestClock::new());
    let store = EmbeddedStore::open(folder.path(), clock.clone()).unwrap();
    Fixture { store, clock }
}

async fn create(f: &Fixture<EmbeddedStore>, commits: impl Iterator<Item = Commit>) {
    f.store.commit(&commits.collect::<Vec<_>>()).await.unwrap();
}

async fn create_runs(f: &Fixture<EmbeddedStore>) {
    let run = |n| run_creation(&format!("run-{n}"), "order", RunStatus::Running).into();
    create(f, (0..RUNS).map(run)).await;
}

/// Returns the ids of all pages, page by page.
async fn pages(f: &Fixture<EmbeddedStore>, mut query: ListQuery) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    loop {
        let page = f.list(query.clone()).await;
        let ids = page.rows.iter().map(|row| row.id.to_string());
        pages.push(ids.collect());
        query.cursor = page.next;
        if query.cursor.is_none() {
            return pages;
        }
    }
}

// B680
#[test]
fn a_page_compares_a_bounded_number_of_runs_with_the_filters() {
    let folder = tempfile::tempdir().unwrap();
    let f = store(&folder);
    block_on(async {
        create_runs(&f).await;
        let absent = ListQuery {
            id_prefixes: vec!["absent".to_owned()],
            limit: 10,
            ..ListQuery::default()
        };
        let empty: Vec<Vec<String>> = vec![Vec::new(); RUNS.div_ceil(COMPARED)];
        assert_eq!(pages(&f, absent).await, empty);
        let oldest = ListQuery {
            id_prefixes: vec!["run-0".to_owned()],
            workflows: vec![name("order")],
            limit: 10,
            ..ListQuery::default()
        };
        let found = pages(&f, oldest).await.concat();
        assert_eq!(found, ["run-0"], "later pages have the rest");
    });
}

#[test]
fn a_list_does_not_walk_the_streams_of_users() {
    let folder = tempfile::tempdir().unwrap();
    let f = store(&folder);
    block_on(async {
        f.create_with(run_creation("run", "order", RunStatus::Running))
            .await;
        let streams = (0..RUNS).map(|n| creation(&format!("streams/{n}")).into());
        create(&f, streams).await;
        let query = ListQuery {
            limit: 10,
            ..ListQuery::default()
        };
        assert_eq!(pages(&f, query).await, [["run"]]);
    });
}

/// Creates a run in each of these hours, in this order.
async fn create_in_hours(f: &Fixture<EmbeddedStore>, hours: &[u64]) {
    let run = |hour: &u64| {
        let mut commit = run_creation(&format!("in-{hour}"), "order", RunStatus::Running);
        if let Some(run) = commit.run.as_mut().map(Arc::make_mut) {
            run.created_at = Timestamp::from_millis(hour * 3_600_000);
        }
        commit.into()
    };
    create(f, hours.iter().map(run)).await;
}

// B884
#[test]
fn a_list_of_a_time_reads_only_the_runs_of_its_hours() {
    let folder = tempfile::tempdir().unwrap();
    let f = store(&folder);
    block_on(async {
        create_in_hours(&f, &[600_001, 600_002, 600_003]).await;
        create_runs(&f).await;
        let list = async |from: Option<u64>, before: Option<u64>| {
            let time = |hour: u64| Timestamp::from_millis(hour * 3_600_000);
            let query = ListQuery {
                created_from: from.map(time),
                created_before: before.map(time),
                limit: 10,
                ..ListQuery::default()
            };
            pages(&f, query).await
        };
        let two = list(Some(600_002), Some(600_004)).await;
        assert_eq!(two, [["in-600003", "in-600002"]], "in one page");
        let from = list(Some(600_001), Some(600_002)).await;
        assert_eq!(from, [["in-600001"]]);
        let none = list(Some(700_000), None).await;
        assert_eq!(none, [[""; 0]]);
        assert_eq!(list(None, Some(0)).await, [[""; 0]]);
    });
}

#[test]
fn a_list_of_a_time_is_ordered_like_all_lists() {
    let folder = tempfile::tempdir().unwrap();
    let f = store(&folder);
    block_on(async {
        // The clocks of nodes differ, so a later stream may be older.
        create_in_hours(&f, &[7, 9, 8]).await;
        let query = ListQuery {
            created_from: Some(Timestamp::default()),
            limit: 2,
            ..ListQuery::default()
        };
        let found = pages(&f, query).await;
        assert_eq!(found, [vec!["in-8", "in-9"], vec!["in-7"]]);
    });
}
