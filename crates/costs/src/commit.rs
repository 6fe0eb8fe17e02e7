//! The embedded store without an engine: a batch of steps, as the committer sends it, until it is
//! durable.

use std::sync::Arc;

use everstep_model::{
    ExecutorSeq, Generation, NodeId, Nonce, RecordNumber, RunId, StreamName, StreamNumber,
};
use everstep_store::{AppendCommit, Claim, Commit, CreateCommit, Executor, Fence, Outcome, Store};
use everstep_store_embedded::EmbeddedStore;
use everstep_store_testkit::{TestClock, block_on};
use tempfile::TempDir;

use crate::codec::step_completed;
use crate::{NOW, Operation};

/// Commits per batch, each to a different stream.
const BATCH: u64 = 64;

pub(crate) fn batch() -> Operation {
    let mut streams = Streams::create();
    Box::new(move || streams.commit_a_step_each())
}

struct Streams {
    store: EmbeddedStore,
    fences: Vec<(StreamNumber, Fence)>,
    /// Records per commit.
    length: u64,
    _folder: TempDir,
}

impl Streams {
    fn create() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = EmbeddedStore::open(folder.path(), Arc::new(TestClock::at(NOW))).unwrap();
        let batch: Vec<Commit> = (0..BATCH).map(creation).collect();
        let outcomes = block_on(store.commit(&batch)).unwrap();
        let fences = outcomes.into_iter().map(|outcome| match outcome {
            Outcome::Committed { stream, taken, .. } => (stream, taken.unwrap()),
            refused => panic!("{refused:?}"),
        });
        Self {
            store,
            fences: fences.collect(),
            length: 1,
            _folder: folder,
        }
    }

    fn commit_a_step_each(&mut self) {
        let length = self.length;
        let batch: Vec<Commit> = self
            .fences
            .iter()
            .map(|&(stream, fence)| {
                let executor = Executor {
                    fence,
                    seq: ExecutorSeq(length),
                    seen: RecordNumber(length),
                    progress: true,
                };
                let mut commit = AppendCommit::new(stream, executor, NOW);
                commit.records.push(step_completed(length as u32));
                commit.into()
            })
            .collect();
        let outcomes = block_on(self.store.commit(&batch)).unwrap();
        let is_committed = |outcome: &Outcome| matches!(outcome, Outcome::Committed { .. });
        assert!(outcomes.iter().all(is_committed), "{outcomes:?}");
        self.length += 1;
    }
}

fn creation(number: u64) -> Commit {
    let run = RunId::new(format!("run-{number}")).unwrap();
    let name = StreamName::of_run(&run, Generation::FIRST);
    let mut commit = CreateCommit::new(name, NOW);
    commit.records.push(step_completed(0));
    commit.claim = Some(Claim {
        node: NodeId(1),
        nonce: Nonce(number),
    });
    commit.into()
}
