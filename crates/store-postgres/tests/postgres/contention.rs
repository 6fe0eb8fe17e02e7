//! Many nodes commit to the same streams, names, keys and timers at once, with consistent outcomes.

use std::collections::BTreeSet;
use std::sync::Arc;

use everstep_model::{Body, Nonce, Payload, StreamNumber, Timestamp};
use everstep_store::{
    Claim, Commit, CommitId, Fence, Guard, InboxLease, Outcome, Refusal, Row, RowKey, Store,
    StreamRef, TimerQuery,
};
use everstep_store_postgres::PostgresStore;
use everstep_store_testkit::sample::{
    NODE, OTHER, closing, creation, event, idempotency, inbox, removal, row_change, stream_row,
    timer,
};

use tokio_postgres::Client;

use crate::run::Run;
use crate::support::{Installation, Sender, create, in_parallel, number_of, records};

const NODES: usize = 6;
const ROUNDS: usize = 20;

/// Runs `work` on all nodes at once, each with its own store.
async fn on_all_nodes<T, F>(
    installation: &Installation,
    work: impl Fn(usize, Arc<PostgresStore>) -> F,
) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let mut tasks = Vec::new();
    for number in 0..NODES {
        let store = installation.store().await;
        tasks.push(tokio::spawn(work(number, store)));
    }
    let mut results = Vec::new();
    for task in tasks {
        results.push(task.await.unwrap());
    }
    results
}

fn event_text(record: &everstep_model::Record) -> Option<String> {
    match &record.body {
        Body::Event(event) => event.payload.decode().ok(),
        _ => None,
    }
}

/// Invariants 1, 4 and 6: acknowledged events are stored once, and those of a sender in order.
#[test]
fn events_of_many_nodes_are_stored_in_order() {
    in_parallel(async {
        let installation = Installation::new();
        let store = installation.store().await;
        let streams = create(&store, &["a", "b", "c", "d", "e"]).await;
        let all = streams.clone();
        let acknowledged = on_all_nodes(&installation, move |node, store| {
            let streams = all.clone();
            async move {
                let mut sender = Sender::new(store);
                let mut placed = Vec::new();
                for round in 0..ROUNDS {
                    let text = |n: usize| format!("{node}-{round}-{n}");
                    // Two to each stream, in one batch.
                    let twice = streams.iter().chain(&streams).enumerate();
                    let batch: Vec<_> = twice
                        .map(|(n, stream)| inbox(*stream, vec![event(&text(n))]))
                        .collect();
                    for (n, outcome) in sender.send(batch).await.into_iter().enumerate() {
                        let Outcome::Committed { stream, first, .. } = outcome else {
                            panic!("{outcome:?}");
                        };
                        placed.push((stream, first, text(n)));
                    }
                }
                placed
            }
        })
        .await;
        let total: usize = acknowledged.iter().map(Vec::len).sum();
        let mut found = 0;
        for stream in &streams {
            let records = records(&store, *stream).await;
            found += records.len() - 1;
            for of_node in &acknowledged {
                let mine = of_node.iter().filter(|(of, _, _)| of == stream);
                let mut last = None;
                for (_, first, text) in mine {
                    let there = &records[usize::try_from(first.0).unwrap()];
                    assert_eq!(event_text(there).as_ref(), Some(text));
                    assert!(last < Some(first.0), "in the order they were sent");
                    last = Some(first.0);
                }
            }
            let head = store
                .head(StreamRef::Number(*stream))
                .await
                .unwrap()
                .unwrap();
            assert_eq!(head.frame.inbox_count, head.next.0);
        }
        assert_eq!(found, total, "no event is stored twice");
    });
}

/// Invariant 3: no two claims get the same epoch, and of two holders only the later one writes.
#[test]
fn an_epoch_is_granted_once() {
    in_parallel(async {
        let installation = Installation::new();
        let store = installation.store().await;
        let stream = create(&store, &["run"]).await[0];
        // No node has a lease, so every claim finds the run free.
        let granted = on_all_nodes(&installation, move |node, store| async move {
            let mut sender = Sender::new(store);
            let mut granted: Vec<Fence> = Vec::new();
            for round in 0..ROUNDS {
                let mut claim = inbox(stream, vec![]);
                claim.lease = InboxLease::Claim(Claim {
                    node: sender.node(),
                    nonce: Nonce((node * ROUNDS + round) as u64),
                });
                let outcome = sender.send_one(claim).await;
                let Outcome::Committed { taken, .. } = outcome else {
                    panic!("{outcome:?}");
                };
                granted.extend(taken);
            }
            granted
        })
        .await;
        let granted: Vec<u64> = granted.iter().flatten().map(|f| f.epoch.0).collect();
        let distinct: BTreeSet<u64> = granted.iter().copied().collect();
        assert_eq!(granted.len(), NODES * ROUNDS);
        assert_eq!(distinct.len(), granted.len());
        let head = store
            .head(StreamRef::Number(stream))
            .await
            .unwrap()
            .unwrap();
        assert_eq!(Some(&head.epoch.0), distinct.last());
    });
}

