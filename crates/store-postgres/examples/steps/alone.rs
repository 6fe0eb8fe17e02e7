//! The store driven alone: one step of every run in one batch, batch after batch.

use std::time::{Duration, Instant};

use everstep_model::record::StepCompleted;
use everstep_model::{
    ExecutorSeq, Location, Name, NodeId, Nonce, Payload, Record, RecordNumber, StreamName,
    StreamNumber, Timestamp,
};
use everstep_store::{
    AppendCommit, Claim, Commit, CommitId, CreateCommit, Executor, Fence, Outcome, Store,
};
use everstep_store_postgres::{Options, PostgresStore};

use crate::{RESULT, RUNS};

const NODE: NodeId = NodeId(1);

struct Run {
    stream: StreamNumber,
    fence: Fence,
    seq: u64,
    next: RecordNumber,
}

pub(crate) async fn steps(url: &str, length: Duration) -> u64 {
    let options = Options::new(url).unwrap().namespace("alone").unwrap();
    let store = PostgresStore::open(options).await.unwrap();
    store.retire(NODE).await.unwrap();
    let mut number = 0;
    let mut runs = create(&store, &mut number).await;
    let begun = Instant::now();
    let mut steps = 0;
    while begun.elapsed() < length {
        let batch: Vec<Commit> = runs.iter().map(|run| step(run, &mut number)).collect();
        let outcomes = store.commit(&batch).await.unwrap();
        for (run, outcome) in runs.iter_mut().zip(&outcomes) {
            assert!(matches!(outcome, Outcome::Committed { .. }), "{outcome:?}");
            run.seq += 1;
            run.next = run.next.plus(1);
            steps += 1;
        }
    }
    steps
}

async fn create(store: &PostgresStore, number: &mut u64) -> Vec<Run> {
    let turn = Timestamp::from(std::time::SystemTime::now()).as_millis();
    let creations: Vec<Commit> = (0..RUNS)
        .map(|n| {
            let name = StreamName::from_stored(&format!("alone/{turn}/{n}"));
            let mut commit = CreateCommit::new(name, now());
            commit.claim = Some(Claim {
                node: NODE,
                nonce: Nonce(7),
            });
            numbered(commit, number)
        })
        .collect();
    let outcomes = store.commit(&creations).await.unwrap();
    let created = outcomes.into_iter().map(|outcome| match outcome {
        Outcome::Committed {
            stream,
            taken: Some(fence),
            first,
            ..
        } => Run {
            stream,
            fence,
            seq: 1,
            next: first,
        },
        other => panic!("not created: {other:?}"),
    });
    created.collect()
}

fn step(run: &Run, number: &mut u64) -> Commit {
    let executor = Executor {
        fence: run.fence,
        seq: ExecutorSeq(run.seq),
        seen: run.next,
        progress: true,
    };
    let mut commit = AppendCommit::new(run.stream, executor, now());
    let done = StepCompleted {
        location: Location::root(Name::internal("charge").unwrap(), 0),
        attempt: 1,
        started_at: commit.now,
        result: Payload::from_json(RESULT.as_bytes().to_vec()).unwrap(),
        undo: None,
        sensitive: false,
        early: None,
        no_return: false,
    };
    commit.records.push(Record {
        time: commit.now,
        body: done.into(),
    });
    numbered(commit, number)
}

fn now() -> Timestamp {
    Timestamp::from(std::time::SystemTime::now())
}

fn numbered(commit: impl Into<Commit>, number: &mut u64) -> Commit {
    *number += 1;
    let mut commit = commit.into();
    commit.set_id(CommitId {
        node: NODE,
        number: *number,
    });
    commit
}
