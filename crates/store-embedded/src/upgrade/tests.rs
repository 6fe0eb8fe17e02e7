//! Tests of upgrades from older formats.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use everstep_model::{RunStatus, StreamNumber, Timestamp};
use everstep_store::{Commit, ListQuery, Store};
use everstep_store_testkit::sample::run_creation;
use everstep_store_testkit::{Fixture, TestClock, block_on};

use super::*;
use crate::EmbeddedStore;

/// Enough for several pages, and for several batches of rows in format 1.
const RUNS: u64 = 3_000;

fn open(folder: &Path) -> Fixture<EmbeddedStore> {
    let clock = Arc::new(TestClock::new());
    let store = EmbeddedStore::open(folder, clock.clone()).unwrap();
    Fixture { store, clock }
}

/// Creates runs. Each has its own tag, every third one a shared tag; every fifth is ready, every
/// seventh is waiting.
async fn fill(f: &Fixture<EmbeddedStore>) {
    let creation = |number: u64| {
        let status = match number % 7 {
            0 => RunStatus::Waiting,
            _ => RunStatus::Running,
        };
        let mut commit = run_creation(&format!("run-{number}"), "order", status);
        commit.ready = number.is_multiple_of(5);
        if let Some(run) = commit.run.as_mut().map(Arc::make_mut) {
            run.tags.push(format!("own-{number}"));
            if number.is_multiple_of(3) {
                run.tags.push("red".to_owned());
            }
        }
        Commit::from(commit)
    };
    let batch: Vec<_> = (1..=RUNS).map(creation).collect();
    f.store.commit(&batch).await.unwrap();
}

/// Reads lists and ready marks.
async fn read(f: &Fixture<EmbeddedStore>) -> Vec<Vec<String>> {
    let by_status = ListQuery {
        statuses: vec![RunStatus::Waiting],
        limit: usize::MAX,
        ..ListQuery::default()
    };
    let by_tag = ListQuery {
        tag: Some("red".to_owned()),
        limit: usize::MAX,
        ..ListQuery::default()
    };
    let mut found = Vec::new();
    let by_own_tag = ListQuery {
        tag: Some("own-2700".to_owned()),
        ..by_tag.clone()
    };
    let all = ListQuery {
        tag: None,
        ..by_tag.clone()
    };
    let by_time = ListQuery {
        created_from: Some(Timestamp::default()),
        ..all.clone()
    };
    for query in [by_status, by_tag, by_own_tag, all, by_time] {
        let page = f.store.list(query).await.unwrap();
        found.push(page.rows.iter().map(|row| row.id.to_string()).collect());
    }
    let ready = f.store.ready(None, usize::MAX).await.unwrap();
    found.push(ready.iter().map(|run| run.stream.to_string()).collect());
    found
}

/// Writes the sets of format 1 for all streams from `from` on.
fn write_rows_of_format_1(f: &Fixture<EmbeddedStore>, from: u64) {
    let tables = &f.store.0.tables;
    let view = View::new(tables);
    for number in (from..=RUNS).map(StreamNumber) {
        let head = view.head_row(number).unwrap().unwrap();
        let run = head.run.as_ref().unwrap();
        let mut lists = vec![keys::status(&run.workflow, run.status)];
        lists.extend(run.tags.iter().map(|tag| keys::tag(tag)));
        for mut key in lists {
            key.extend(number.0.to_be_bytes());
            tables.lists.insert(key, []).unwrap();
        }
        if head.ready {
            tables.ready.insert(number.0.to_be_bytes(), []).unwrap();
        }
    }
}

fn assert_upgraded(mark: &str, prepare: impl FnOnce(&Fixture<EmbeddedStore>)) {
    let folder = tempfile::tempdir().unwrap();
    block_on(async {
        let f = open(folder.path());
        fill(&f).await;
        let before = read(&f).await;
        let counts: Vec<usize> = before.iter().map(Vec::len).collect();
        assert_eq!(counts, [428, 1_000, 1, 3_000, 3_000, 600]);
        prepare(&f);
        drop(f);
        let file = folder.path().join("FORMAT");
        fs::write(&file, mark).unwrap();
        assert_eq!(read(&open(folder.path())).await, before);
        let mark = fs::read_to_string(&file).unwrap();
        assert_eq!(mark, "everstep store, format 5\n");
    });
}

#[test]
fn a_store_in_format_1_is_upgraded() {
    assert_upgraded("everstep store, format 1\n", |f| {
        let tables = &f.store.0.tables;
        for table in [&tables.lists, &tables.ready] {
            clear(tables, table).unwrap();
        }
        write_rows_of_format_1(f, 1);
    });
}

#[test]
fn stores_in_formats_2_and_3_are_upgraded() {
    for format in [2, 3] {
        assert_upgraded(&format!("everstep store, format {format}\n"), |f| {
            let tables = &f.store.0.tables;
            for page in 0..=page::number_of(StreamNumber(RUNS)) {
                tables
                    .lists
                    .remove(keys::page(&keys::ALL_RUNS, page))
                    .unwrap();
            }
        });
    }
}

#[test]
fn a_store_in_format_4_is_upgraded() {
    assert_upgraded("everstep store, format 4\n", |f| {
        let tables = &f.store.0.tables;
        let lists = keys::created_in(0)..keys::all_hours_end().to_vec();
        for row in tables.lists.range(lists) {
            tables.lists.remove(row.key().unwrap()).unwrap();
        }
    });
}

#[test]
fn an_interrupted_upgrade_starts_again() {
    for format in [2, 3, 4] {
        let mark = format!("everstep store, format {format}, being upgraded\n");
        assert_upgraded(&mark, |f| write_rows_of_format_1(f, RUNS / 2));
    }
}
