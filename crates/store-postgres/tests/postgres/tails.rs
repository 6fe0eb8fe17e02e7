//! The last frames of a journal stay in its head until they are large enough for a row. Readers see
//! no difference.

use std::sync::Arc;

use everstep_model::{Record, RecordNumber};
use everstep_store::{Outcome, ReadRequest, Store};
use everstep_store_postgres::PostgresStore;
use everstep_store_testkit::sample::{event, executor, inbox, step};
use tokio_postgres::Client;

use crate::run::Run;
use crate::support::{Installation, Sender, in_parallel, records};

async fn begun() -> (Arc<PostgresStore>, Client, Sender, Run) {
    let installation = Installation::new();
    let store = installation.store().await;
    let mut sender = Sender::new(store.clone());
    let run = Run::begin(&mut sender, "run").await;
    (store, installation.sql().await, sender, run)
}

#[test]
fn a_journal_is_read_across_rows_and_tail_in_pages_of_any_size() {
    in_parallel(async {
        let (store, sql, mut sender, mut run) = begun().await;
        for n in 0..40 {
            let append = run.append(step(&format!("step-{n}")));
            sender.send_one(append).await;
        }
        let (rows, tail) = run.shape(&sql).await;
        assert!((2..20).contains(&rows), "{rows} rows for 40 short frames");
        assert!(tail > 0, "the last ones are in the head");
        assert_eq!(records(&store, run.stream).await, run.written);
        for (limit, bytes) in [(1, 1), (3, usize::MAX), (1_000, 1), (1_000, 600)] {
            let mut read = Vec::new();
            while read.len() < run.written.len() {
                let request = ReadRequest {
                    stream: run.stream,
                    from: RecordNumber(read.len() as u64),
                    limit,
                    bytes,
                };
                let page = store.read(request).await.unwrap().unwrap();
                for entry in page.entries {
                    assert_eq!(entry.number, RecordNumber(read.len() as u64));
                    read.push(entry.record);
                }
            }
            assert_eq!(read, run.written, "{limit} records, {bytes} bytes");
        }
    });
}

#[test]
fn a_long_frame_moves_the_tail_to_a_row() {
    in_parallel(async {
        let (store, sql, mut sender, mut run) = begun().await;
        let append = run.append(step("short"));
        sender.send_one(append).await;
        let (_, tail) = run.shape(&sql).await;
        assert!(tail > 0);
        let append = run.append_all((0..40).map(|n| step(&format!("step-{n}"))).collect());
        sender.send_one(append).await;
        assert_eq!(run.shape(&sql).await, (2, 0), "the creation, and the rest");
        assert_eq!(records(&store, run.stream).await, run.written);
    });
}

#[test]
fn an_executor_receives_unseen_events_behind_the_tail() {
    in_parallel(async {
        let (store, _, mut sender, mut run) = begun().await;
        for n in 0..3 {
            let append = run.append(step(&format!("step-{n}")));
            sender.send_one(append).await;
        }
        let seen = run.written.len() as u64;
        sender
            .send_one(inbox(run.stream, vec![event("news")]))
            .await;
        run.seq += 1;
        let blind = executor(run.stream, run.fence, run.seq, seen - 1, vec![step("next")]);
        let Outcome::Committed { first, before, .. } = sender.send_one(blind).await else {
            panic!("it holds the run");
        };
        assert_eq!(first, RecordNumber(seen + 1));
        let unseen: Vec<Record> = before.into_iter().map(|entry| entry.record).collect();
        assert_eq!(
            unseen,
            [run.written[run.written.len() - 1].clone(), event("news")]
        );
        run.written.extend([event("news"), step("next")]);
        assert_eq!(records(&store, run.stream).await, run.written);
    });
}

#[test]
fn appends_that_are_sent_again_are_answered_as_before() {
    in_parallel(async {
        let (store, _, mut sender, mut run) = begun().await;
        let append = run.append(step("first"));
        sender.send_one(append).await;
        let mut again = run.append(step("second"));
        let answer = sender.send_one(again.clone()).await;
        again.set_id(sender.last_id());
        assert_eq!(store.commit(&[again]).await.unwrap(), [answer]);
        assert_eq!(records(&store, run.stream).await, run.written);
    });
}
