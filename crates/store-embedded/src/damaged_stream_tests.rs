//! Damage to single rows affects only the streams that they belong to.

use std::sync::Arc;

use everstep_model::{RecordNumber, RunStatus, StreamNumber, Timestamp};
use everstep_store::{
    Guard, KeyPart, ListQuery, Outcome, ReadRequest, Refusal, Row, RowKey, RowRange, SharedKind,
    Store, StoreError, StreamRef,
};
use everstep_store_testkit::sample::{
    NODE, NONCE, closing, creation, event, executor, idempotency, inbox, loop_advanced, name,
    range, removal, rpc, run_creation, shared, step, timer,
};
use everstep_store_testkit::{Fixture, TestClock, batch, block_on};
use fjall::Keyspace;
use tempfile::TempDir;

use crate::EmbeddedStore;
use crate::encoding::keys;

/// A store with three ready runs, each with a timer, and with empty caches.
struct Three {
    f: Fixture<EmbeddedStore>,
    streams: [StreamNumber; 3],
    _folder: TempDir,
}

impl Three {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let open = || {
            let clock = Arc::new(TestClock::new());
            let store = EmbeddedStore::open(folder.path(), clock.clone()).unwrap();
            Fixture { store, clock }
        };
        let f = open();
        let mut streams = Vec::new();
        for (id, seconds) in [("a", 1), ("b", 2), ("c", 3)] {
            let mut commit = run_creation(id, "order", RunStatus::Queued);
            commit.ready = true;
            let row = timer(StreamNumber(0), seconds, Some("s:0"));
            commit.rows.put.push(Row::Timer(row));
            streams.push(f.create_with(commit).await);
        }
        drop(f);
        Self {
            f: open(),
            streams: streams.try_into().unwrap(),
            _folder: folder,
        }
    }

    fn damage(
        &self,
        table: impl Fn(&crate::storage::tables::Tables) -> &Keyspace,
        key: impl AsRef<[u8]>,
    ) {
        let table = table(&self.f.store.0.tables);
        table.insert(key.as_ref(), [1]).unwrap();
    }

    fn damage_head(&self, stream: StreamNumber) {
        self.damage(|tables| &tables.heads, keys::stream(stream));
    }

    fn damage_frame(&self, stream: StreamNumber, first: u64) {
        let key = keys::frame(stream, RecordNumber(first));
        self.damage(|tables| &tables.journal, key);
    }

    /// Returns the ids of all listed runs.
    async fn listed(&self, statuses: Vec<RunStatus>) -> Vec<String> {
        let query = ListQuery {
            statuses,
            limit: 10,
            ..ListQuery::default()
        };
        let page = self.f.list(query).await;
        page.rows.iter().map(|row| row.id.to_string()).collect()
    }
}

fn is_unreadable(outcome: &Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Refused(Refusal::Unreadable(StoreError::Corrupt { .. }))
    )
}

#[test]
fn a_damaged_stream_refuses_only_its_own_commits() {
    block_on(async {
        let t = Three::new().await;
        let [a, b, _] = t.streams;
        t.damage_head(a);
        let event_to = |stream| inbox(stream, vec![event("x")]);
        let outcomes =
            t.f.commit(vec![event_to(a), event_to(b), event_to(a)])
                .await;
        assert!(is_unreadable(&outcomes[0]), "{outcomes:?}");
        assert!(matches!(outcomes[1], Outcome::Committed { .. }));
        assert_eq!(outcomes[2], outcomes[0]);
        assert_eq!(t.f.numbers(b).await, [0, 1]);
    });
}

#[test]
fn commits_after_a_refused_one_to_the_same_stream_are_refused() {
    block_on(async {
        let t = Three::new().await;
        let [a, b, _] = t.streams;
        let fence = t.f.take(a, NODE, NONCE).await;
        t.damage_frame(a, 0);
        let batch = batch![
            executor(a, fence, 1, 0, vec![step("s")]),
            inbox(a, vec![event("x")]),
            inbox(b, vec![event("x")]),
        ];
        let outcomes = t.f.commit(batch).await;
        assert!(is_unreadable(&outcomes[0]), "{outcomes:?}");
        assert_eq!(outcomes[1], outcomes[0], "although its head can be read");
        assert!(matches!(outcomes[2], Outcome::Committed { .. }));
        assert_eq!(t.f.head(a).await.next, RecordNumber(1));
        t.f.accept(inbox(a, vec![event("x")])).await;
    });
}

