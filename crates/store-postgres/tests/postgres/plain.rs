//! Plain commits have the same outcomes as commits that are judged one by one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use everstep_model::{Nonce, Record, RunStatus};
use everstep_store::{Commit, CommitId, Fence, Outcome, Refusal, RemoveCommit, Store, StreamRef};
use everstep_store_postgres::PostgresStore;
use everstep_store_testkit::START;
use everstep_store_testkit::sample::{event, inbox, step};
use tokio_postgres::Client;

use crate::run::Run;
use crate::support::{Installation, Sender, create, in_parallel, number_of, records};

/// A store, a sender, and runs that it has begun.
async fn begun(runs: usize) -> (Installation, Arc<PostgresStore>, Sender, Vec<Run>) {
    let installation = Installation::new();
    let store = installation.store().await;
    let mut sender = Sender::new(store.clone());
    let mut begun = Vec::new();
    for n in 0..runs {
        begun.push(Run::begin(&mut sender, &format!("run-{n}")).await);
    }
    (installation, store, sender, begun)
}

fn removal(run: &Run) -> Commit {
    RemoveCommit::new(vec![run.stream], START).into()
}

fn is_committed(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Committed { .. })
}

#[test]
fn each_step_of_a_batch_has_its_own_outcome() {
    in_parallel(async {
        let (_, store, mut sender, mut runs) = begun(4).await;
        sender
            .send_one(inbox(runs[1].stream, vec![event("news")]))
            .await;
        let mut batch: Vec<Commit> = runs.iter_mut().map(|run| run.append(step("s"))).collect();
        let fenced = Fence {
            nonce: Nonce(8),
            ..runs[2].fence
        };
        runs[2].fence = fenced;
        runs[2].seq = 0;
        runs[2].written.pop();
        batch[2] = runs[2].append(step("of another"));
        runs[2].written.pop();
        batch.push(Run::creation("run-3"));
        batch.push(Run::creation("run-4"));
        let outcomes = sender.send(batch).await;
        assert!(is_committed(&outcomes[0]) && is_committed(&outcomes[3]));
        let Outcome::Committed { before, .. } = &outcomes[1] else {
            panic!("{outcomes:?}");
        };
        assert_eq!(before.len(), 1, "the record that it has not seen");
        assert_eq!(outcomes[2], Outcome::Refused(Refusal::Fenced));
        let exists = Refusal::Exists(runs[3].stream);
        assert_eq!(outcomes[4], Outcome::Refused(exists));
        assert!(is_committed(&outcomes[5]));
        runs[1].written.insert(1, event("news"));
        for run in &runs {
            assert_eq!(records(&store, run.stream).await, run.written);
        }
    });
}

#[test]
fn an_end_closes_the_run_unless_it_has_not_seen_all_events() {
    in_parallel(async {
        let (_, store, mut sender, mut runs) = begun(2).await;
        sender
            .send_one(inbox(runs[0].stream, vec![event("news")]))
            .await;
        let ends: Vec<Commit> = runs.iter_mut().map(|run| run.end(step("last"))).collect();
        let outcomes = sender.send(ends).await;
        let Outcome::Refused(Refusal::InboxGrew { missed }) = &outcomes[0] else {
            panic!("{outcomes:?}");
        };
        assert_eq!(missed.len(), 1);
        assert!(is_committed(&outcomes[1]));
        let head = |run: &Run| store.head(StreamRef::Number(run.stream));
        let (open, closed) = (head(&runs[0]).await.unwrap(), head(&runs[1]).await.unwrap());
        let (open, closed) = (open.unwrap(), closed.unwrap());
        assert!(!open.closed && open.owner.is_some() && open.ready);
        assert!(closed.closed && closed.owner.is_none() && !closed.ready);
        assert_eq!(open.run.unwrap().status, RunStatus::Running);
        assert_eq!(closed.run.unwrap().status, RunStatus::Completed);
    });
}

#[test]
fn repeated_steps_ends_and_creations_have_their_first_outcome() {
    in_parallel(async {
        let (_, store, mut sender, mut runs) = begun(3).await;
        let mut batch = vec![
            runs[0].append(step("s")),
            runs[1].end(step("last")),
            Run::creation("new"),
            // A commit that is judged.
            inbox(runs[2].stream, vec![event("news")]).into(),
        ];
        let outcomes = sender.send(batch.clone()).await;
        assert!(outcomes.iter().all(is_committed), "{outcomes:?}");
        let last = sender.last_id();
        for (commit, number) in batch.iter_mut().zip(last.number - 3..) {
            commit.set_id(CommitId { number, ..last });
        }
        assert_eq!(store.commit(&batch).await.unwrap(), outcomes);
        // Some of them, with a new commit.
        let mut more = runs[0].append(step("next"));
        more.set_id(CommitId {
            number: last.number + 1,
            ..last
        });
        let mixed = [batch[2].clone(), more];
        let again = store.commit(&mixed).await.unwrap();
        assert_eq!(again[0], outcomes[2]);
        assert!(is_committed(&again[1]));
        for run in &runs[..2] {
            assert_eq!(records(&store, run.stream).await, run.written);
        }
    });
}

