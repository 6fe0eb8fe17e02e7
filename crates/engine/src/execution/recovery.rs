//! Recovery of runs: those left by the last process or by dead nodes, and those whose hint was
//! lost.

use std::sync::Arc;
use std::time::Duration;

use everstep_model::{ExecutorSeq, RunStatus, StreamName, StreamNumber, limits};
use everstep_store::{
    AppendCommit, Executor, ExecutorLease, Head, Hint, ListQuery, Outcome, ReadyRun, Refusal,
    StoreError, StreamRef,
};
use futures_util::future::{join_all, select};

use super::dispatch::Dispatcher;
use super::parts::Parts;
use crate::commit::StoreAvailability;
use crate::workers::Message;

/// The number of ready runs read from the store at once.
const PAGE: usize = 1_000;
const CLAIMS_AT_ONCE: usize = 256;
/// How long a run that this node has claimed may be without executor before it is claimed again. A
/// claim that was just committed has not reached its executor yet.
const LOST_AFTER: Duration = Duration::from_secs(1);

pub(crate) struct Recovery {
    pub(crate) parts: Arc<Parts>,
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) availability: Arc<StoreAvailability>,
}

/// The result of a sweep.
#[derive(Default)]
struct Swept {
    /// The number of runs that were claimed.
    claimed: usize,
    /// Runs that this node has claimed and does not execute.
    lost: Vec<StreamNumber>,
}

impl Recovery {
    /// Claims the runs that wait for an executor, and diverged runs that the registered code may
    /// fit.
    pub(crate) async fn recover(&self) -> Result<(), StoreError> {
        let recovered = self.sweep().await?.claimed;
        if recovered > 0 {
            tracing::info!(recovered, "runs recovered");
        }
        self.retry_diverged().await
    }

    /// Recovers runs in the background, because a worker was added or has room again.
    pub(crate) fn recover_in_background(self: &Arc<Self>) {
        let recovery = self.clone();
        self.parts.node.spawn(async move {
            if let Err(error) = recovery.recover().await {
                tracing::warn!(%error, "recovery of runs failed, the next sweep retries it");
            }
        });
    }

    /// Sweeps periodically, in case hints get lost.
    pub(crate) async fn keep_sweeping(self: Arc<Self>) {
        let node = &self.parts.node;
        while !node.is_closing() {
            // Runs that were lost during an outage are claimed again as soon as the store returns.
            let rest = std::pin::pin!(node.rest(node.settings.sweep_interval));
            select(rest, std::pin::pin!(self.availability.recovered())).await;
            if node.is_closing() {
                return;
            }
            match self.sweep_and_take_back().await {
                Ok(0) => {}
                Ok(claimed) => tracing::info!(claimed, "sweep found runs without executor"),
                Err(error) => tracing::warn!(%error, "sweep failed"),
            }
        }
    }

    /// Claims every run that is ready, has no executor, and can be executed by this node.
    async fn sweep(&self) -> Result<Swept, StoreError> {
        let node = &self.parts.node;
        let mut after = None;
        let mut swept = Swept::default();
        loop {
            let page = node.store.ready(after, PAGE).await?;
            let Some(last) = page.last() else {
                return Ok(swept);
            };
            after = Some(last.stream);
            let is_last = page.len() < PAGE;
            let mut free = Vec::new();
            for run in page {
                match run.executed_by {
                    None => free.push(run),
                    Some(id) if id != node.id => {}
                    // Also runs that no worker here executes any more: while this node has claimed
                    // them, no other node can.
                    Some(_) if !self.parts.resident.contains(run.stream) => {
                        swept.lost.push(run.stream);
                    }
                    Some(_) => self.notify_of_inbox(run.stream),
                }
            }
            for runs in free.chunks(CLAIMS_AT_ONCE) {
                // Checked for each chunk, because the last one may have taken the last room.
                let workers = &self.parts.workers;
                let has_room = |run: &&ReadyRun| workers.has_room(&run.workflow, run.version);
                let runs = runs.iter().filter(has_room);
                let claims = runs.map(|run| self.dispatcher.claim(run.stream));
                for outcome in join_all(claims).await {
                    swept.claimed += usize::from(outcome?);
                }
            }
            if is_last || node.is_closing() {
                return Ok(swept);
            }
        }
    }

    /// Makes a run in memory read its inbox, because the hint of another node may be lost.
    fn notify_of_inbox(&self, stream: StreamNumber) {
        if self.parts.node.is_shared {
            self.parts.resident.notify(stream, Message::Grew);
        }
    }

