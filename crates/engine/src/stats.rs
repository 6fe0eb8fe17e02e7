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
pub struct Stats {
    /// Runs created by this engine.
    pub runs_started: u64,
    /// Runs that ended on this engine, by final status.
    pub runs_ended: [(RunStatus, u64); 5],
    /// Completed steps.
    pub steps_completed: u64,
    /// Failed attempts of steps.
    pub step_failures: u64,
    /// Undone steps and children.
    pub undos_completed: u64,
    /// Received events.
    pub events: u64,
    /// Fired timers.
    pub timers_fired: u64,
    /// Runs in memory.
    pub hot_runs: usize,
    /// Timers in memory, which are those of the near future.
    pub timers_near: usize,
}

/// What one commit adds to the counters.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    started: u32,
    ended: Option<RunStatus>,
    steps_completed: u32,
    step_failures: u32,
    undos_completed: u32,
    events: u32,
    timers_fired: u32,
}

impl Tally {
    pub(crate) fn add(&mut self, body: &Body) {
        match body {
            Body::Created(_) => self.started += 1,
            Body::StepCompleted(_) => self.steps_completed += 1,
            Body::StepFailed(_) => self.step_failures += 1,
            Body::UndoCompleted(_) => self.undos_completed += 1,
            Body::Event(_) => self.events += 1,
            Body::TimerFired(_) => self.timers_fired += 1,
            body => self.ended = self.ended.or(body.terminal()),
        }
    }
}

#[derive(Default)]
pub(crate) struct Counters {
    started: AtomicU64,
    ended: [AtomicU64; 5],
    steps_completed: AtomicU64,
    step_failures: AtomicU64,
    undos_completed: AtomicU64,
    events: AtomicU64,
    timers_fired: AtomicU64,
}

impl Counters {
    pub(crate) fn add(&self, tally: Tally) {
        let add = |to: &AtomicU64, more: u32| {
            if more > 0 {
                to.fetch_add(more.into(), Ordering::Relaxed);
            }
        };
        add(&self.started, tally.started);
        add(&self.steps_completed, tally.steps_completed);
        add(&self.step_failures, tally.step_failures);
        add(&self.undos_completed, tally.undos_completed);
        add(&self.events, tally.events);
        add(&self.timers_fired, tally.timers_fired);
        if let Some(status) = tally.ended {
            let ends = ENDS.iter().zip(&self.ended);
            for (_, count) in ends.filter(|(end, _)| **end == status) {
                add(count, 1);
            }
        }
    }

    pub(crate) fn stats(&self, hot_runs: usize, timers_near: usize) -> Stats {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let mut runs_ended = ENDS.map(|status| (status, 0));
        for ((_, count), counted) in runs_ended.iter_mut().zip(&self.ended) {
            *count = read(counted);
        }
        Stats {
            runs_started: read(&self.started),
            runs_ended,
            steps_completed: read(&self.steps_completed),
            step_failures: read(&self.step_failures),
            undos_completed: read(&self.undos_completed),
            events: read(&self.events),
            timers_fired: read(&self.timers_fired),
            hot_runs,
            timers_near,
        }
    }
}