#[test]
fn a_commit_that_fails_to_drop_records_changes_nothing() {
    block_on(async {
        let t = Three::new().await;
        let [a, b, _] = t.streams;
        for _ in 0..3 {
            t.f.accept(inbox(a, vec![event("x")])).await;
        }
        let fence = t.f.take(a, NODE, NONCE).await;
        t.damage_frame(a, 3);
        let head = t.f.head(a).await;
        let dropped = [range(1, 1), range(3, 3)];
        let mut advance = executor(a, fence, 1, 4, vec![loop_advanced(&dropped)]);
        advance.drop = dropped.to_vec();
        advance
            .rows
            .delete
            .push(RowKey::Timer(timer(a, 1, Some("s:0"))));
        advance.rows.put.push(Row::Rpc(rpc(a, "q")));
        let outcomes =
            t.f.commit(batch![advance, inbox(b, vec![event("x")])])
                .await;
        assert!(is_unreadable(&outcomes[0]), "{outcomes:?}");
        assert!(matches!(outcomes[1], Outcome::Committed { .. }));
        assert_eq!(t.f.head(a).await, head);
        let first_two = t.f.page(a, 0, 2).await.entries;
        let numbers: Vec<u64> = first_two.iter().map(|entry| entry.number.0).collect();
        assert_eq!(numbers, [0, 1], "neither is dropped");
        assert_eq!(t.f.timers(Timestamp::from_millis(u64::MAX)).await.len(), 3);
        assert_eq!(t.f.row(RowKey::Rpc(a, rpc(a, "q").id)).await, None);
    });
}

#[test]
fn a_damaged_row_refuses_the_creation_that_guards_it() {
    block_on(async {
        let t = Three::new().await;
        let key = RowKey::Idempotency(name("order"), "k".to_owned());
        t.damage(|tables| &tables.lookups, keys::lookup(&key).unwrap());
        let mut guarded = creation("d");
        guarded.guards.push(Guard::RowAbsent(key));
        guarded.rows.put.push(idempotency("order", "k", "d"));
        let outcomes = t.f.commit(vec![guarded, creation("e")]).await;
        assert!(is_unreadable(&outcomes[0]), "{outcomes:?}");
        let Outcome::Committed { stream, .. } = outcomes[1] else {
            panic!("{outcomes:?}");
        };
        assert!(stream > t.streams[2]);
        assert_eq!(t.f.head_of("d").await, None);
    });
}

#[test]
fn a_damaged_name_refuses_the_creation_of_its_stream() {
    block_on(async {
        let t = Three::new().await;
        t.damage(|tables| &tables.lookups, keys::name("d"));
        let outcomes = t.f.commit(vec![creation("d"), creation("e")]).await;
        assert!(is_unreadable(&outcomes[0]), "{outcomes:?}");
        assert!(matches!(outcomes[1], Outcome::Committed { .. }));
    });
}

#[test]
fn a_damaged_stream_is_left_out_of_ready_runs_and_lists() {
    block_on(async {
        let t = Three::new().await;
        let [a, b, c] = t.streams;
        t.damage_head(b);
        let ready = t.f.ready().await;
        let ready: Vec<_> = ready.iter().map(|run| run.stream).collect();
        assert_eq!(ready, [a, c]);
        assert_eq!(t.listed(vec![]).await, ["c", "a"]);
        assert_eq!(t.listed(vec![RunStatus::Queued]).await, ["c", "a"]);
        let head = t.f.store.head(StreamRef::Number(b)).await;
        assert!(head.is_err_and(|error| error.is_damage()));
        let request = ReadRequest {
            stream: b,
            from: RecordNumber(0),
            limit: 1,
            bytes: usize::MAX,
        };
        let page = t.f.store.read(request).await;
        assert!(page.is_err_and(|error| error.is_damage()));
    });
}

