//! From a claim to an execution: finds the worker, reads the journal, runs the task. Also what happens to an outcome of
//! an inbox commit: whoever executes the run hears of it.

use std::sync::Arc;

use everstep_model::record::Paused;
use everstep_model::{
    Entry, ErrorCode, ExecutorSeq, Failure, Generation, Name, Record, RecordNumber, RunId,
    RunStatus, StreamNumber, limits,
};
use everstep_store::{
    AppendCommit, DeliverCommit, Executor, ExecutorLease, Fence, Guard, Hint, InboxLease, Outcome,
    Refusal, StoreError, StreamRef,
};

use crate::activation::{Activation, Message, Worker};
use crate::core::Core;
use crate::mailbox::Mailbox;
use crate::outbox;
use crate::seat::LocalSeat;

/// A run that this node may execute.
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
}

impl Core {
    /// Something landed in a run's inbox, and the run was taken with it or not.
    pub(crate) fn woken(self: &Arc<Self>, stream: StreamNumber, taken: Option<Fence>) {
        match taken {
            Some(fence) => {
                if !self.hot.resume(stream, fence) {
                    let mailbox = self.enter_memory(stream, fence);
                    let core = self.clone();
                    self.spawn(Box::pin(async move {
                        core.activate_cold(stream, fence, mailbox).await;
                    }));
                }
            }
            None => {
                if !self.hot.tell(stream, Message::Grew) {
                    self.bus.publish(Hint::Ready(stream));
                }
            }
        }
    }

    /// Claims a run that has something to do, and executes it; says whether it did. One that cannot be read is left
    /// alone, and an error is about the store.
    pub(crate) async fn claim(self: &Arc<Self>, stream: StreamNumber) -> Result<bool, StoreError> {
        if self.is_closing() {
            return Ok(false);
        }
        let mut commit = DeliverCommit::new(stream, self.runtime.now());
        commit.lease = InboxLease::Claim(self.take());
        commit.ready = Some(true);
        match self.committer.commit(commit).await? {
            Outcome::Committed {
                taken: Some(fence), ..
            } => {
                self.woken(stream, Some(fence));
                Ok(true)
            }
            Outcome::Refused(Refusal::Unreadable(error)) => {
                self.unreadable(stream, &error);
                Ok(false)
            }
            Outcome::Committed { .. } | Outcome::Duplicate { .. } | Outcome::Refused(_) => {
                Ok(false)
            }
        }
    }

    /// A run is in memory from now on, so that what lands while its journal is read is not missed.
    pub(crate) fn enter_memory(&self, stream: StreamNumber, fence: Fence) -> Arc<Mailbox> {
        let mailbox = Arc::new(Mailbox::default());
        self.hot.add(stream, fence.epoch, mailbox.clone());
        mailbox
    }

    /// Executes a run that is not in memory: its journal comes from the store.
    async fn activate_cold(
        self: Arc<Self>,
        stream: StreamNumber,
        fence: Fence,
        mailbox: Arc<Mailbox>,
    ) {
        match self.try_activate_cold(stream, fence, mailbox.clone()).await {
            Ok(true) => {}
            Ok(false) => self.hot_gone(stream, &mailbox),
            Err(error) => {
                self.hot_gone(stream, &mailbox);
                self.unreadable(stream, &error);
            }
        }
    }

    async fn try_activate_cold(
        self: &Arc<Self>,
        stream: StreamNumber,
        fence: Fence,
        mailbox: Arc<Mailbox>,
    ) -> Result<bool, StoreError> {
        let Some(head) = self.store.head(StreamRef::Number(stream)).await? else {
            return Ok(false);
        };
        let Some(row) = head.run else {
            return Ok(false);
        };
        let claimed = Claimed {
            stream,
            run: row.id.clone(),
            generation: row.generation,
            workflow: row.workflow.clone(),
            version: row.version,
            fence,
            mailbox,
            takeovers: head.takeovers,
        };
        let worker = self.worker(&claimed.workflow, row.version);
        if head.takeovers > limits::TAKEOVERS_MAX {
            let inbox = head.frame.inbox_count;
            self.park_without_progress(&claimed, head.takeovers, inbox)
                .await;
            return Ok(false);
        }
        if !self.store.describe().exclusive {
            self.follow_outbox(stream).await?;
        }
        let journal = self.read_journal(stream, RecordNumber(0)).await?;
        match worker {
            Some(worker) => {
                self.activate(&worker, claimed, journal);
                Ok(true)
            }
            None => {
                self.give_back(claimed).await;
                Ok(false)
            }
        }
    }

    /// Executes a run whose journal is at hand.
    pub(crate) fn activate(
        self: &Arc<Self>,
        worker: &Arc<dyn Worker>,
        claimed: Claimed,
        journal: Vec<Entry>,
    ) {
        if journal.len() as u64 > self.settings.journal_records_warn {
            tracing::warn!(run = %claimed.run, records = journal.len(), "the journal is long and replay grows slow");
        }
        if self.is_closing() {
            claimed.mailbox.push(Message::Stop);
        }
        let seat = LocalSeat {
            run: claimed.run.clone(),
            generation: claimed.generation,
            stream: claimed.stream,
            core: self.clone(),
            mailbox: claimed.mailbox,
            birth: outbox::Birth::of(&journal),
            fence: claimed.fence,
            seq: ExecutorSeq(0),
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
        self.spawn(worker.execute(activation));
    }

    /// Nobody here can execute it after all.
    pub(crate) async fn give_back(&self, claimed: Claimed) {
        let mut commit = self.executor_commit(&claimed);
        commit.status = Some(RunStatus::Queued);
        let _ = self.committer.commit(commit).await;
        self.hot_gone(claimed.stream, &claimed.mailbox);
    }

    async fn park_without_progress(&self, claimed: &Claimed, takeovers: u32, inbox: u64) {
        tracing::error!(run = %claimed.run, takeovers, "a run makes no progress and is paused");
        let message = format!(
            "the run was taken over {takeovers} times without progress, as if its code ended the process each time; it is \
             paused until somebody resumes it"
        );
        let mut commit = self.executor_commit(claimed);
        let reason = Some(Failure::new(ErrorCode::NoProgress, message));
        commit.records.push(Record {
            time: commit.now,
            body: Paused { reason }.into(),
        });
        // What came in meanwhile may ask for something else; it is found by its mark.
        commit.guards.push(Guard::InboxSeen(inbox));
        commit.ready = Some(false);
        commit.status = Some(RunStatus::Paused);
        let _ = self.committer.commit(commit).await;
    }

    fn executor_commit(&self, claimed: &Claimed) -> AppendCommit {
        let executor = Executor {
            fence: claimed.fence,
            seq: ExecutorSeq(1),
            seen: RecordNumber(u64::MAX),
            progress: false,
        };
        let mut commit = AppendCommit::new(claimed.stream, executor, self.runtime.now());
        commit.lease = ExecutorLease::Release;
        commit
    }
}
