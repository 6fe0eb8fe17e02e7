//! The port between the engine and whoever runs workflow code: here is a run, its journal, and the right to append.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::task::{Context, Poll};

use everstep_machine::{LeftChild, Obsolete};
use everstep_model::{
    Entry, ExecutorSeq, Generation, Name, Record, RecordNumber, RunId, RunStatus, StreamNumber,
    Timestamp,
};
use everstep_store::{
    Author, BoxFuture, Commit, Fence, Guard, Hint, LeaseChange, Outcome, Refusal, StoreError,
    Target,
};

use crate::core::{Core, Effects};
use crate::mailbox::Mailbox;
use crate::outbox::{Birth, Cause};
use crate::projection;
use crate::settings::Settings;

/// A workflow somebody can execute, and the versions of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The workflow.
    pub workflow: Name,
    /// The versions whose runs the code can execute.
    pub versions: RangeInclusive<u32>,
}

/// Executes workflow code.
pub trait Worker: Send + Sync + 'static {
    /// What it can execute.
    fn offers(&self) -> Vec<Offer>;

    /// How long runs of a workflow may take that nobody said more about, counted from their creation.
    fn deadline(&self, _workflow: &Name) -> Option<std::time::Duration> {
        None
    }

    /// Executes a run until it ends, is lost, or is evicted. The future is polled as a task of its own.
    fn execute(&self, activation: Activation) -> BoxFuture<'static, ()>;
}

/// What an append means for the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// It goes on.
    Continue,
    /// It goes on with this status, and nothing came that was not folded.
    GoOnAs(RunStatus),
    /// It waits for the inbox, and nothing came that was not folded.
    Suspend(RunStatus),
    /// It is parked until somebody acts.
    Park(RunStatus),
    /// It goes back to the queue: another node may go on.
    Release,
    /// It is over, and nothing came that was not folded.
    End(RunStatus),
    /// It is over, by something that is in its journal already.
    EndAnyway(RunStatus),
}

/// What an executor writes. One append may be under way at a time.
#[derive(Clone, Debug)]
pub struct Append {
    /// The records.
    pub records: Vec<Record>,
    /// What it means for the run.
    pub then: Then,
    /// How many records the executor knows.
    pub seen: RecordNumber,
    /// How many inbox records it knows.
    pub inbox_seen: u64,
    /// Whether an operation resolves by it.
    pub progress: bool,
    /// Rows that nothing needs any more.
    pub obsolete: Vec<Obsolete>,
    /// Children that the run no longer waits for.
    pub left: Vec<LeftChild>,
}

/// What the engine tells an executor.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// The append is durable. Fold `before`, then the append's own records from `first` on.
    Appended {
        /// The number of its first record.
        first: RecordNumber,
        /// What landed before it.
        before: Vec<Entry>,
        /// The append's own records.
        records: Vec<Record>,
    },
    /// The append was refused: `came` is what came before it. Fold that and decide again.
    Missed {
        /// What came before it.
        came: Vec<Entry>,
        /// The append's own records, which are not written.
        records: Vec<Record>,
    },
    /// The journal has more records: read on.
    Grew,
    /// A suspended run has something to do, and this executor has the right again: read on.
    Resumed(Fence),
    /// The right is lost, or the store is: drop everything.
    Lost,
    /// The engine wants the memory: a suspended run is dropped.
    Evict,
    /// The engine shuts down: finish steps in flight, begin none, release the run.
    Stop,
}

/// A run to execute, with the right to append to its journal.
pub struct Activation {
    /// The run.
    pub run: RunId,
    /// Its life.
    pub generation: Generation,
    /// Its workflow.
    pub workflow: Name,
    /// The journal so far.
    pub journal: Vec<Entry>,
    /// Whether its last executor died without progress: each attempt's start is then durable before it begins, so that a
    /// run that ends processes shows.
    pub cautious: bool,
    pub(crate) stream: StreamNumber,
    pub(crate) core: Arc<Core>,
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) birth: Birth,
    pub(crate) fence: Fence,
    pub(crate) seq: ExecutorSeq,
}

impl Activation {
    /// The next message, if there is one; the task is woken when one comes.
    pub fn poll_message(&mut self, context: &mut Context<'_>) -> Poll<Message> {
        let message = self.mailbox.poll(context);
        match &message {
            Poll::Ready(Message::Appended { .. }) => self.seq = self.seq.next(),
            // News of an older right may come late.
            Poll::Ready(Message::Resumed(fence)) if fence.epoch > self.fence.epoch => {
                self.fence = *fence;
                self.seq = ExecutorSeq(0);
            }
            Poll::Ready(
                Message::Missed { .. }
                | Message::Grew
                | Message::Resumed(_)
                | Message::Lost
                | Message::Evict
                | Message::Stop,
            )
            | Poll::Pending => {}
        }
        message
    }

