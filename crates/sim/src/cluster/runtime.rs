//! What one process of the cluster has of the world: a clock that may be wrong, randomness, tasks that die with it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use everstep_engine::Runtime;
use everstep_model::Timestamp;
use everstep_store::{BoxFuture, Clock};

use super::machine::Process;
use crate::executor::{Executor, Group};
use crate::rng::Rng;

/// When simulations begin: 2026-01-01 UTC.
const BEGINNING_MILLIS: u64 = 1_767_225_600_000;

/// The time of a moment of the simulation.
#[must_use]
pub fn true_time(micros: u64) -> Timestamp {
    Timestamp::from_millis(BEGINNING_MILLIS + micros / 1_000)
}

/// The clock that is right: the store's.
pub(super) struct TrueClock(pub Executor);

impl Clock for TrueClock {
    fn now(&self) -> Timestamp {
        true_time(self.0.now())
    }
}

/// Time, randomness and tasks of one process.
pub(super) struct NodeRuntime {
    executor: Executor,
    group: Group,
    /// How wrong its clock is, in milliseconds; shared by all processes of one machine.
    offset: Arc<AtomicI64>,
    /// The latest time it has shown, in milliseconds.
    shown: Arc<AtomicU64>,
    draws: AtomicU64,
}

impl NodeRuntime {
    /// The runtime of a process.
    #[must_use]
    pub(super) fn new(executor: Executor, process: &Process, seed: u64) -> Self {
        Self {
            executor,
            group: process.group,
            offset: process.offset.clone(),
            shown: process.shown.clone(),
            draws: AtomicU64::new(seed),
        }
    }
}

impl Clock for NodeRuntime {
    fn now(&self) -> Timestamp {
        let offset = self.offset.load(Ordering::Relaxed);
        let time = true_time(self.executor.now()).as_millis();
        let time = time.saturating_add_signed(offset);
        self.shown.fetch_max(time, Ordering::Relaxed);
        Timestamp::from_millis(time)
    }
}

impl Runtime for NodeRuntime {
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(self.executor.sleep(duration))
    }

    fn random(&self) -> u64 {
        let draw = self.draws.fetch_add(1, Ordering::Relaxed);
        Rng::new(draw, 3).number()
    }

    fn elapsed(&self) -> Duration {
        Duration::from_micros(self.executor.now())
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        self.executor.spawn(self.group, task);
    }

    fn spawn_committer(&self, task: BoxFuture<'static, ()>) {
        self.spawn(task);
    }
}
