//! What all parts of an engine share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use everstep_model::{Entry, Name, NodeId, Nonce, RecordNumber, StreamNumber};
use everstep_store::{Bus, Claim, ReadRequest, RunRow, Store, StoreError};

use tokio::sync::{Notify, OnceCell};

use crate::activation::Worker;
use crate::catalog::Catalog;
use crate::committer::Committer;
use crate::effects::Effects;
use crate::endings::EndingsSource;
use crate::error::Unavailable;
use crate::failures::Failures;
use crate::hot::HotRuns;
use crate::outbox::Outbox;
use crate::reach::Reach;
use crate::roles::Role;
use crate::runtime::Runtime;
use crate::settings::Settings;
use crate::stats::Counters;
use crate::streams::StreamsState;
use crate::tasks::Tasks;
use crate::timer_queue::TimerQueue;
use crate::watch::Watchers;
use crate::workers::Workers;

/// Records read from the store at once.
const READ_PAGE: usize = 10_000;
/// Records of a journal for which memory is taken before they are read: much of it may have been dropped by loops.
const RESERVED_MAX: usize = 500_000;

pub(crate) struct Core {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) bus: Arc<dyn Bus>,
    pub(crate) runtime: Arc<dyn Runtime>,
    pub(crate) settings: Settings,
    pub(crate) node: NodeId,
    /// Under which names its commits are sent; the first is its own.
    pub(crate) senders: Vec<NodeId>,
    pub(crate) workers: Workers,
    pub(crate) catalog: Catalog,
    pub(crate) committer: Committer,
    pub(crate) hot: HotRuns,
    pub(crate) timers: TimerQueue,
    pub(crate) outbox: Outbox,
    pub(crate) watchers: Arc<Watchers>,
    pub(crate) reach: Arc<Reach>,
    pub(crate) streams: StreamsState,
    pub(crate) failures: Failures,
    pub(crate) endings: EndingsSource,
    pub(crate) counters: Counters,
    pub(crate) closing: AtomicBool,
    pub(crate) stopping: Notify,
    pub(crate) ended: OnceCell<()>,
    pub(crate) tasks: Arc<Tasks>,
}

impl Drop for Core {
    /// When every handle and task is gone, so is the last one who could commit anything.
    fn drop(&mut self) {
        self.committer.close();
    }
}

impl Core {
    /// A user's stream has more messages, is closed or is gone.
    pub(crate) fn news_of(&self, stream: StreamNumber, closed: bool) {
        self.committed(stream, Effects::of_stream(Vec::new(), closed));
    }

    /// A run cannot be read. It stays as it is; whoever waits for it looks again and hears why.
    pub(crate) fn unreadable(&self, stream: StreamNumber, error: &StoreError) {
        tracing::error!(%stream, %error, "a run cannot be read and stands still");
        self.watchers.grew(stream, true);
    }

    /// Whether this node does this part of the work.
    pub(crate) fn is(&self, role: Role) -> bool {
        self.settings.roles.has(role)
    }

    /// The worker for a workflow and version, if one is here and may execute.
    pub(crate) fn worker(&self, workflow: &Name, version: u32) -> Option<Arc<dyn Worker>> {
        let found = self.is(Role::Worker).then_some(&self.workers)?;
        found.find(workflow, version)
    }

    /// Whether a run of this workflow is taken for this node: somebody here executes it, and has room for one more.
    pub(crate) fn has_room(&self, workflow: &Name, version: u32) -> bool {
        let worker = self.worker(workflow, version);
        worker.is_some_and(|worker| !worker.is_full())
    }

    /// Whether a run is taken for this node with what comes for it. One in memory goes on where it is, room or not.
    pub(crate) fn takes(&self, stream: StreamNumber, run: &RunRow) -> bool {
        let worker = self.worker(&run.workflow, run.version);
        worker.is_some_and(|worker| !worker.is_full() || self.hot.contains(stream))
    }

    /// The newest version of a workflow offered here, or else the newest that workers have told of.
    pub(crate) fn newest_version(&self, workflow: &Name) -> Option<u32> {
        let offered = self.workers.newest(workflow);
        offered.or_else(|| self.catalog.newest(workflow))
    }

    /// Takes the run for this node with the commit, if nobody alive has it.
    pub(crate) fn take(&self) -> Claim {
        Claim {
            node: self.node,
            nonce: Nonce(self.runtime.random()),
        }
    }

    /// Refuses requests that nothing could come of.
    pub(crate) fn check_open(&self) -> Result<(), Unavailable> {
        if self.is_closing() {
            return Err(Unavailable::ShuttingDown);
        }
        Ok(self.reach.check()?)
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// About so many records from a number on.
    pub(crate) async fn read_page(
        &self,
        stream: StreamNumber,
        from: RecordNumber,
        limit: usize,
    ) -> Result<Vec<Entry>, StoreError> {
        let request = ReadRequest {
            stream,
            from,
            limit,
            bytes: usize::MAX,
        };
        let page = self.store.read(request).await?;
        Ok(page.map(|page| page.entries).unwrap_or_default())
    }

    /// A whole journal from a record on.
    pub(crate) async fn read_journal(
        &self,
        stream: StreamNumber,
        from: RecordNumber,
    ) -> Result<Vec<Entry>, StoreError> {
        let mut entries = Vec::new();
        let mut from = from;
        loop {
            let request = ReadRequest {
                stream,
                from,
                limit: READ_PAGE,
                bytes: usize::MAX,
            };
            let Some(page) = self.store.read(request).await? else {
                return Ok(entries);
            };
            let Some(last) = page.entries.last() else {
                return Ok(entries);
            };
            from = last.number.plus(1);
            let at_end = from >= page.end;
            if entries.is_empty() {
                entries = page.entries;
                if !at_end {
                    // Growing bit by bit would copy a long journal over and over.
                    let left = page.end.0.saturating_sub(from.0);
                    let left = usize::try_from(left).unwrap_or(usize::MAX);
                    entries.reserve_exact(left.min(RESERVED_MAX));
                }
            } else {
                entries.extend(page.entries);
            }
            if at_end {
                if entries.capacity() > 2 * entries.len() {
                    entries.shrink_to_fit();
                }
                return Ok(entries);
            }
        }
    }
}
