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
        let before_all = ListQuery {
            created_before: Some(Timestamp::from_millis(1)),
            limit: 10,
            ..ListQuery::default()
        };
        let empty: Vec<Vec<String>> = vec![Vec::new(); RUNS.div_ceil(COMPARED)];
        assert_eq!(pages(&f, before_all).await, empty);
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
