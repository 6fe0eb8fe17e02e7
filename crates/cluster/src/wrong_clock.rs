//! The runtime of a node: tokio's, with an offset added to the clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use everstep_engine::{Runtime, TokioRuntime};
use everstep_model::Timestamp;
use everstep_store::{BoxFuture, Clock, Store};

/// The offset of this process's clock in milliseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClockError(Arc<AtomicI64>);

impl ClockError {
    pub(crate) fn set(&self, millis: i64) {
        self.0.store(millis, Ordering::Relaxed);
    }
}

pub(crate) struct WrongClock {
    pub(crate) inner: TokioRuntime,
    pub(crate) error: ClockError,
}

impl Clock for WrongClock {
    fn now(&self) -> Timestamp {
        let error = self.error.0.load(Ordering::Relaxed);
        let now = self.inner.now().as_millis();
        Timestamp::from_millis(now.saturating_add_signed(error))
    }
}

impl Runtime for WrongClock {
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.inner.sleep(duration)
    }

    fn random(&self) -> u64 {
        self.inner.random()
    }

    fn elapsed(&self) -> Duration {
        self.inner.elapsed()
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        self.inner.spawn(task);
    }

    fn spawn_committer(&self, task: BoxFuture<'static, ()>, store: &dyn Store) {
        self.inner.spawn_committer(task, store);
    }
}
