//! Side effects of a durable commit on this node and on others: timers, watchers, failure hooks,
//! outbox, hints.

use std::sync::Arc;

use everstep_model::{Body, RunId, RunStatus, StreamNumber};
use everstep_store::{Commit, Hint, OutboxRow, Row, TimerRow};
use tokio::sync::broadcast;
use tracing::Level;

use crate::node::Node;
use crate::observers::{Emission, Ending, FailureEvent, FailureHooks, Watchers};
use crate::stats::{Counters, Tally};

/// The numbers of items that are kept for slow subscribers.
const EMISSIONS_BUFFERED: usize = 1_024;
const ENDINGS_BUFFERED: usize = 16_384;

/// Everything that must happen after a commit has become durable.
#[derive(Default)]
pub(crate) struct PostCommit {
    /// Boxed because most commits (steps) have none of these.
    rare: Option<Box<RareEffects>>,
    /// Whether the executor of the run wrote the commit, or the stream has no executor.
    known_to_executor: bool,
    stream_closed: bool,
    run_ended: bool,
    tally: Tally,
}

#[derive(Default)]
struct RareEffects {
    timers: Vec<TimerRow>,
    emissions: Vec<Emission>,
    failures: Vec<FailureEvent>,
    outbox: Vec<OutboxRow>,
    /// The final status of the run, for the log.
    ended: Option<(RunId, RunStatus)>,
}

impl PostCommit {
    /// Returns the effects of a commit to a run.
    pub(crate) fn of_run(run: &RunId, commit: &Commit, timers: Vec<TimerRow>) -> Self {
        let mut effects = Self {
            known_to_executor: matches!(commit, Commit::Append(_)),
            stream_closed: commit.closes(),
            run_ended: commit.closes(),
            ..Self::of_copy(commit, timers)
        };
        if effects.run_ended && tracing::enabled!(Level::INFO) {
            let mut records = commit.records().iter().rev();
            let status = records.find_map(|record| record.body.terminal());
            effects.rare().ended = status.map(|status| (run.clone(), status));
        }
        for record in commit.records() {
            effects.tally.add(&record.body);
            if let Body::Emitted(emitted) = &record.body {
                effects.rare().emissions.push(Emission {
                    run: run.clone(),
                    topic: emitted.topic.clone(),
                    payload: emitted.payload.clone(),
                });
            }
            if let Some(failure) = FailureEvent::of(run, record) {
                effects.rare().failures.push(failure);
            }
        }
        effects
    }

    /// Returns the effects of a commit to a user's stream.
    pub(crate) fn of_stream(timers: Vec<TimerRow>, closed: bool) -> Self {
        Self {
            known_to_executor: true,
            stream_closed: closed,
            ..Self::of_timers(timers)
        }
    }

    /// Returns the effects of a commit that copies records. Their emissions and failures were
    /// reported before.
    pub(crate) fn of_copy(commit: &Commit, timers: Vec<TimerRow>) -> Self {
        let mut effects = Self::of_timers(timers);
        for row in &commit.rows().put {
            if let Row::Outbox(row) = row {
                effects.rare().outbox.push(row.clone());
            }
        }
        effects
    }

    fn of_timers(timers: Vec<TimerRow>) -> Self {
        let mut effects = Self::default();
        if !timers.is_empty() {
            effects.rare().timers = timers;
        }
        effects
    }

    fn rare(&mut self) -> &mut RareEffects {
        self.rare.get_or_insert_default()
    }

    /// Returns the hint for other nodes. The steps of an executor must not make it read its own
    /// journal.
    fn hint(&self, stream: StreamNumber) -> Hint {
        match (self.stream_closed, self.known_to_executor) {
            (true, _) => Hint::Closed(stream),
            (false, true) => Hint::Advanced(stream),
            (false, false) => Hint::Grew(stream),
        }
    }
}

/// Receives the timers that commits of this node set.
pub(crate) trait TimerSink: Send + Sync {
    fn timer_set(&self, timer: TimerRow);
}

/// Receives effects of one run on another for delivery.
pub(crate) trait OutboxSink: Send + Sync {
    /// Adds rows that a commit of this node has written.
    fn written(&self, rows: Vec<OutboxRow>);

    /// Adds rows that were read from the store.
    fn found(&self, rows: Vec<OutboxRow>);
}

/// Applies the effects of durable commits.
pub(crate) struct PostCommitSink {
    node: Arc<Node>,
    watchers: Arc<Watchers>,
    pub(crate) emissions: broadcast::Sender<Emission>,
    pub(crate) endings: broadcast::Sender<Ending>,
    pub(crate) failures: FailureHooks,
    pub(crate) counters: Counters,
    timers: Arc<dyn TimerSink>,
    pub(crate) outbox: Arc<dyn OutboxSink>,
}

impl PostCommitSink {
    pub(crate) fn new(
        node: Arc<Node>,
        watchers: Arc<Watchers>,
        failures: FailureHooks,
        timers: Arc<dyn TimerSink>,
        outbox: Arc<dyn OutboxSink>,
    ) -> Self {
        Self {
            node,
            watchers,
            emissions: broadcast::Sender::new(EMISSIONS_BUFFERED),
            endings: broadcast::Sender::new(ENDINGS_BUFFERED),
            failures,
            counters: Counters::default(),
            timers,
            outbox,
        }
    }

    pub(crate) fn apply(&self, stream: StreamNumber, effects: PostCommit) {
        let hint = effects.hint(stream);
        let outbox = effects.rare.map(|rare| self.apply_rare(stream, *rare));
        self.counters.add(effects.tally);
        self.watchers.grew(stream, effects.stream_closed);
        if effects.run_ended {
            // Sending fails if there are no subscribers.
            let _ = self.endings.send(Ending(stream));
        }
        if let Some(rows) = outbox.filter(|rows| !rows.is_empty()) {
            self.outbox.written(rows);
        }
        self.node.hint_others(hint);
    }

    /// Applies rare effects, except that outbox rows are returned. Rows of a new stream get its
    /// number.
    fn apply_rare(&self, stream: StreamNumber, rare: RareEffects) -> Vec<OutboxRow> {
        for mut timer in rare.timers {
            timer.stream = stream;
            let due = timer.due;
            self.timers.timer_set(timer);
            self.node.hint_others(Hint::Timer(due));
        }
        if let Some((run, status)) = rare.ended {
            tracing::info!(%run, %status, "run ended");
        }
        for emission in rare.emissions {
            let _ = self.emissions.send(emission);
        }
        for failure in rare.failures {
            self.failures.report(failure);
        }
        let own = |row| OutboxRow { stream, ..row };
        rare.outbox.into_iter().map(own).collect()
    }

    /// Applies the effects of a commit to a user's stream that sets no timers.
    pub(crate) fn stream_changed(&self, stream: StreamNumber, closed: bool) {
        self.apply(stream, PostCommit::of_stream(Vec::new(), closed));
    }
}