#[test]
fn a_damaged_timer_does_not_block_others() {
    block_on(async {
        let t = Three::new().await;
        let (mut key, _) = keys::timer(&timer(t.streams[0], 0, None));
        key.truncate(10);
        t.damage(|tables| &tables.timers, key);
        let timers = t.f.timers(Timestamp::from_millis(u64::MAX)).await;
        let streams: Vec<_> = timers.iter().map(|timer| timer.stream).collect();
        assert_eq!(streams, t.streams);
    });
}

#[test]
fn deleting_a_damaged_shared_row_by_value_is_not_refused() {
    block_on(async {
        let t = Three::new().await;
        let row = shared(SharedKind::Slot, &[KeyPart::from("s")], "v");
        let key = RowKey::Shared(row.key.clone());
        t.damage(|tables| &tables.lookups, keys::lookup(&key).unwrap());
        let mut commit = inbox(t.streams[0], vec![event("x")]);
        commit.rows.delete_exact.push(row);
        t.f.accept(commit).await;
        let found = t.f.store.row(key).await;
        assert!(found.is_err_and(|error| error.is_damage()), "it stays");
    });
}

#[test]
fn a_damaged_shared_row_is_left_out_of_ranges() {
    block_on(async {
        let t = Three::new().await;
        let row = |number: u64| shared(SharedKind::Slot, &[KeyPart::from(number)], "v");
        let mut commit = inbox(t.streams[0], vec![]);
        commit.rows.put = (0..4).map(|number| Row::Shared(row(number))).collect();
        t.f.accept(commit).await;
        for number in [0, 2] {
            let key = keys::lookup(&RowKey::Shared(row(number).key)).unwrap();
            t.damage(|tables| &tables.lookups, key);
        }
        let range = |limit, reverse| RowRange {
            kind: SharedKind::Slot,
            prefix: Vec::new(),
            after: None,
            limit,
            reverse,
        };
        assert_eq!(t.f.rows(range(1, false)).await, [row(1)]);
        assert_eq!(t.f.rows(range(2, false)).await, [row(1), row(3)]);
        assert_eq!(t.f.rows(range(9, true)).await, [row(3), row(1)]);
    });
}

#[test]
fn a_removal_with_damaged_data_changes_nothing() {
    block_on(async {
        let t = Three::new().await;
        let [a, b, c] = t.streams;
        t.f.accept(inbox(b, vec![event("x"); 300])).await;
        t.f.commit(vec![closing(a), closing(b)]).await;
        // A key that is too short, between the keys of frames.
        let key = keys::frame(b, RecordNumber(256));
        t.damage(|tables| &tables.journal, &key[..15]);
        let row = shared(SharedKind::Slot, &[KeyPart::from("s")], "v");
        let mut put = inbox(c, vec![]);
        put.rows.put.push(Row::Shared(row.clone()));
        t.f.accept(put).await;
        let mut gone = removal(&[a, b]);
        gone.rows.delete_exact.push(row.clone());
        gone.rows
            .delete
            .push(RowKey::Timer(timer(a, 1, Some("s:0"))));
        let outcomes = t.f.commit(batch![gone, inbox(c, vec![event("x")])]).await;
        assert!(is_unreadable(&outcomes[0]), "{outcomes:?}");
        assert!(matches!(outcomes[1], Outcome::Committed { .. }));
        assert_eq!(t.f.numbers(a).await, [0]);
        assert!(t.f.head_of("workflows/a").await.is_some());
        assert_eq!(t.listed(vec![]).await, ["c", "b", "a"]);
        assert_eq!(t.f.timers(Timestamp::from_millis(u64::MAX)).await.len(), 3);
        let key = RowKey::Shared(row.key.clone());
        assert_eq!(t.f.row(key).await, Some(Row::Shared(row)));
    });
}