// B821
/// A step that is sent alone is a call of its own kind.
#[test]
fn a_step_that_is_sent_alone_has_the_outcome_that_it_has_in_a_batch() {
    in_parallel(async {
        let (_, store, mut sender, mut runs) = begun(2).await;
        for round in 0..20 {
            let alone = runs[0].append(step(&format!("step-{round}")));
            assert!(is_committed(&sender.send_one(alone.clone()).await));
            let mut again = alone;
            again.set_id(sender.last_id());
            let outcomes = store.commit(&[again]).await.unwrap();
            assert!(is_committed(&outcomes[0]), "{outcomes:?}");
        }
        let news = inbox(runs[0].stream, vec![event("news")]);
        sender.send_one(news).await;
        let unaware = runs[0].append(step("unaware"));
        let outcome = sender.send_one(unaware.clone()).await;
        let Outcome::Committed { before, .. } = &outcome else {
            panic!("{outcome:?}");
        };
        assert_eq!(before.len(), 1, "the record that it has not seen");
        let seen = runs[0].written.len() - 1;
        runs[0].written.insert(seen, event("news"));
        let ahead = {
            runs[0].seq += 1;
            let ahead = runs[0].append(step("ahead"));
            runs[0].written.pop();
            ahead
        };
        let refused = Outcome::Refused(Refusal::OutOfOrder);
        assert_eq!(sender.send_one(ahead).await, refused);
        runs[1].fence.nonce = Nonce(8);
        let fenced = runs[1].append(step("of another"));
        runs[1].written.pop();
        let refused = Outcome::Refused(Refusal::Fenced);
        assert_eq!(sender.send_one(fenced.clone()).await, refused);
        let mut again = fenced;
        again.set_id(sender.last_id());
        assert_eq!(store.commit(&[again]).await.unwrap(), [refused]);
        for run in &runs {
            assert_eq!(records(&store, run.stream).await, run.written);
        }
    });
}

/// A repeated commit stays refused even if it could be accepted now.
#[test]
fn a_refused_creation_stays_refused_when_its_name_is_free() {
    in_parallel(async {
        let (_, store, mut sender, mut runs) = begun(1).await;
        let end = runs[0].end(step("last"));
        sender.send_one(end).await;
        let mut creation = Run::creation("run-0");
        let refused = sender.send_one(creation.clone()).await;
        assert_eq!(refused, Outcome::Refused(Refusal::Exists(runs[0].stream)));
        creation.set_id(sender.last_id());
        store.commit(&[removal(&runs[0])]).await.unwrap();
        assert_eq!(store.commit(&[creation]).await.unwrap(), [refused]);
        assert_eq!(number_of(&store, "run-0").await, None);
    });
}

/// A removal frees its name for later commits of the same batch.
#[test]
fn a_creation_can_use_the_name_of_an_earlier_removal() {
    in_parallel(async {
        let (_, store, mut sender, mut runs) = begun(1).await;
        let end = runs[0].end(step("last"));
        sender.send_one(end).await;
        let outcomes = sender
            .send(vec![removal(&runs[0]), Run::creation("run-0")])
            .await;
        assert!(outcomes.iter().all(is_committed), "{outcomes:?}");
        let number = number_of(&store, "run-0").await;
        assert_ne!(number, Some(runs[0].stream));
        assert!(number.is_some());
    });
}

/// A head that stays locked does not delay the steps of other runs.
#[test]
fn steps_of_other_runs_do_not_wait_for_a_locked_head() {
    in_parallel(async {
        let (installation, store, mut sender, mut runs) = begun(2).await;
        let sql = installation.sql().await;
        let hold = "BEGIN; SELECT FROM streams WHERE number = (SELECT min(number) FROM streams) FOR UPDATE";
        sql.batch_execute(hold).await.unwrap();
        let batch: Vec<Commit> = runs.iter_mut().map(|run| run.append(step("s"))).collect();
        let sending = tokio::spawn(async move { sender.send(batch).await });
        while records(&store, runs[1].stream).await != runs[1].written {
            tokio::task::yield_now().await;
        }
        assert!(!sending.is_finished(), "the step of the locked run waits");
        sql.batch_execute("COMMIT").await.unwrap();
        assert!(sending.await.unwrap().iter().all(is_committed));
        assert_eq!(records(&store, runs[0].stream).await, runs[0].written);
    });
}

