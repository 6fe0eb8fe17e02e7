//! Counters of an engine since it was opened, for monitoring.
//!
//! Counters change after a commit is durable, on the thread of the committer, so they need no lock
//! and have no contention.

use std::sync::atomic::{AtomicU64, Ordering};

use everstep_model::{Body, RunStatus};

/// The final statuses, in the order of their counters.
const ENDS: [RunStatus; 5] = [
    RunStatus::Completed,
    RunStatus::Failed,
    RunStatus::RollbackFailed,
    RunStatus::Cancelled,
    RunStatus::Terminated,
];

/// Counters since the engine was opened, and current sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "plain data")]
pub struct Stats {
    pub runs_started: u64,
    /// Runs that ended on this engine, by final status.
    pub runs_ended: [(RunStatus, u64); 5],
    pub steps_completed: u64,
    /// Failed attempts of steps.
    pub step_failures: u64,
    /// Undone steps and children.
    pub undos_completed: u64,
    /// Received events.
    pub events: u64,
    pub timers_fired: u64,
    /// Runs in memory.
    pub hot_runs: usize,
    /// Timers in memory, which are those of the near future.
    pub timers_near: usize,
}

/// Created runs, completed steps, failed attempts of steps, undos, events, and fired timers.
type Counts<T> = [T; 6];

/// What one commit adds to the counters.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    counts: Counts<u32>,
    ended: Option<RunStatus>,
}

impl Tally {
    pub(crate) fn add(&mut self, body: &Body) {
        let [runs, steps, step_failures, undos, events, timers] = &mut self.counts;
        match body {
            Body::Created(_) => *runs += 1,
            Body::StepCompleted(_) => *steps += 1,
            Body::StepFailed(_) => *step_failures += 1,
            Body::UndoCompleted(_) => *undos += 1,
            Body::Event(_) => *events += 1,
            Body::TimerFired(_) => *timers += 1,
            body => self.ended = self.ended.or(body.terminal()),
        }
    }
}

#[derive(Default)]
pub(crate) struct Counters {
    counts: Counts<AtomicU64>,
    ended: [AtomicU64; 5],
}

impl Counters {
    pub(crate) fn add(&self, tally: Tally) {
        for (counter, count) in self.counts.iter().zip(tally.counts) {
            if count > 0 {
                counter.fetch_add(count.into(), Ordering::Relaxed);
            }
        }
        if let Some(status) = tally.ended
            && let Some((_, counter)) = ENDS
                .iter()
                .zip(&self.ended)
                .find(|(end, _)| **end == status)
        {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn stats(&self, hot_runs: usize, timers_near: usize) -> Stats {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let mut runs_ended = ENDS.map(|status| (status, 0));
        for ((_, count), counter) in runs_ended.iter_mut().zip(&self.ended) {
            *count = read(counter);
        }
        let counts = self.counts.each_ref().map(read);
        let [
            runs_started,
            steps_completed,
            step_failures,
            undos_completed,
            events,
            timers_fired,
        ] = counts;
        Stats {
            runs_started,
            runs_ended,
            steps_completed,
            step_failures,
            undos_completed,
            events,
            timers_fired,
            hot_runs,
            timers_near,
        }
    }
}
