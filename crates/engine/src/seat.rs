//! Where an executor sits in this process: its appends go to the committer, its messages come from its mailbox.

use std::sync::Arc;
use std::task::{Context, Poll};

use everstep_model::{
    Entry, ExecutorSeq, Generation, Record, RecordNumber, RunId, RunStatus, StreamNumber,
};
use everstep_store::{
    AppendCommit, BoxFuture, Commit, Executor, ExecutorLease, Fence, Guard, Hint, Outcome, Refusal,
    StoreError,
};

use crate::activation::{Append, Message, Seat, Then};
use crate::core::Core;
use crate::effects::Effects;
use crate::mailbox::{Letter, Mailbox};
use crate::outbox::{Birth, Cause};
use crate::projection;
use crate::runtime::Runtime;
use crate::settings::Settings;

/// The place of an executor in this process.
pub(crate) struct LocalSeat {
    pub(crate) run: RunId,
    pub(crate) generation: Generation,
    pub(crate) stream: StreamNumber,
    pub(crate) core: Arc<Core>,
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) birth: Birth,
    pub(crate) fence: Fence,
    pub(crate) seq: ExecutorSeq,
}

impl Seat for LocalSeat {
    fn poll_message(&mut self, context: &mut Context<'_>) -> Poll<Message> {
        self.mailbox.poll(context).map(|letter| match letter {
            Letter::Message(message) => {
                if let Message::Appended { .. } = message {
                    self.seq = self.seq.next();
                }
                message
            }
            Letter::Right(fence) => {
                // News of an older right may come late.
                if fence.epoch > self.fence.epoch {
                    self.fence = fence;
                    self.seq = ExecutorSeq(0);
                }
                Message::Resumed
            }
        })
    }

    fn append(&mut self, append: Append) {
        let now = self.core.runtime.now();
        let executor = Executor {
            fence: self.fence,
            seq: self.seq.next(),
            seen: append.seen,
            progress: append.progress,
        };
        let mut commit = AppendCommit::new(self.stream, executor, now);
        let then = append.then;
        conclude(&mut commit, then, append.inbox_seen);
        let obsolete = append.obsolete.into_iter();
        commit
            .rows
            .delete
            .extend(obsolete.map(|row| projection::obsolete_key(row, self.stream)));
        let cause = Cause {
            stream: self.stream,
            run: &self.run,
            generation: self.generation,
            identity: self.birth.identity,
            parent: self.birth.parent.as_ref(),
            trace: self.birth.trace,
        };
        commit.rows.put = cause.effects(&append.records, &append.left, append.seen);
        commit.records = append.records;
        let parts = projection::Parts {
            put: &mut commit.rows.put,
            delete: &mut commit.rows.delete,
            drop: &mut commit.drop,
        };
        let timers = projection::project(&commit.records, self.stream, parts);
        let commit = Commit::from(commit);
        let effects = Effects::of(&self.run, &commit, timers);
        let (core, mailbox, stream) = (self.core.clone(), self.mailbox.clone(), self.stream);
        let reply = move |commit: &mut Commit, outcome| {
            let records = commit.take_records();
            let end = records.last().filter(|_| commit.closes());
            let settled = settle(&core, (stream, &mailbox), (then, end), effects, outcome);
            mailbox.push(settled.into_message(records));
        };
        self.core.committer.submit(commit, Box::new(reply));
    }

    fn read(&self, from: RecordNumber) -> BoxFuture<'static, Result<Vec<Entry>, StoreError>> {
        let (core, stream) = (self.core.clone(), self.stream);
        Box::pin(async move { core.read_journal(stream, from).await })
    }

    fn runtime(&self) -> &Arc<dyn Runtime> {
        &self.core.runtime
    }

    fn settings(&self) -> &Settings {
        &self.core.settings
    }
}

impl Drop for LocalSeat {
    /// However an executor ends, its run is not taken for executed.
    fn drop(&mut self) {
        self.core.hot_gone(self.stream, &self.mailbox);
    }
}

fn conclude(commit: &mut AppendCommit, then: Then, inbox_seen: u64) {
    match then {
        Then::Continue => {}
        Then::GoOnAs(status) => {
            commit.guards.push(Guard::InboxSeen(inbox_seen));
            commit.status = Some(status);
        }
        Then::Suspend(status) => {
            commit.guards.push(Guard::InboxSeen(inbox_seen));
            commit.lease = ExecutorLease::Release;
            commit.ready = Some(false);
            commit.status = Some(status);
        }
        Then::Park(status) => {
            commit.guards.push(Guard::InboxSeen(inbox_seen));
            commit.lease = ExecutorLease::Release;
            commit.ready = Some(false);
            commit.status = Some(status);
        }
        Then::Release => {
            commit.lease = ExecutorLease::Release;
            commit.status = Some(RunStatus::Queued);
        }
        Then::Abandon => {
            commit.lease = ExecutorLease::Abandon;
            commit.status = Some(RunStatus::Queued);
        }
        Then::End(status) | Then::EndAnyway(status) => {
            if matches!(then, Then::End(_)) {
                commit.guards.push(Guard::InboxSeen(inbox_seen));
            }
            commit.lease = ExecutorLease::Release;
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
                Then::Park(_)
                | Then::Release
                | Then::Abandon
                | Then::End(_)
                | Then::EndAnyway(_) => core.hot_gone(stream, mailbox),
            }
            if let Some(end) = end {
                core.watchers.ends_with(stream, end);
            }
            core.committed(stream, effects);
            if matches!(then, Then::Release | Then::Abandon) {
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
