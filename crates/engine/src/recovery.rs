//! Picking up work: everything that was left behind at the last end, and whatever a lost hint left lying.

use std::sync::Arc;
use std::time::Duration;

use everstep_model::{ExecutorSeq, RunStatus, StreamName, StreamNumber, limits};
use everstep_store::{
    AppendCommit, Executor, ExecutorLease, Head, Hint, ListQuery, Outcome, ReadyRun, Refusal,
    StoreError, StreamRef,
};
use futures_util::future::{join_all, select};

use crate::activation::Message;
use crate::core::Core;

/// Ready runs read from the store at once.
const PAGE: usize = 1_000;
/// Runs claimed at once.
const CLAIMS_AT_ONCE: usize = 256;
/// How long a run of this node stays without executor before it is taken back: a claim that was just committed has not
/// reached its executor yet.
const LOST_AFTER: Duration = Duration::from_secs(1);

/// What a sweep found.
#[derive(Default)]
pub(crate) struct Swept {
    /// How many runs were claimed.
    claimed: usize,
    /// Runs that are this node's and that nobody here executes.
    lost: Vec<StreamNumber>,
}

impl Core {
    /// Picks up whatever was left behind at the last end.
    pub(crate) async fn recover(self: &Arc<Self>) -> Result<(), StoreError> {
        let recovered = self.sweep().await?.claimed;
        if recovered > 0 {
            tracing::info!(recovered, "runs left behind are being executed again");
        }
        self.retry_diverged().await
    }

    /// Claims every run that has something to do, that nobody executes, and that this node can execute.
    pub(crate) async fn sweep(self: &Arc<Self>) -> Result<Swept, StoreError> {
        let mut after = None;
        let mut swept = Swept::default();
        loop {
            let page = self.store.ready(after, PAGE).await?;
            let Some(last) = page.last() else {
                return Ok(swept);
            };
            after = Some(last.stream);
            let is_last = page.len() < PAGE;
            let mut free = Vec::new();
            for run in page {
                match run.executed_by {
                    None => free.push(run),
                    // Also what nobody here can execute any more: as long as this node holds it, nobody else can.
                    Some(node) if node == self.node && !self.hot.contains(run.stream) => {
                        swept.lost.push(run.stream);
                    }
                    // The hint that its inbox grew may be lost.
                    Some(node) if node == self.node => self.look_at_inbox(run.stream),
                    Some(_) => {}
                }
            }
            for runs in free.chunks(CLAIMS_AT_ONCE) {
                // Asked again each time: those before may have taken the last room.
                let takes = |run: &&ReadyRun| self.has_room(&run.workflow, run.version);
                let claims = runs.iter().filter(takes).map(|run| self.claim(run.stream));
                for outcome in join_all(claims).await {
                    swept.claimed += usize::from(outcome?);
                }
            }
            if is_last || self.is_closing() {
                return Ok(swept);
            }
        }
    }

    /// Has a run that is executed here read on, where others may have written to it.
    fn look_at_inbox(&self, stream: StreamNumber) {
        if !self.store.describe().exclusive {
            self.hot.tell(stream, Message::Grew);
        }
    }

    /// Sweeps, and takes back what this node has lost, for instance while the store was out of reach.
    async fn sweep_all(self: &Arc<Self>) -> Result<usize, StoreError> {
        let mut swept = self.sweep().await?;
        if !swept.lost.is_empty() {
            self.rest(LOST_AFTER).await;
        }
        for streams in swept.lost.chunks(CLAIMS_AT_ONCE) {
            let claims = streams.iter().map(|stream| self.take_back(*stream));
            for outcome in join_all(claims).await {
                swept.claimed += usize::from(outcome?);
            }
        }
        Ok(swept.claimed)
    }

