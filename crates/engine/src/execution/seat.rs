//! The seat of an executor in this process: its appends go to the committer, its messages come from
//! its mailbox.

use std::sync::Arc;
use std::task::{Context, Poll};

use everstep_model::{
    Entry, ExecutorSeq, Generation, Record, RecordNumber, RunId, RunStatus, StreamNumber,
};
use everstep_store::{
    AppendCommit, BoxFuture, Commit, Executor, ExecutorLease, Fence, Guard, Hint, Outcome, Refusal,
    StoreError,
};

use super::mailbox::{Letter, Mailbox};
use super::parts::Parts;
use super::probation::Probation;
use crate::commit::PostCommit;
use crate::commit::projection::{self, Cause, Origin};
use crate::runtime::Runtime;
use crate::settings::Settings;
use crate::workers::{Append, Message, Seat, Then};

pub(super) struct LocalSeat {
    pub(super) run: RunId,
    pub(super) generation: Generation,
    pub(super) stream: StreamNumber,
    pub(super) parts: Arc<Parts>,
    pub(super) mailbox: Arc<Mailbox>,
    pub(super) origin: Origin,
    pub(super) fence: Fence,
    pub(super) seq: ExecutorSeq,
    /// Ends when the run has written something.
    pub(super) probation: Option<Probation>,
}

impl Seat for LocalSeat {
    fn poll_message(&mut self, context: &mut Context<'_>) -> Poll<Message> {
        self.mailbox.poll(context).map(|letter| match letter {
            Letter::Message(message) => {
                if let Message::Appended { .. } = message {
                    self.seq = self.seq.next();
                    self.probation = None;
                }
                message
            }
            Letter::Claim(fence) => {
                // A message about an older claim may arrive late.
                if fence.epoch > self.fence.epoch {
                    self.fence = fence;
                    self.seq = ExecutorSeq(0);
                }
                Message::Resumed
            }
        })
    }

    fn append(&mut self, append: Append) {
        let executor = Executor {
            fence: self.fence,
            seq: self.seq.next(),
            seen: append.seen,
            progress: append.progress,
        };
        let mut commit = AppendCommit::new(self.stream, executor, self.parts.node.now());
        let then = append.then;
        conclude(&mut commit, then, append.inbox_seen);
        let obsolete = append.obsolete.into_iter();
        let obsolete = obsolete.map(|row| projection::obsolete_key(row, self.stream));
        commit.rows.delete.extend(obsolete);
        let cause = Cause {
            stream: self.stream,
            run: &self.run,
            generation: self.generation,
            origin: &self.origin,
        };
        commit.rows.put = cause.effects(&append.records, &append.left, append.seen);
        commit.records = append.records;
        let timers = projection::project(&commit.records, self.stream, &mut commit.rows);
        commit.drop = projection::dropped(&commit.records);
        let commit = Commit::from(commit);
        let effects = PostCommit::of_run(&self.run, &commit, timers);
        let (parts, mailbox) = (self.parts.clone(), self.mailbox.clone());
        let stream = self.stream;
        let reply = move |commit: &mut Commit, outcome| {
            let records = commit.take_records();
            let end = records.last().filter(|_| commit.closes());
            let outcome = parts.appended((stream, &mailbox), (then, end), effects, outcome);
            mailbox.push(match outcome {
                Ok((first, before)) => Message::Appended {
                    first,
                    before,
                    records,
                },
                Err(NotAppended::Missed(came)) => Message::Missed { came, records },
                Err(NotAppended::Lost) => Message::Lost,
            });
        };
        self.parts.committer.submit(commit, Box::new(reply));
    }

    fn read(&self, from: RecordNumber) -> BoxFuture<'static, Result<Vec<Entry>, StoreError>> {
        let (node, stream) = (self.parts.node.clone(), self.stream);
        Box::pin(async move { node.read_journal(stream, from).await })
    }

    fn runtime(&self) -> &Arc<dyn Runtime> {
        &self.parts.node.runtime
    }

    fn settings(&self) -> &Settings {
        &self.parts.node.settings
    }
}

impl Drop for LocalSeat {
    /// However an executor ends, its run does not count as executing any more.
    fn drop(&mut self) {
        self.parts.resident.remove(self.stream, &self.mailbox);
    }
}

fn conclude(commit: &mut AppendCommit, then: Then, inbox_seen: u64) {
    match then {
        Then::Continue => {}
        Then::GoOnAs(status) => {
            commit.guards.push(Guard::InboxSeen(inbox_seen));
            commit.status = Some(status);
        }
        Then::Suspend(status) | Then::Park(status) => {
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

/// Why an append had no effect.
enum NotAppended {
    /// These inbox records were appended before.
    Missed(Vec<Entry>),
    /// Another executor has the run.
    Lost,
}

impl Parts {
    /// Called by the committer with the outcome of an append: updates the state of the engine
    /// before the executor receives the outcome.
    fn appended(
        &self,
        (stream, mailbox): (StreamNumber, &Arc<Mailbox>),
        (then, end): (Then, Option<&Record>),
        effects: PostCommit,
        outcome: Result<Outcome, StoreError>,
    ) -> Result<(RecordNumber, Vec<Entry>), NotAppended> {
        match outcome {
            Ok(
                Outcome::Committed { first, before, .. } | Outcome::Duplicate { first, before, .. },
            ) => {
                match then {
                    Then::Continue | Then::GoOnAs(_) => {}
                    Then::Suspend(_) => {
                        let (now, max) = (self.node.now(), self.node.settings.hot_runs_max);
                        self.resident.suspend(stream, mailbox, now, max);
                    }
                    Then::Park(_)
                    | Then::Release
                    | Then::Abandon
                    | Then::End(_)
                    | Then::EndAnyway(_) => self.resident.remove(stream, mailbox),
                }
                if let Some(end) = end {
                    self.watchers.ends_with(stream, end);
                }
                self.post_commit.apply(stream, effects);
                if matches!(then, Then::Release | Then::Abandon) {
                    self.node.bus.publish(Hint::Ready(stream));
                }
                Ok((first, before))
            }
            Ok(Outcome::Refused(Refusal::InboxGrew { missed })) => Err(NotAppended::Missed(missed)),
            Ok(Outcome::Refused(refusal)) => {
                self.resident.remove(stream, mailbox);
                match refusal {
                    Refusal::Unreadable(error) => self.watchers.unreadable(stream, &error),
                    refusal => tracing::debug!(%stream, %refusal, "executor lost its run"),
                }
                Err(NotAppended::Lost)
            }
            Err(_) => {
                self.resident.remove(stream, mailbox);
                Err(NotAppended::Lost)
            }
        }
    }
}
