//! What all parts of an engine share, and what happens after every commit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use everstep_model::{Body, Entry, Name, NodeId, Nonce, RecordNumber, RunId, StreamNumber};
use everstep_store::{
    Author, Bus, Commit, Hint, LeaseChange, OutboxRow, ReadRequest, Row, RunRow, Store, StoreError,
    TimerRow,
};

use tokio::sync::{Notify, OnceCell};

use crate::activation::Worker;
use crate::catalog::Catalog;
use crate::committer::Committer;
use crate::endings::EndingsSource;
use crate::error::EngineError;
use crate::failures::{FailureEvent, Failures};
use crate::hot::HotRuns;
use crate::outbox::Outbox;
use crate::reach::Reach;
use crate::roles::Role;
use crate::runtime::Runtime;
use crate::settings::Settings;
use crate::stats::{Counters, Tally};
use crate::streams::StreamsState;
use crate::tasks::Tasks;
use crate::timer_queue::TimerQueue;
use crate::watch::{Emission, Watchers};
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

/// What else follows from a commit once it is durable.
#[derive(Default)]
pub(crate) struct Effects {
    timers: Vec<TimerRow>,
    emissions: Vec<Emission>,
    failures: Vec<FailureEvent>,
    outbox: Vec<OutboxRow>,
    /// Whether whoever executes the run has written it, or nobody executes this stream at all.
    known_to_executor: bool,
    /// Whether the stream takes no more.
    closed: bool,
    /// Whether a run is over with it.
    ended: bool,
    tally: Tally,
}

impl Effects {
    pub(crate) fn of(run: &RunId, commit: &Commit, timers: Vec<TimerRow>) -> Self {
        let emitted = commit
            .records
            .iter()
            .filter_map(|record| match &record.body {
                Body::Emitted(emitted) => Some(Emission {
                    run: run.clone(),
                    topic: emitted.topic.clone(),
                    payload: emitted.payload.clone(),
                }),
                _ => None,
            });
        Self {
            timers,
            emissions: emitted.collect(),
            failures: commit
                .records
                .iter()
                .filter_map(|record| FailureEvent::of(run, record))
                .collect(),
            outbox: caused_by(commit),
            known_to_executor: matches!(commit.author, Author::Executor { .. }),
            closed: commit.close,
            ended: commit.close,
            tally: Tally::of(&commit.records),
        }
    }

    /// Those of a commit about a user's stream.
    pub(crate) fn of_stream(timers: Vec<TimerRow>, closed: bool) -> Self {
        Self {
            timers,
            known_to_executor: true,
            closed,
            ..Self::default()
        }
    }

    /// Those of a commit that copies records: what they told was told before.
    pub(crate) fn of_copy(commit: &Commit, timers: Vec<TimerRow>) -> Self {
        Self {
            timers,
            emissions: Vec::new(),
            failures: Vec::new(),
            outbox: caused_by(commit),
            known_to_executor: false,
            closed: false,
            ended: false,
            tally: Tally::default(),
        }
    }
}

impl Effects {
    /// What other nodes are told. An executor's own steps must not send it to read its journal.
    fn hint(&self, stream: StreamNumber) -> Hint {
        match (self.closed, self.known_to_executor) {
            (true, _) => Hint::Closed(stream),
            (false, true) => Hint::Advanced(stream),
            (false, false) => Hint::Grew(stream),
        }
    }
}

/// The effects on other runs that a commit brings about.
fn caused_by(commit: &Commit) -> Vec<OutboxRow> {
    let caused = commit.put.iter().filter_map(|row| match row {
        Row::Outbox(row) => Some(row.clone()),
        Row::Timer(_)
        | Row::Rpc(_)
        | Row::Idempotency(_)
        | Row::Generation(_)
        | Row::Stream(_)
        | Row::Producer(_) => None,
    });
    caused.collect()
}

impl Drop for Core {
    /// When every handle and task is gone, so is the last one who could commit anything.
    fn drop(&mut self) {
        self.committer.close();
    }
}

impl Core {
    /// The engine's own books after a commit: timers, watchers, subscribers, effects on other runs, other nodes.
    pub(crate) fn committed(&self, stream: StreamNumber, effects: Effects) {
        let hint = effects.hint(stream);
        for mut timer in effects.timers {
            timer.stream = stream;
            let due = timer.due;
            self.timers.add(timer);
            if !self.store.describe().exclusive {
                self.bus.publish(Hint::Timer(due));
            }
        }
        for emission in effects.emissions {
            self.watchers.emit(emission);
        }
        for failure in effects.failures {
            self.failures.report(failure);
        }
        self.counters.add(effects.tally);
        self.watchers.grew(stream, effects.closed);
        if effects.ended {
            self.endings.tell(stream);
        }
        let own = |row| OutboxRow { stream, ..row };
        let caused = effects.outbox.into_iter().map(own);
        self.outbox.caused(caused.collect());
        if !self.store.describe().exclusive {
            self.bus.publish(hint);
        }
    }

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
    pub(crate) fn take(&self) -> LeaseChange {
        LeaseChange::TakeIfFree {
            node: self.node,
            nonce: Nonce(self.runtime.random()),
        }
    }

    /// Refuses requests that nothing could come of.
    pub(crate) fn check_open(&self) -> Result<(), EngineError> {
        if self.is_closing() {
            return Err(EngineError::ShuttingDown);
        }
        self.reach.check()
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