    /// Claims a run anew that this node holds and does not execute, or leaves it to others if nobody here can. The old right is
    /// withdrawn, not released: should an executor have it after all, nothing it sends lands or passes for a repetition.
    async fn take_back(self: &Arc<Self>, stream: StreamNumber) -> Result<bool, StoreError> {
        if self.hot.contains(stream) {
            return Ok(false);
        }
        let Some(head) = self.sound_head(StreamRef::Number(stream)).await? else {
            return Ok(false);
        };
        let is_offered = self.is_offered(&head);
        let is_mine = head.owner.is_some_and(|owner| owner.node == self.node);
        let Some(fence) = head.fence().filter(|_| is_mine && head.ready) else {
            return Ok(false);
        };
        if self.hot.contains(stream) || self.is_closing() {
            return Ok(false);
        }
        let acted = head.frame.epoch == head.epoch;
        let last = if acted {
            head.frame.seq
        } else {
            ExecutorSeq(0)
        };
        let executor = Executor {
            fence,
            seq: last.next(),
            seen: head.next,
            progress: false,
        };
        let mut commit = AppendCommit::new(stream, executor, self.runtime.now());
        commit.lease = ExecutorLease::Revoke;
        commit.ready = Some(true);
        match self.committer.commit(commit).await? {
            Outcome::Committed { .. } if is_offered => self.claim(stream).await,
            Outcome::Committed { .. } => {
                self.bus.publish(Hint::Ready(stream));
                Ok(false)
            }
            Outcome::Refused(Refusal::Unreadable(error)) => {
                self.unreadable(stream, &error);
                Ok(false)
            }
            // Somebody acted in between; if the run is free, the next sweep finds it.
            Outcome::Duplicate { .. } | Outcome::Refused(_) => Ok(false),
        }
    }

    /// Gives parked runs another chance: the code that is registered now may fit their journals.
    pub(crate) async fn retry_diverged(self: &Arc<Self>) -> Result<(), StoreError> {
        let workflows = self.workers.workflows();
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
            let page = self.store.list(query.clone()).await?;
            for row in page.rows {
                let name = StreamName::of_run(&row.id, row.generation);
                let head = self.sound_head(StreamRef::Name(name)).await?;
                if let Some(head) = head
                    && self.worker(&row.workflow, row.version).is_some()
                {
                    self.claim(head.number).await?;
                }
            }
            match page.next {
                Some(next) => query.cursor = Some(next),
                None => return Ok(()),
            }
        }
    }

    /// The head of a run that is to be picked up. One that is damaged is left lying, so that it is in nobody's way.
    async fn sound_head(&self, stream: StreamRef) -> Result<Option<Head>, StoreError> {
        match self.store.head(stream).await {
            Err(error) if error.is_damage() => {
                tracing::error!(%error, "a run cannot be read and is not picked up");
                Ok(None)
            }
            head => head,
        }
    }

    /// The safety net under the hints.
    pub(crate) async fn keep_sweeping(self: Arc<Self>) {
        while !self.is_closing() {
            // What was lost while the store was away is taken back as soon as it returns.
            let rest = std::pin::pin!(self.rest(self.settings.sweep_interval));
            select(rest, std::pin::pin!(self.reach.returned())).await;
            if self.is_closing() {
                return;
            }
            match self.sweep_all().await {
                Ok(0) => {}
                Ok(claimed) => tracing::info!(claimed, "sweeping found runs that nobody executed"),
                Err(error) => tracing::warn!(%error, "sweeping failed"),
            }
        }
    }

    /// Follows a hint from the bus.
    pub(crate) fn follow(self: &Arc<Self>, hint: Hint) {
        match hint {
            Hint::Advanced(stream) => self.watchers.grew(stream, false),
            Hint::Grew(stream) => {
                self.watchers.grew(stream, false);
                self.hot.tell(stream, Message::Grew);
            }
            Hint::Closed(stream) => {
                self.watchers.grew(stream, true);
                self.hot.tell(stream, Message::Grew);
            }
            Hint::Timer(due) => self.timers.hint(due),
            Hint::Outbox(stream) => {
                let core = self.clone();
                self.spawn(Box::pin(async move {
                    if let Err(error) = core.follow_outbox(stream).await {
                        tracing::warn!(%error, %stream, "effects could not be read");
                    }
                }));
            }
            Hint::Ready(stream) => {
                let core = self.clone();
                self.spawn(Box::pin(async move {
                    if let Err(error) = core.claim_if_offered(stream).await {
                        tracing::warn!(%error, %stream, "a ready run could not be claimed");
                    }
                }));
            }
        }
    }

    async fn claim_if_offered(self: &Arc<Self>, stream: StreamNumber) -> Result<(), StoreError> {
        let head = self.sound_head(StreamRef::Number(stream)).await?;
        let Some(head) = head else { return Ok(()) };
        if self.is_offered(&head) && head.ready && !head.closed {
            self.claim(stream).await?;
        }
        Ok(())
    }

    /// Whether somebody here can execute this run now.
    fn is_offered(&self, head: &Head) -> bool {
        let run = head.run.as_ref();
        run.is_some_and(|run| self.has_room(&run.workflow, run.version))
    }
}
