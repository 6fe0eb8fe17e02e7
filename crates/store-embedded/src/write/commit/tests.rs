//! The rows that a commit writes.

use std::sync::Arc;

use everstep_model::{RunStatus, StreamNumber};
use everstep_store::{Claim, CreateCommit, Outcome, Row, RowKey, Store};
use everstep_store_testkit::sample::{
    NODE, NONCE, event, executor, inbox, run_creation, step, timer,
};
use everstep_store_testkit::{Fixture, TestClock, block_on};
use fjall::Keyspace;
use tempfile::TempDir;

use super::*;
use crate::EmbeddedStore;

fn store() -> (Fixture<EmbeddedStore>, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(TestClock::new());
    let store = EmbeddedStore::open(folder.path(), clock.clone()).unwrap();
    (Fixture { store, clock }, folder)
}

/// Returns all rows of all tables.
fn rows(f: &Fixture<EmbeddedStore>) -> Vec<Vec<(Vec<u8>, Vec<u8>)>> {
    let tables = &f.store.0.tables;
    let all = |table: &Keyspace| {
        let rows = table.iter().map(|row| row.into_inner().unwrap());
        rows.map(|(key, value)| (key.to_vec(), value.to_vec()))
            .collect()
    };
    [
        &tables.journal,
        &tables.heads,
        &tables.lookups,
        &tables.lists,
        &tables.timers,
        &tables.ready,
    ]
    .map(all)
    .to_vec()
}

fn started() -> CreateCommit {
    let mut commit = run_creation("a", "order", RunStatus::Running);
    commit.ready = true;
    commit.claim = Some(Claim {
        node: NODE,
        nonce: NONCE,
    });
    commit
}

#[test]
fn a_step_commit_writes_one_row() {
    let (f, _folder) = store();
    block_on(async {
        let Outcome::Committed { stream, taken, .. } = f.commit_one(started()).await else {
            panic!("not created");
        };
        let before = rows(&f);
        let step = executor(stream, taken.unwrap(), 1, 1, vec![step("s")]);
        f.accept(step).await;
        let after = rows(&f);
        assert_eq!(after[0].len(), before[0].len() + 1);
        assert_eq!(
            after[1..],
            before[1..],
            "the head and all other tables are untouched"
        );
    });
}

#[test]
fn a_second_event_to_a_ready_run_writes_one_row() {
    let (f, _folder) = store();
    block_on(async {
        let stream = f.create_with(started()).await;
        let before = rows(&f);
        let mut send = inbox(stream, vec![event("x")]);
        send.ready = Some(true);
        f.accept(send).await;
        assert_eq!(rows(&f)[1..], before[1..]);
    });
}

#[test]
fn a_commit_without_changes_writes_nothing() {
    let (f, _folder) = store();
    block_on(async {
        let stream = f.create_with(started()).await;
        let before = f.store.0.tables.db.seqno();
        f.accept(inbox(stream, vec![])).await;
        f.refuse(inbox(StreamNumber(99), vec![])).await;
        assert_eq!(f.store.0.tables.db.seqno(), before);
    });
}

#[test]
fn deleted_rows_and_cleared_marks_leave_no_rows() {
    let (f, _folder) = store();
    block_on(async {
        let mut commit = started();
        commit
            .rows
            .put
            .push(Row::Timer(timer(StreamNumber(0), 5, None)));
        let stream = f.create_with(commit).await;
        let mut end = inbox(stream, vec![]);
        end.ready = Some(false);
        end.status = Some(RunStatus::Completed);
        end.rows.delete.push(RowKey::Timer(timer(stream, 5, None)));
        f.accept(end).await;
        let counts: Vec<usize> = rows(&f).iter().map(Vec::len).collect();
        assert_eq!(counts, [1, 1, 1, 3, 0, 0], "frame, head, name, lists");
    });
}

#[test]
fn a_commit_that_panicked_poisons_the_store() {
    let (f, _folder) = store();
    let inner = &f.store.0;
    let panicked = std::thread::scope(|scope| {
        let holder = scope.spawn(|| {
            let _writer = inner.writer.lock().unwrap();
            panic!("simulated bug");
        });
        holder.join().is_err()
    });
    assert!(panicked);
    let failed = block_on(f.store.commit(&[started().into()]));
    assert!(matches!(failed, Err(StoreError::Poisoned { .. })));
}
