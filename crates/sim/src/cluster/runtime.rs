//! The runtime of one process: a clock that may be wrong, random numbers, and tasks that end with
//! the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use everstep_engine::Runtime;
use everstep_engine::simulation::Rng;
use everstep_model::Timestamp;
use everstep_store::{BoxFuture, Clock, Store};

use super::clock::true_time;
use super::process::Process;
use crate::executor::{Executor, Group};

/// Time, random numbers and tasks of one process. It is not a `VirtualRuntime` because its tasks
/// run on the executor of the simulation, which chooses their order.
pub(super) struct NodeRuntime {
    executor: Executor,
    group: Group,
    /// The error of the clock in milliseconds; shared by all processes of a machine.
    offset: Arc<AtomicI64>,
    /// The largest error that the clock has shown, in milliseconds.
    ahead: Arc<AtomicI64>,
    draws: AtomicU64,
}

impl NodeRuntime {
    pub(super) fn new(executor: Executor, process: &Process, seed: u64) -> Self {
        Self {
            executor,
            group: process.group,
            offset: process.offset.clone(),
            ahead: process.ahead.clone(),
            draws: AtomicU64::new(seed),
        }
    }
}

impl Clock for NodeRuntime {
    fn now(&self) -> Timestamp {
        let offset = self.offset.load(Ordering::Relaxed);
        let time = true_time(self.executor.now()).as_millis();
        let time = time.saturating_add_signed(offset);
        self.ahead.fetch_max(offset, Ordering::Relaxed);
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

    fn spawn_committer(&self, task: BoxFuture<'static, ()>, _: &dyn Store) {
        self.spawn(task);
    }
}
