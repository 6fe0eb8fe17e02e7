//! Tests of sets of streams.

use std::sync::Arc;

use everstep_model::RunStatus;
use everstep_store::{Commit, ListQuery, Store};
use everstep_store_testkit::sample::{inbox, run_creation};
use everstep_store_testkit::{Fixture, TestClock, block_on};

use super::*;
use crate::EmbeddedStore;

fn creation(id: &str) -> Commit {
    let mut commit = run_creation(id, "order", RunStatus::Running);
    commit.ready = true;
    commit.into()
}

fn end(stream: StreamNumber) -> Commit {
    let mut commit = inbox(stream, vec![]);
    commit.ready = Some(false);
    commit.status = Some(RunStatus::Completed);
    commit.into()
}

async fn ids(f: &Fixture<EmbeddedStore>, status: RunStatus) -> Vec<String> {
    let query = ListQuery {
        statuses: vec![status],
        limit: 10,
        ..ListQuery::default()
    };
    let page = f.store.list(query).await.unwrap();
    page.rows.iter().map(|row| row.id.to_string()).collect()
}

#[test]
fn a_damaged_page_is_rebuilt_from_the_heads() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let clock = Arc::new(TestClock::new());
        let store = EmbeddedStore::open(folder.path(), clock.clone()).unwrap();
        Fixture { store, clock }
    };
    block_on(async {
        let f = open();
        let first = f.create_with(creation("a")).await;
        f.create_with(creation("b")).await;
        f.create_with(creation("c")).await;
        let tables = &f.store.0.tables;
        for table in [&tables.lists, &tables.ready] {
            for row in table.iter() {
                table.insert(row.key().unwrap(), [0xff; 3]).unwrap();
            }
        }
        drop(f);
        // Reopened, so that no page is cached.
        let f = open();
        assert_eq!(f.store.ready(None, 10).await.unwrap().len(), 3);
        assert_eq!(ids(&f, RunStatus::Running).await, ["c", "b", "a"]);
        f.accept(end(first)).await;
        // The page of the list of all runs changes only when a run is created or deleted.
        f.create_with(creation("d")).await;
        drop(f);
        let f = open();
        assert_eq!(f.store.ready(None, 10).await.unwrap().len(), 3);
        assert_eq!(ids(&f, RunStatus::Running).await, ["d", "c", "b"]);
        assert_eq!(ids(&f, RunStatus::Completed).await, ["a"]);
        let decoded = |row: fjall::Guard| Page::decode(&row.value().unwrap());
        assert!(
            f.store
                .0
                .tables
                .lists
                .iter()
                .all(|row| decoded(row).is_ok())
        );
    });
}

#[test]
fn runs_that_begin_and_end_together_share_rows() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(TestClock::new());
    let store = EmbeddedStore::open(folder.path(), clock.clone()).unwrap();
    let f = Fixture { store, clock };
    block_on(async {
        let names: Vec<String> = (0..100).map(|run| format!("run-{run}")).collect();
        let created = names.iter().map(|id| creation(id)).collect::<Vec<_>>();
        f.store.commit(&created).await.unwrap();
        let count = |table: &Keyspace| table.iter().count();
        let tables = &f.store.0.tables;
        assert_eq!((count(&tables.lists), count(&tables.ready)), (3, 1));
        let numbers = (1..).map(StreamNumber);
        let ended = numbers.zip(&names).map(|(stream, _)| end(stream));
        f.store.commit(&ended.collect::<Vec<_>>()).await.unwrap();
        assert_eq!((count(&tables.lists), count(&tables.ready)), (3, 0));
    });
}
