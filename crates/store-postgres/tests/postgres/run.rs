//! A run and its executor.

use everstep_model::{NodeId, Nonce, Record, RunStatus, StreamNumber};
use everstep_store::{AppendCommit, Claim, Commit, ExecutorLease, Fence, Guard, Outcome};
use everstep_store_testkit::sample::{self, creation, executor, with_progress};
use tokio_postgres::Client;

use crate::support::Sender;

pub(crate) struct Run {
    pub(crate) stream: StreamNumber,
    pub(crate) fence: Fence,
    pub(crate) seq: u64,
    pub(crate) written: Vec<Record>,
}

impl Run {
    /// The creation of a run that is claimed at once.
    pub(crate) fn creation(name: &str) -> Commit {
        let mut creating = creation(name);
        creating.claim = Some(Claim {
            node: NodeId(1),
            nonce: Nonce(7),
        });
        creating.ready = true;
        creating.run = Some(sample::run(name, "order", RunStatus::Queued).into());
        creating.into()
    }

    /// The run that a creation created.
    pub(crate) fn created(creation: &Commit, outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Committed {
                stream,
                taken: Some(fence),
                ..
            } => Self {
                stream: *stream,
                fence: *fence,
                seq: 0,
                written: creation.records().to_vec(),
            },
            other => panic!("not created: {other:?}"),
        }
    }

    pub(crate) async fn begin(sender: &mut Sender, name: &str) -> Self {
        let creation = Self::creation(name);
        let outcome = sender.send_one(creation.clone()).await;
        Self::created(&creation, &outcome)
    }

    pub(crate) fn append(&mut self, record: Record) -> Commit {
        self.append_all(vec![record])
    }

    pub(crate) fn append_all(&mut self, records: Vec<Record>) -> Commit {
        self.appending(records).into()
    }

    fn appending(&mut self, records: Vec<Record>) -> AppendCommit {
        self.seq += 1;
        let seen = self.written.len() as u64;
        self.written.extend(records.iter().cloned());
        let append = executor(self.stream, self.fence, self.seq, seen, records);
        with_progress(append)
    }

    /// The append that ends the run, unless it has records that the executor has not seen.
    pub(crate) fn end(&mut self, record: Record) -> Commit {
        let mut end = self.appending(vec![record]);
        end.guards.push(Guard::InboxSeen(1));
        end.lease = ExecutorLease::Release;
        end.ready = Some(false);
        end.status = Some(RunStatus::Completed);
        end.close = true;
        end.into()
    }

    /// The number of its rows in `frames`, and the length of its tail.
    pub(crate) async fn shape(&self, sql: &Client) -> (i64, i32) {
        let shape = "SELECT (SELECT count(*) FROM frames WHERE stream = number), octet_length(tail) \
            FROM streams WHERE number = $1";
        let line = sql.query_one(shape, &[&self.number()]).await.unwrap();
        (line.get(0), line.get(1))
    }

    /// The number of its stream, as the database stores it.
    pub(crate) fn number(&self) -> i64 {
        i64::try_from(self.stream.0).unwrap()
    }
}