    /// Sends records to the committer. The answer comes as a message.
    pub fn append(&mut self, append: Append) {
        let now = self.core.runtime.now();
        let author = Author::Executor {
            fence: self.fence,
            seq: self.seq.next(),
            seen: append.seen,
            progress: append.progress,
        };
        let mut commit = Commit::new(Target::Stream(self.stream), author, now);
        let then = append.then;
        conclude(&mut commit, then, append.inbox_seen);
        let obsolete = append.obsolete.into_iter();
        commit
            .delete
            .extend(obsolete.map(|row| projection::obsolete_key(row, self.stream)));
        let cause = Cause {
            stream: self.stream,
            run: &self.run,
            generation: self.generation,
            identity: self.birth.identity,
            parent: self.birth.parent.as_ref(),
        };
        commit.put = cause.effects(&append.records, &append.left, append.seen);
        commit.records = append.records;
        let timers = projection::project(&mut commit, self.stream);
        let effects = Effects::of(&self.run, &commit, timers);
        let (core, mailbox, stream) = (self.core.clone(), self.mailbox.clone(), self.stream);
        let reply = move |commit: Commit, outcome| {
            let end = commit.records.last().filter(|_| commit.close);
            let settled = settle(&core, (stream, &mailbox), (then, end), effects, outcome);
            mailbox.push(settled.into_message(commit.records));
        };
        self.core.committer.submit(commit, Box::new(reply));
    }

    /// The records from `from` on.
    pub fn read(&self, from: RecordNumber) -> BoxFuture<'static, Result<Vec<Entry>, StoreError>> {
        let (core, stream) = (self.core.clone(), self.stream);
        Box::pin(async move { core.read_journal(stream, from).await })
    }

    /// The engine's clock.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.core.runtime.now()
    }

    /// The engine's runtime.
    #[must_use]
    pub fn runtime(&self) -> Arc<dyn crate::Runtime> {
        self.core.runtime.clone()
    }

    /// The engine's settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.core.settings
    }
}

impl Drop for Activation {
    /// However an executor ends, its run is not taken for executed.
    fn drop(&mut self) {
        self.core.hot_gone(self.stream, &self.mailbox);
    }
}

impl std::fmt::Debug for Activation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Activation({})", self.run)
    }
}

fn conclude(commit: &mut Commit, then: Then, inbox_seen: u64) {
    match then {
        Then::Continue => {}
        Then::GoOnAs(status) => {
            commit.guards.push(Guard::InboxSeen(inbox_seen));
            commit.status = Some(status);
        }
        Then::Suspend(status) => {
            commit.guards.push(Guard::InboxSeen(inbox_seen));
            commit.lease = LeaseChange::Release;
            commit.ready = Some(false);
            commit.status = Some(status);
        }
        Then::Park(status) => {
            commit.guards.push(Guard::InboxSeen(inbox_seen));
            commit.lease = LeaseChange::Release;
            commit.ready = Some(false);
            commit.status = Some(status);
        }
        Then::Release => {
            commit.lease = LeaseChange::Release;
            commit.status = Some(RunStatus::Queued);
        }
        Then::End(status) | Then::EndAnyway(status) => {
            if matches!(then, Then::End(_)) {
                commit.guards.push(Guard::InboxSeen(inbox_seen));
            }
            commit.lease = LeaseChange::Release;
            commit.ready = Some(false);
            commit.status = Some(status);
            commit.close = true;
        }
    }
}

/// What became of an append.
enum Settled {
    Appended {
        first: RecordNumber,
        before: Vec<Entry>,
    },
    Missed(Vec<Entry>),
    Lost,
}

impl Settled {
    fn into_message(self, records: Vec<Record>) -> Message {
        match self {
            Self::Appended { first, before } => Message::Appended {
                first,
                before,
                records,
            },
            Self::Missed(came) => Message::Missed { came, records },
            Self::Lost => Message::Lost,
        }
    }
}

/// Called by the committer once the outcome is known: first the engine's own books, then the executor.
fn settle(
    core: &Arc<Core>,
    (stream, mailbox): (StreamNumber, &Arc<Mailbox>),
    (then, end): (Then, Option<&Record>),
    effects: Effects,
    outcome: Result<Outcome, StoreError>,
) -> Settled {
    match outcome {
        Ok(Outcome::Committed { first, before, .. } | Outcome::Duplicate { first, before, .. }) => {
            match then {
                Then::Continue | Then::GoOnAs(_) => {}
                Then::Suspend(_) => core.hot_idle(stream, mailbox),
                Then::Park(_) | Then::Release | Then::End(_) | Then::EndAnyway(_) => {
                    core.hot_gone(stream, mailbox)
                }
            }
            if let Some(end) = end {
                core.watchers.ends_with(stream, end);
            }
            core.committed(stream, effects);
            if then == Then::Release {
                core.bus.publish(Hint::Ready(stream));
            }
            Settled::Appended { first, before }
        }
        Ok(Outcome::Refused(Refusal::InboxGrew { missed })) => Settled::Missed(missed),
        Ok(Outcome::Refused(Refusal::Unreadable(error))) => {
            core.hot_gone(stream, mailbox);
            core.unreadable(stream, &error);
            Settled::Lost
        }
        Ok(Outcome::Refused(refusal)) => {
            tracing::debug!(%stream, %refusal, "an executor lost its run");
            core.hot_gone(stream, mailbox);
            Settled::Lost
        }
        Err(_) => {
            core.hot_gone(stream, mailbox);
            Settled::Lost
        }
    }
}