    /// Sweeps, and claims the runs again that this node has lost, for instance during an outage.
    async fn sweep_and_take_back(&self) -> Result<usize, StoreError> {
        let mut swept = self.sweep().await?;
        if !swept.lost.is_empty() {
            self.parts.node.rest(LOST_AFTER).await;
        }
        for streams in swept.lost.chunks(CLAIMS_AT_ONCE) {
            let claims = streams.iter().map(|stream| self.take_back(*stream));
            for outcome in join_all(claims).await {
                swept.claimed += usize::from(outcome?);
            }
        }
        Ok(swept.claimed)
    }

    /// Claims a run again that this node has claimed and does not execute, or leaves it to other
    /// nodes. The old claim is revoked, not released: if an executor has it after all, none of its
    /// appends succeeds or counts as a repetition.
    async fn take_back(&self, stream: StreamNumber) -> Result<bool, StoreError> {
        let Parts { node, resident, .. } = &*self.parts;
        if resident.contains(stream) {
            return Ok(false);
        }
        let Some(head) = self.readable_head(StreamRef::Number(stream)).await? else {
            return Ok(false);
        };
        let has_room = self.has_room_for(&head);
        let is_own = head.owner.is_some_and(|owner| owner.node == node.id);
        let Some(fence) = head.fence().filter(|_| is_own && head.ready) else {
            return Ok(false);
        };
        if resident.contains(stream) || node.is_closing() {
            return Ok(false);
        }
        let last = match head.frame.epoch == head.epoch {
            true => head.frame.seq,
            false => ExecutorSeq(0),
        };
        let executor = Executor {
            fence,
            seq: last.next(),
            seen: head.next,
            progress: false,
        };
        let mut commit = AppendCommit::new(stream, executor, node.now());
        commit.lease = ExecutorLease::Revoke;
        commit.ready = Some(true);
        match self.parts.committer.commit(commit).await? {
            Outcome::Committed { .. } if has_room => self.dispatcher.claim(stream).await,
            Outcome::Committed { .. } => {
                node.bus.publish(Hint::Ready(stream));
                Ok(false)
            }
            Outcome::Refused(Refusal::Unreadable(error)) => {
                self.parts.watchers.unreadable(stream, &error);
                Ok(false)
            }
            // The run changed concurrently. If it is free, the next sweep finds it.
            Outcome::Duplicate { .. } | Outcome::Refused(_) => Ok(false),
        }
    }

    async fn retry_diverged(&self) -> Result<(), StoreError> {
        let workers = &self.parts.workers;
        let workflows = workers.offered();
        if workflows.is_empty() {
            return Ok(());
        }
        let mut query = ListQuery {
            workflows,
            statuses: vec![RunStatus::Diverged],
            limit: limits::LIST_PAGE_MAX,
            ..ListQuery::default()
        };
        loop {
            let page = self.parts.node.list(query.clone()).await?;
            for row in page.rows {
                let name = StreamName::of_run(&row.id, row.generation);
                let head = self.readable_head(StreamRef::Name(name)).await?;
                if let Some(head) = head
                    && workers.executor(&row.workflow, row.version).is_some()
                {
                    self.dispatcher.claim(head.number).await?;
                }
            }
            match page.next {
                Some(next) => query.cursor = Some(next),
                None => return Ok(()),
            }
        }
    }

    /// Returns the head of a run. A damaged run is skipped, so that it does not prevent the
    /// recovery of others.
    async fn readable_head(&self, stream: StreamRef) -> Result<Option<Head>, StoreError> {
        match self.parts.node.store.head(stream).await {
            Err(error) if error.is_damage() => {
                tracing::error!(%error, "cannot read a run, not recovering it");
                Ok(None)
            }
            head => head,
        }
    }

    /// Claims a run that another node reports as ready, if this node has room for it.
    pub(crate) async fn claim_ready(&self, stream: StreamNumber) -> Result<(), StoreError> {
        let head = self.readable_head(StreamRef::Number(stream)).await?;
        let Some(head) = head else { return Ok(()) };
        if self.has_room_for(&head) && head.ready && !head.closed {
            self.dispatcher.claim(stream).await?;
        }
        Ok(())
    }

    fn has_room_for(&self, head: &Head) -> bool {
        let run = head.run.as_ref();
        run.is_some_and(|run| self.parts.workers.has_room(&run.workflow, run.version))
    }
}
