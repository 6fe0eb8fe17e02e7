//! The path from a claim to an execution: finds the worker, reads the journal, and starts the task.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use everstep_model::record::Paused;
use everstep_model::{
    Entry, ErrorCode, ExecutorSeq, Failure, Generation, Name, Record, RecordNumber, RunId,
    RunStatus, StreamNumber, limits,
};
use everstep_store::{
    AppendCommit, DeliverCommit, Executor, ExecutorLease, Fence, Guard, Hint, InboxLease, Outcome,
    Refusal, StoreError, UNPROVEN_MAX,
};

use super::mailbox::Mailbox;
use super::parts::Parts;
use super::probation::{Probation, Probations};
use super::seat::LocalSeat;
use crate::commit::projection::Origin;
use crate::error::{CodedError, JournalTooLarge};
use crate::lock::lock;
use crate::workers::{Activation, Message};

/// A run that this node has claimed.
pub(crate) struct Claimed {
    pub(crate) stream: StreamNumber,
    pub(crate) run: RunId,
    pub(crate) generation: Generation,
    pub(crate) workflow: Name,
    pub(crate) version: u32,
    pub(crate) fence: Fence,
    pub(crate) mailbox: Arc<Mailbox>,
    /// How often it was taken over without progress.
    pub(crate) takeovers: u32,
    /// The last commit under this claim.
    pub(crate) seq: ExecutorSeq,
    pub(crate) probation: Option<Probation>,
}

pub(crate) struct Dispatcher {
    pub(crate) parts: Arc<Parts>,
    pub(crate) probations: Probations,
    /// Runs that were too large for this node. They are not read again until they are resumed.
    pub(crate) too_large: Mutex<BTreeSet<StreamNumber>>,
}

impl Dispatcher {
    /// Wakes a run after something landed in its inbox. `claim` is set if the commit claimed the
    /// run.
    pub(crate) fn wake(self: &Arc<Self>, stream: StreamNumber, claim: Option<Fence>) {
        let resident = &self.parts.resident;
        match claim {
            Some(fence) => {
                if !resident.resume(stream, fence) {
                    let mailbox = self.enter_memory(stream, fence);
                    let dispatcher = self.clone();
                    self.parts.node.spawn(async move {
                        dispatcher.activate_cold(stream, fence, mailbox).await;
                    });
                }
            }
            None => {
                if !resident.notify(stream, Message::Grew) {
                    self.parts.node.bus.publish(Hint::Ready(stream));
                }
            }
        }
    }

    /// Claims a run that is ready and executes it. Returns whether it was claimed. A run that
    /// cannot be read is left as it is; errors are about the store.
    pub(crate) async fn claim(self: &Arc<Self>, stream: StreamNumber) -> Result<bool, StoreError> {
        let parts = &self.parts;
        if parts.node.is_closing() {
            return Ok(false);
        }
        let mut commit = DeliverCommit::new(stream, parts.node.now());
        commit.lease = InboxLease::Claim(self.parts.claim());
        commit.ready = Some(true);
        match parts.committer.commit(commit).await? {
            Outcome::Committed {
                taken: Some(fence), ..
            } => {
                self.wake(stream, Some(fence));
                Ok(true)
            }
            Outcome::Refused(Refusal::Unreadable(error)) => {
                parts.watchers.unreadable(stream, &error);
                Ok(false)
            }
            Outcome::Committed { .. } | Outcome::Duplicate { .. } | Outcome::Refused(_) => {
                Ok(false)
            }
        }
    }

    /// Adds a run to those in memory before its journal is read, so that no message is missed
    /// meanwhile.
    pub(crate) fn enter_memory(&self, stream: StreamNumber, fence: Fence) -> Arc<Mailbox> {
        let mailbox = Arc::new(Mailbox::default());
        let resident = &self.parts.resident;
        resident.add(stream, fence.epoch, mailbox.clone());
        mailbox
    }

    /// Executes a run whose journal is in the store.
    async fn activate_cold(&self, stream: StreamNumber, fence: Fence, mailbox: Arc<Mailbox>) {
        let activated = self.try_activate_cold(stream, fence, mailbox.clone()).await;
        if !matches!(activated, Ok(true)) {
            self.parts.resident.remove(stream, &mailbox);
        }
        if let Err(error) = activated {
            self.parts.watchers.unreadable(stream, &error);
        }
    }

