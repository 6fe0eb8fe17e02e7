//! What else follows from a commit once it is durable: the engine's own books, and those who are told.

use everstep_model::{Body, RunId, StreamNumber};
use everstep_store::{Commit, Hint, OutboxRow, Row, TimerRow};

use crate::core::Core;
use crate::failures::FailureEvent;
use crate::stats::Tally;
use crate::watch::Emission;

/// What else follows from a commit once it is durable.
#[derive(Default)]
pub(crate) struct Effects {
    /// None for most commits, which are those of steps: they come to be and travel with every one.
    rare: Option<Box<Rare>>,
    /// Whether whoever executes the run has written it, or nobody executes this stream at all.
    known_to_executor: bool,
    /// Whether the stream takes no more.
    closed: bool,
    /// Whether a run is over with it.
    ended: bool,
    tally: Tally,
}

/// What follows from some commits only.
#[derive(Default)]
struct Rare {
    timers: Vec<TimerRow>,
    emissions: Vec<Emission>,
    failures: Vec<FailureEvent>,
    outbox: Vec<OutboxRow>,
}

impl Effects {
    pub(crate) fn of(run: &RunId, commit: &Commit, timers: Vec<TimerRow>) -> Self {
        let mut effects = Self {
            known_to_executor: matches!(commit, Commit::Append(_)),
            closed: commit.closes(),
            ended: commit.closes(),
            ..Self::of_copy(commit, timers)
        };
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

    /// Those of a commit about a user's stream.
    pub(crate) fn of_stream(timers: Vec<TimerRow>, closed: bool) -> Self {
        Self {
            known_to_executor: true,
            closed,
            ..Self::setting(timers)
        }
    }

    /// Those of a commit that copies records: what they told was told before.
    pub(crate) fn of_copy(commit: &Commit, timers: Vec<TimerRow>) -> Self {
        let mut effects = Self::setting(timers);
        for row in &commit.rows().put {
            match row {
                Row::Outbox(row) => effects.rare().outbox.push(row.clone()),
                Row::Timer(_)
                | Row::Rpc(_)
                | Row::Idempotency(_)
                | Row::Generation(_)
                | Row::Stream(_)
                | Row::Producer(_)
                | Row::Shared(_) => {}
            }
        }
        effects
    }

    fn setting(timers: Vec<TimerRow>) -> Self {
        let mut effects = Self::default();
        if !timers.is_empty() {
            effects.rare().timers = timers;
        }
        effects
    }

    fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// What other nodes are told. An executor's own steps must not send it to read its journal.
    fn hint(&self, stream: StreamNumber) -> Hint {
        match (self.closed, self.known_to_executor) {
            (true, _) => Hint::Closed(stream),
            (false, true) => Hint::Advanced(stream),
            (false, false) => Hint::Grew(stream),
        }
    }
}

impl Core {
    /// The engine's own books after a commit: timers, watchers, subscribers, effects on other runs, other nodes.
    pub(crate) fn committed(&self, stream: StreamNumber, effects: Effects) {
        let hint = effects.hint(stream);
        let outbox = effects.rare.map(|rare| self.tell_rare(stream, *rare));
        self.counters.add(effects.tally);
        self.watchers.grew(stream, effects.closed);
        if effects.ended {
            self.endings.tell(stream);
        }
        if let Some(outbox) = outbox {
            let own = |row| OutboxRow { stream, ..row };
            self.outbox.caused(outbox.into_iter().map(own).collect());
        }
        if !self.store.describe().exclusive {
            self.bus.publish(hint);
        }
    }

    /// Sets timers, and tells of emissions and failures. What is left are effects on other runs.
    fn tell_rare(&self, stream: StreamNumber, rare: Rare) -> Vec<OutboxRow> {
        for mut timer in rare.timers {
            timer.stream = stream;
            let due = timer.due;
            self.timers.add(timer);
            if !self.store.describe().exclusive {
                self.bus.publish(Hint::Timer(due));
            }
        }
        for emission in rare.emissions {
            self.watchers.emit(emission);
        }
        for failure in rare.failures {
            self.failures.report(failure);
        }
        rare.outbox
    }
}