/// Invariant 13: concurrent creations with one name create one stream.
#[test]
fn one_of_concurrent_creations_with_a_name_succeeds() {
    in_parallel(async {
        let installation = Installation::new();
        let store = installation.store().await;
        let outcomes = on_all_nodes(&installation, |node, store| async move {
            let mut sender = Sender::new(store);
            let mut outcomes = Vec::new();
            for round in 0..ROUNDS {
                // Half of the nodes use another order; names are inserted in the same order anyway.
                let mut names = vec![
                    format!("x{round}"),
                    format!("y{round}"),
                    format!("z{round}"),
                ];
                if node % 2 == 0 {
                    names.reverse();
                }
                let batch = names.iter().map(|name| creation(name)).collect::<Vec<_>>();
                let sent = sender.send(batch).await;
                outcomes.extend(names.into_iter().zip(sent));
            }
            outcomes
        })
        .await;
        let mut created = 0;
        for (name, outcome) in outcomes.into_iter().flatten() {
            let number = number_of(&store, &name).await.unwrap();
            match outcome {
                Outcome::Committed { stream, .. } => {
                    assert_eq!(stream, number);
                    created += 1;
                }
                Outcome::Refused(Refusal::Exists(stream)) => assert_eq!(stream, number),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(created, 3 * ROUNDS);
    });
}

/// The same for idempotency keys, which belong to no stream.
#[test]
fn one_of_concurrent_creations_with_a_key_succeeds() {
    in_parallel(async {
        let installation = Installation::new();
        let store = installation.store().await;
        let outcomes = on_all_nodes(&installation, |node, store| async move {
            let mut sender = Sender::new(store);
            let mut outcomes = Vec::new();
            for round in 0..ROUNDS {
                let mut keys = vec![format!("a{round}"), format!("b{round}")];
                if node % 2 == 0 {
                    keys.reverse();
                }
                let batch = keys.iter().map(|key| {
                    let name = format!("{node}-{key}");
                    let row = idempotency("order", key, &name);
                    let mut commit = creation(&name);
                    commit.guards.push(Guard::RowAbsent(row.key()));
                    commit.rows.put.push(row);
                    commit
                });
                let sent = sender.send(batch.collect::<Vec<_>>()).await;
                outcomes.extend(keys.into_iter().zip(sent));
            }
            outcomes
        })
        .await;
        let mut created = 0;
        for (key, outcome) in outcomes.into_iter().flatten() {
            let key = RowKey::Idempotency(everstep_store_testkit::sample::name("order"), key);
            let used = store.row(key).await.unwrap().unwrap();
            match outcome {
                Outcome::Committed { .. } => created += 1,
                Outcome::Refused(Refusal::RowPresent(row)) => assert_eq!(*row, used),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(created, 2 * ROUNDS);
    });
}

/// No change is lost of a row that commits of other streams change, as forks do with their source.
#[test]
fn a_shared_row_loses_no_change() {
    in_parallel(async {
        let installation = Installation::new();
        let store = installation.store().await;
        let source = create(&store, &["streams/source"]).await[0];
        let mut put = inbox(source, vec![]);
        put.rows.put.push(Row::Stream(Box::new(stream_row(source))));
        store.commit(&[put.into()]).await.unwrap();
        let begun = stream_row(source).forks;
        on_all_nodes(&installation, move |node, store| async move {
            let mut sender = Sender::new(store.clone());
            for round in 0..ROUNDS {
                loop {
                    let found = store.row(RowKey::Stream(source)).await.unwrap();
                    let Some(Row::Stream(before)) = found else {
                        panic!("{found:?}");
                    };
                    let mut after = before.clone();
                    after.forks += 1;
                    let mut fork = creation(&format!("streams/{node}-{round}"));
                    fork.guards.push(Guard::RowIs(Row::Stream(before)));
                    fork.rows.put.push(Row::Stream(after));
                    match sender.send_one(fork).await {
                        Outcome::Committed { .. } => break,
                        Outcome::Refused(Refusal::RowChanged) => {}
                        other => panic!("{other:?}"),
                    }
                }
            }
        })
        .await;
        let Some(Row::Stream(row)) = store.row(RowKey::Stream(source)).await.unwrap() else {
            panic!("the row is there");
        };
        assert_eq!(row.forks, begun + (NODES * ROUNDS) as u64);
    });
}

/// Commits of one batch under ids of two nodes, which no engine sends, are recognised for both.
#[test]
fn a_batch_of_two_nodes_is_answered_for_both() {
    in_parallel(async {
        let installation = Installation::new();
        let store = installation.store().await;
        let stream = create(&store, &["a"]).await[0];
        let by = |node, number| {
            let mut commit = inbox(stream, vec![event("x")]);
            commit.id = Some(CommitId { node, number });
            Commit::from(commit)
        };
        let batch = [by(NODE, 1), by(OTHER, 1), by(NODE, 2)];
        let first = store.commit(&batch).await.unwrap();
        assert_eq!(records(&store, stream).await.len(), 4);
        let again = store.commit(&batch[..2]).await.unwrap();
        let overtaken = Outcome::Refused(Refusal::OutOfOrder);
        assert_eq!(again, [overtaken, first[1].clone()]);
        assert_eq!(records(&store, stream).await.len(), 4);
    });
}

/// Invariant 20: nodes that poll the same timers fire each one once.
#[test]
fn a_timer_fires_once() {
    in_parallel(async {
        let installation = Installation::new();
        let store = installation.store().await;
        let stream = create(&store, &["sleepers"]).await[0];
        let mut arm = inbox(stream, vec![]);
        let timers = (0..200).map(|n| timer(stream, n, Some("s:0")));
        arm.rows.put = timers.map(Row::Timer).collect();
        store.commit(&[arm.into()]).await.unwrap();
        let fired = on_all_nodes(&installation, |_, store| async move {
            let mut sender = Sender::new(store.clone());
            let mut fired = 0;
            loop {
                let due = store.timers(TimerQuery {
                    until: Timestamp::from_millis(u64::MAX),
                    after: None,
                    limit: 10,
                });
                let due = due.await.unwrap();
                if due.is_empty() {
                    return fired;
                }
                let firings = due.into_iter().map(|timer| {
                    let key = RowKey::Timer(timer.clone());
                    let mut firing = inbox(timer.stream, vec![event("fired")]);
                    firing.guards.push(Guard::RowPresent(key.clone()));
                    firing.rows.delete.push(key);
                    firing
                });
                for outcome in sender.send(firings.collect::<Vec<_>>()).await {
                    match outcome {
                        Outcome::Committed { .. } => fired += 1,
                        Outcome::Refused(Refusal::RowAbsent) => {}
                        other => panic!("{other:?}"),
                    }
                }
            }
        })
        .await;
        assert_eq!(fired.iter().sum::<usize>(), 200);
        assert_eq!(records(&store, stream).await.len(), 201);
    });
}

/// Removes a stream that has a timer. Timers are not removed with their stream.
async fn timer_of_a_removed_stream(store: &PostgresStore) -> (StreamNumber, RowKey) {
    let stream = create(store, &["a"]).await[0];
    let due = Row::Timer(timer(stream, 5, None));
    let key = due.key();
    let mut arm = closing(stream);
    arm.rows.put.push(due);
    store.commit(&[arm.into()]).await.unwrap();
    store.commit(&[removal(&[stream]).into()]).await.unwrap();
    (stream, key)
}

/// Returns a connection whose open transaction has deleted all timers.
async fn deleting_all_timers(installation: &Installation) -> Client {
    let sql = installation.sql().await;
    let delete = "BEGIN; DELETE FROM rows WHERE kind = 1";
    sql.batch_execute(delete).await.unwrap();
    sql
}

/// Waits until a call of a store waits for a lock.
async fn until_a_call_waits(sql: &Client, installation: &Installation) {
    let waiting =
        "SELECT FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'";
    let name = installation.namespace();
    while sql.query(waiting, &[&name]).await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
}

/// A guard on a row of a removed stream, which no head protects, waits for a concurrent deletion.
#[test]
fn a_guard_on_a_row_of_a_removed_stream_sees_a_concurrent_deletion() {
    in_parallel(async {
        let installation = Installation::new();
        let store = installation.store().await;
        let (stream, key) = timer_of_a_removed_stream(&store).await;
        let sql = deleting_all_timers(&installation).await;
        let mut clear = row_change(stream);
        clear.guards.push(Guard::RowPresent(key.clone()));
        clear.rows.delete.push(key);
        let commit = tokio::spawn(async move { store.commit(&[clear.into()]).await });
        until_a_call_waits(&sql, &installation).await;
        sql.batch_execute("COMMIT").await.unwrap();
        let outcomes = commit.await.unwrap().unwrap();
        assert_eq!(outcomes, [Outcome::Refused(Refusal::RowAbsent)]);
    });
}

/// A call that waits for a row of a removed stream has not inserted a name yet: every call takes
/// rows before names, so no two wait for each other.
#[test]
fn rows_of_removed_streams_are_locked_before_names() {
    in_parallel(async {
        let installation = Installation::new();
        let store = installation.store().await;
        let (stream, key) = timer_of_a_removed_stream(&store).await;
        let sql = deleting_all_timers(&installation).await;
        let mut clear = row_change(stream);
        clear.rows.delete.push(key);
        let batch = [Run::creation("new"), clear.into()];
        let commit = tokio::spawn(async move { store.commit(&batch).await });
        until_a_call_waits(&sql, &installation).await;
        let inserting = "SELECT FROM pg_locks WHERE relation = 'streams'::regclass AND mode = 'RowExclusiveLock'";
        let inserting = sql.query(inserting, &[]).await.unwrap();
        assert!(inserting.is_empty(), "it has inserted a name");
        sql.batch_execute("COMMIT").await.unwrap();
        for outcome in commit.await.unwrap().unwrap() {
            assert!(matches!(outcome, Outcome::Committed { .. }), "{outcome:?}");
        }
    });
}

/// A put to a removed stream is refused, so it does not wait for the rows of the stream.
#[test]
fn a_refused_put_to_a_removed_stream_does_not_wait() {
    in_parallel(async {
        let installation = Installation::new();
        let store = installation.store().await;
        let (stream, key) = timer_of_a_removed_stream(&store).await;
        let _open_transaction = deleting_all_timers(&installation).await;
        let mut put = row_change(stream);
        put.guards.push(Guard::RowPresent(key));
        put.rows.put.push(Row::Timer(timer(stream, 5, None)));
        let outcomes = store.commit(&[put.into()]).await.unwrap();
        assert_eq!(outcomes, [Outcome::Refused(Refusal::NoStream)]);
    });
}

/// A stream that another transaction keeps locked delays no commit to other streams. Its own commit
/// applies as soon as the lock is released.
#[test]
fn a_locked_stream_does_not_delay_others() {
    in_parallel(async {
        let installation = Installation::new();
        let store = installation.store().await;
        let streams = create(&store, &["held", "free"]).await;
        let sql = installation.sql().await;
        let lock = "BEGIN; SELECT FROM streams WHERE name = 'held' FOR UPDATE";
        sql.batch_execute(lock).await.unwrap();
        let writer = store.clone();
        let both = streams.clone();
        let commit = tokio::spawn(async move {
            let batch: Vec<Commit> = [both[0], both[1], both[0]]
                .map(|stream| inbox(stream, vec![event("x")]).into())
                .into();
            writer.commit(&batch).await.unwrap()
        });
        let end = async |stream: StreamNumber| {
            let head = store.head(StreamRef::Number(stream)).await.unwrap();
            head.unwrap().next.0
        };
        while end(streams[1]).await == 1 {
            tokio::task::yield_now().await;
        }
        assert_eq!(end(streams[0]).await, 1, "it is still held");
        sql.batch_execute("COMMIT").await.unwrap();
        let outcomes = commit.await.unwrap();
        let firsts: Vec<u64> = outcomes
            .iter()
            .map(|outcome| match outcome {
                Outcome::Committed { first, .. } => first.0,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(firsts, [1, 1, 2], "in the order of the batch");
    });
}

/// Payloads and names can contain any text.
#[test]
fn every_character_is_preserved() {
    in_parallel(async {
        let installation = Installation::new();
        let store = installation.store().await;
        let name = "streams/\u{0}\u{1F980}'\"\\";
        let mut commit = creation(name);
        let mut run = everstep_store_testkit::sample::run(
            "a",
            "o'rder \"\\",
            everstep_model::RunStatus::Queued,
        );
        run.tags = vec!["\u{0}".to_owned(), "a,b\"\\{}".to_owned(), String::new()];
        commit.run = Some(run.clone().into());
        let stream = match store.commit(&[commit.into()]).await.unwrap().remove(0) {
            Outcome::Committed { stream, .. } => stream,
            other => panic!("{other:?}"),
        };
        let head = store
            .head(StreamRef::Number(stream))
            .await
            .unwrap()
            .unwrap();
        assert_eq!(
            (head.name.as_str(), head.run.as_deref()),
            (name, Some(&run))
        );
        let payload = Payload::from_value("\u{0}").unwrap();
        let mut nul = event("x");
        if let Body::Event(event) = &mut nul.body {
            event.payload = payload;
        }
        store
            .commit(&[inbox(stream, vec![nul.clone()]).into()])
            .await
            .unwrap();
        assert_eq!(records(&store, stream).await[1], nul);
    });
}