    async fn try_activate_cold(
        &self,
        stream: StreamNumber,
        fence: Fence,
        mailbox: Arc<Mailbox>,
    ) -> Result<bool, StoreError> {
        let node = &self.parts.node;
        let Some(head) = node.head(stream).await? else {
            return Ok(false);
        };
        let Some(row) = head.run else {
            return Ok(false);
        };
        let mut claimed = Claimed {
            stream,
            run: row.id.clone(),
            generation: row.generation,
            workflow: row.workflow.clone(),
            version: row.version,
            fence,
            mailbox,
            takeovers: head.takeovers,
            seq: ExecutorSeq(0),
            probation: None,
        };
        let inbox = head.frame.inbox_count;
        let is_paused = row.status == RunStatus::Paused;
        if is_paused && lock(&self.too_large).contains(&stream) {
            self.park(&claimed, inbox, None).await;
            return Ok(false);
        }
        if head.takeovers > limits::TAKEOVERS_MAX {
            let reason = no_progress(head.takeovers);
            self.park(&claimed, inbox, Some(reason)).await;
            return Ok(false);
        }
        if head.takeovers >= UNPROVEN_MAX && !self.begin_probation(&mut claimed).await? {
            return Ok(false);
        }
        if node.is_shared {
            // Effects that an earlier executor caused must not be overtaken by those to come.
            let undelivered = node.outbox_of(stream).await?;
            self.parts.post_commit.outbox.found(undelivered);
        }
        match node.read_whole(stream).await? {
            Some(journal) => {
                lock(&self.too_large).remove(&stream);
                Ok(self.activate(claimed, journal).await)
            }
            None => {
                lock(&self.too_large).insert(stream);
                let bytes_max = node.settings.journal_bytes_max;
                let run = row.id.clone();
                let too_large = JournalTooLarge { run, bytes_max };
                let reason = (!is_paused).then(|| too_large.failure());
                self.park(&claimed, inbox, reason).await;
                Ok(false)
            }
        }
    }

    /// Makes durable that this node executes the run, before the run can do harm: if the node fails
    /// now, the takeover counts. Returns whether the node still has the run.
    async fn begin_probation(&self, claimed: &mut Claimed) -> Result<bool, StoreError> {
        claimed.probation = Some(self.probations.begin(&self.parts.node).await);
        let mut commit = self.executor_commit(claimed);
        commit.lease = ExecutorLease::Keep;
        match self.parts.committer.commit(commit).await? {
            Outcome::Committed { .. } | Outcome::Duplicate { .. } => {
                claimed.seq = claimed.seq.next();
                Ok(true)
            }
            Outcome::Refused(_) => Ok(false),
        }
    }

    /// Executes a new run, whose journal is its first record.
    pub(crate) async fn activate_new(&self, claimed: Claimed, first: Record) {
        let first = Entry {
            number: RecordNumber(0),
            record: first,
        };
        self.activate(claimed, vec![first]).await;
    }

    /// Executes a run, or releases it if its worker was removed meanwhile.
    async fn activate(&self, claimed: Claimed, journal: Vec<Entry>) -> bool {
        let Parts { node, workers, .. } = &*self.parts;
        let Some(worker) = workers.executor(&claimed.workflow, claimed.version) else {
            self.release(claimed).await;
            return false;
        };
        if journal.len() as u64 > node.settings.journal_records_warn {
            tracing::warn!(run = %claimed.run, records = journal.len(), "long journal, replay is slow");
        }
        if node.is_closing() {
            claimed.mailbox.push(Message::Stop);
        }
        let seat = LocalSeat {
            run: claimed.run.clone(),
            generation: claimed.generation,
            stream: claimed.stream,
            parts: self.parts.clone(),
            mailbox: claimed.mailbox,
            origin: Origin::of(&journal),
            fence: claimed.fence,
            seq: claimed.seq,
            probation: claimed.probation,
        };
        let activation = Activation {
            run: claimed.run,
            generation: claimed.generation,
            workflow: claimed.workflow,
            version: claimed.version,
            journal,
            cautious: claimed.takeovers > 0,
            seat: Box::new(seat),
        };
        node.spawn(worker.execute(activation));
        true
    }

    /// Releases a run that no worker of this node executes any more.
    async fn release(&self, claimed: Claimed) {
        let mut commit = self.executor_commit(&claimed);
        commit.status = Some(RunStatus::Queued);
        let _ = self.parts.committer.commit(commit).await;
        let resident = &self.parts.resident;
        resident.remove(claimed.stream, &claimed.mailbox);
    }

    /// Pauses a run that this node cannot execute. Without a reason, it is paused already.
    async fn park(&self, claimed: &Claimed, inbox: u64, reason: Option<Failure>) {
        let mut commit = self.executor_commit(claimed);
        if let Some(reason) = reason {
            tracing::error!(run = %claimed.run, %reason, "run paused");
            let reason = Some(reason);
            commit.records.push(Record {
                time: commit.now,
                body: Paused { reason }.into(),
            });
        }
        // If the inbox grew, the run stays ready and the next sweep finds it.
        commit.guards.push(Guard::InboxSeen(inbox));
        commit.ready = Some(false);
        commit.status = Some(RunStatus::Paused);
        let _ = self.parts.committer.commit(commit).await;
    }

    fn executor_commit(&self, claimed: &Claimed) -> AppendCommit {
        let executor = Executor {
            fence: claimed.fence,
            seq: claimed.seq.next(),
            seen: RecordNumber(u64::MAX),
            progress: false,
        };
        let mut commit = AppendCommit::new(claimed.stream, executor, self.parts.node.now());
        commit.lease = ExecutorLease::Release;
        commit
    }
}

fn no_progress(takeovers: u32) -> Failure {
    let message = format!(
        "the run was taken over {takeovers} times without progress, perhaps because its code ends the process; it is \
         paused until an operator resumes it"
    );
    Failure::new(ErrorCode::NoProgress, message)
}
