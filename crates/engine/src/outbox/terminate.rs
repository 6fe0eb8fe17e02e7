//! Ending a child at once, as its parent asked: its executor loses the right, and one commit says that it is over, takes
//! its rows away and leaves its own children to their fate.

use std::sync::Arc;

use everstep_machine::{LeftChild, Obsolete, Overview, RollbackView};
use everstep_model::record::{Terminated, TimerPurpose};
use everstep_model::{
    Body, ExecutorSeq, Location, Record, RecordNumber, RunStatus, StepStatus, StreamNumber,
};
use everstep_store::{Author, Commit, Fence, Guard, Head, LeaseChange, Outcome, Refusal, Target};

use super::cause::{Cause, parent_of};
use super::delivery::{Delivery, settled};
use crate::activation::Message;
use crate::core::{Core, Effects};
use crate::error::EngineError;
use crate::projection::obsolete_key;

impl Core {
    /// Ends a run. It is taken first, so that nothing else than requests can come in between.
    pub(super) async fn end_at_once(
        self: &Arc<Self>,
        head: Head,
        by: String,
        reason: String,
    ) -> Result<Delivery, EngineError> {
        let stream = head.number;
        let Some(fence) = self.seize(stream).await? else {
            return Ok(Delivery::Later("somebody else took the run".to_owned()));
        };
        self.hot.tell(stream, Message::Lost, true);
        loop {
            let commit = self.ending(&head, fence, &by, &reason).await?;
            let Some(run) = &head.run else {
                return Ok(Delivery::Done);
            };
            let effects = Effects::of(&run.id, &commit, Vec::new());
            match self.committer.commit(commit).await? {
                // A request came in; it is too late for it.
                Outcome::Refused(Refusal::InboxGrew { .. }) => {}
                outcome @ (Outcome::Committed { .. } | Outcome::Duplicate { .. }) => {
                    self.committed(stream, effects);
                    return Ok(settled(outcome));
                }
                outcome @ Outcome::Refused(_) => return Ok(settled(outcome)),
            }
        }
    }

    /// Withdraws the right to execute the run from whoever has it, and takes it.
    async fn seize(&self, stream: StreamNumber) -> Result<Option<Fence>, EngineError> {
        for lease in [LeaseChange::Revoke, self.take()] {
            let mut commit = Commit::new(Target::Stream(stream), Author::Inbox, self.runtime.now());
            commit.lease = lease;
            commit.ready = Some(true);
            if let Outcome::Committed {
                taken: Some(fence), ..
            } = self.committer.commit(commit).await?
            {
                return Ok(Some(fence));
            }
        }
        Ok(None)
    }

    async fn ending(
        &self,
        head: &Head,
        fence: Fence,
        by: &str,
        reason: &str,
    ) -> Result<Commit, EngineError> {
        let journal = self.read_journal(head.number, RecordNumber(0)).await?;
        let overview = Overview::of(&journal);
        let author = Author::Executor {
            fence,
            seq: ExecutorSeq(1),
            seen: RecordNumber(journal.last().map_or(0, |last| last.number.0 + 1)),
            progress: false,
        };
        let mut commit = Commit::new(Target::Stream(head.number), author, self.runtime.now());
        commit.guards.push(Guard::InboxSeen(inbox_count(&journal)));
        commit.lease = LeaseChange::Release;
        commit.status = Some(RunStatus::Terminated);
        commit.ready = Some(false);
        commit.close = true;
        let end: Body = Terminated {
            by: Some(by.to_owned()),
            reason: Some(reason.to_owned()),
            abandoned: unsettled(&overview),
        }
        .into();
        if let Some(run) = &head.run {
            let parent = parent_of(&journal);
            let cause = Cause {
                stream: head.number,
                run: &run.id,
                generation: run.generation,
                parent: parent.as_ref(),
            };
            commit.put = cause.effects_of_end(&end, &children(&overview));
        }
        let rows = rows_of(&overview).into_iter();
        commit.delete = rows.map(|row| obsolete_key(row, head.number)).collect();
        let time = commit.now;
        commit.records.push(Record { time, body: end });
        Ok(commit)
    }
}

fn inbox_count(journal: &[everstep_model::Entry]) -> u64 {
    let is_inbox = |entry: &&everstep_model::Entry| {
        entry.record.body.origin() == everstep_model::Origin::Inbox
    };
    let present = journal.iter().filter(is_inbox).count() as u64;
    let dropped = journal.iter().map(|entry| match &entry.record.body {
        Body::LoopAdvanced(advanced) => advanced.inbox_dropped,
        _ => 0,
    });
    present + dropped.max().unwrap_or(0)
}

fn unsettled(overview: &Overview) -> Vec<Location> {
    let steps = overview.steps.iter();
    let unsettled =
        steps.filter(|step| matches!(step.status, StepStatus::Running | StepStatus::Retrying));
    unsettled.map(|step| step.location.clone()).collect()
}

fn children(overview: &Overview) -> Vec<LeftChild> {
    let children = overview.children.iter().map(|child| LeftChild {
        location: child.location.clone(),
        run: child.run.clone(),
        on_close: child.on_close,
    });
    children.collect()
}

/// The rows the run has in the store.
fn rows_of(overview: &Overview) -> Vec<Obsolete> {
    let timer = |due, purpose, at: Option<&Location>| Obsolete::Timer(due, purpose, at.cloned());
    let mut rows = Vec::new();
    rows.extend(
        overview
            .deadline
            .map(|due| timer(due, TimerPurpose::Deadline, None)),
    );
    let retry = overview.execution_retry.as_ref();
    rows.extend(retry.map(|retry| timer(retry.retry_at, TimerPurpose::ExecutionRetry, None)));
    for sleep in &overview.sleeps {
        rows.push(timer(
            sleep.until,
            TimerPurpose::Sleep,
            Some(&sleep.location),
        ));
    }
    for wait in &overview.waits {
        let deadline = wait.deadline;
        rows.extend(deadline.map(|due| timer(due, TimerPurpose::Wait, Some(&wait.location))));
    }
    for rpc in &overview.rpcs {
        rows.push(Obsolete::Rpc(rpc.rpc_id.clone()));
        let deadline = rpc.deadline;
        rows.extend(deadline.map(|due| timer(due, TimerPurpose::Rpc, Some(&rpc.location))));
    }
    for child in &overview.children {
        let deadline = child.deadline;
        rows.extend(deadline.map(|due| timer(due, TimerPurpose::Child, Some(&child.location))));
    }
    for step in &overview.steps {
        let retry_at = step.next_retry_at;
        rows.extend(retry_at.map(|due| timer(due, TimerPurpose::Retry, Some(&step.location))));
    }
    if let Some(RollbackView::Retrying { step, retry_at, .. }) = &overview.rollback {
        rows.push(timer(*retry_at, TimerPurpose::Undo, Some(step)));
    }
    rows
}