/// A plan that was made for a table of three rows reads no more rows when the table has a thousand.
#[test]
fn a_step_reads_only_its_own_head() {
    in_parallel(async {
        let (installation, store, _, mut runs) = begun(3).await;
        let mut sql = installation.sql().await;
        sql.batch_execute("ANALYZE").await.unwrap();
        let calls = [APPEND_BATCH, APPEND_STEP];
        let mut few = Vec::new();
        for call in calls {
            few.push(heads_read(&mut sql, call, &mut runs[0]).await);
        }
        let names: Vec<String> = (0..1_000).map(|n| format!("more-{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        create(&store, &names).await;
        for (call, few) in calls.into_iter().zip(few) {
            let many = heads_read(&mut sql, call, &mut runs[0]).await;
            assert!(few < 5 && many < 5, "{few} among three, {many} among many");
        }
    });
}

const APPEND_BATCH: &str = "SELECT append_batch_4(NULL, NULL, 0, 0, '{1}', ARRAY[$1::int8], ARRAY[$2::int8], '{7}', \
    ARRAY[$3::int8], ARRAY[$4::int8], '{1}', '{x}')";
const APPEND_STEP: &str = "SELECT append_step_4(NULL, NULL, 1, $1, $2, 7, $3, $4, 1, 'x')";

/// Executes a step on this connection, and returns the number of heads that it reads.
async fn heads_read(sql: &mut Client, append: &str, run: &mut Run) -> i64 {
    let call = sql.transaction().await.unwrap();
    let seen = i64::try_from(run.written.len()).unwrap();
    run.append(step("s"));
    let (seq, epoch) = (run.seq.cast_signed(), run.fence.epoch.0.cast_signed());
    let arguments: [&(dyn tokio_postgres::types::ToSql + Sync); 4] =
        [&run.number(), &epoch, &seq, &seen];
    let line = call.query_one(append, &arguments).await.unwrap();
    let left: Option<Vec<i64>> = line.get(0);
    assert_eq!(left, None, "it took effect");
    let looked_at = "SELECT idx_tup_fetch + seq_tup_read FROM pg_stat_xact_user_tables WHERE relid = 'streams'::regclass";
    let line = call.query_one(looked_at, &[]).await.unwrap();
    let rows = line.get(0);
    call.commit().await.unwrap();
    rows
}

/// Invariants 4 and 6: plain commits on killed connections took effect or not; sent again, they
/// take effect once.
#[test]
fn plain_commits_on_killed_connections_take_effect_once() {
    in_parallel(async {
        let (installation, store, mut sender, mut runs) = begun(3).await;
        let over = Arc::new(AtomicBool::new(false));
        let (sent, killed) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let killing = {
            let (over, sent) = (over.clone(), sent.clone());
            let (killed, sql) = (killed.clone(), installation.sql().await);
            let namespace = installation.namespace().to_owned();
            let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                WHERE application_name = $1 AND state = 'active'";
            tokio::spawn(async move {
                let mut next = 0;
                while !over.load(Ordering::Relaxed) {
                    // Not more often than the work progresses.
                    let now = sent.load(Ordering::Relaxed);
                    if now >= next {
                        let lines = sql.query(kill, &[&namespace]).await.unwrap();
                        killed.fetch_add(lines.len() as u64, Ordering::Relaxed);
                        next = if lines.is_empty() { now } else { now + 5 };
                    }
                    tokio::task::yield_now().await;
                }
            })
        };
        let mut ended: Vec<Run> = Vec::new();
        for round in 0..200 {
            let mut batch: Vec<Commit> = runs[1..]
                .iter_mut()
                .map(|run| run.append(step(&format!("step-{round}"))))
                .collect();
            batch.push(runs[0].end(step("last")));
            batch.push(Run::creation(&format!("created-{round}")));
            let outcomes = sender.send(batch.clone()).await;
            assert!(outcomes.iter().all(is_committed), "{outcomes:?}");
            let alone = runs[1].append(step("alone"));
            assert!(is_committed(&sender.send_one(alone).await));
            sent.fetch_add(1, Ordering::Relaxed);
            ended.push(runs.remove(0));
            runs.push(Run::created(&batch[3], &outcomes[3]));
        }
        over.store(true, Ordering::Relaxed);
        killing.await.unwrap();
        for run in ended.iter().chain(&runs) {
            let found: Vec<Record> = records(&store, run.stream).await;
            assert_eq!(found, run.written);
        }
        let killed = killed.load(Ordering::Relaxed);
        println!("{killed} connections were killed in the middle of a call");
        assert!(killed > 10, "{killed}");
    });
}
