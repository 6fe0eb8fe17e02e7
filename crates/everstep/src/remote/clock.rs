//! The server's clock on a worker: the time of the last response, and the time that has passed
//! since.
//!
//! Records carry the engine's time, and timers are counted from it. The wall clock of a worker may
//! be wrong or be changed, so the time between two responses is measured by a monotonic clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use everstep_engine::Runtime;
use everstep_model::Timestamp;
use everstep_store::{BoxFuture, Clock, Store};

/// A worker's runtime with the server's clock.
pub(super) struct ServerClock {
    local: Arc<dyn Runtime>,
    /// The server's time minus the local elapsed time, in milliseconds.
    ahead: AtomicU64,
    /// The latest time that was returned, so that it never decreases.
    latest: AtomicU64,
    /// The local elapsed time of the last response, in milliseconds.
    synced: AtomicU64,
}

impl ServerClock {
    pub(super) fn new(local: Arc<dyn Runtime>, now: Timestamp) -> Self {
        let clock = Self {
            local,
            ahead: AtomicU64::new(0),
            latest: AtomicU64::new(0),
            synced: AtomicU64::new(0),
        };
        clock.sync(now);
        clock
    }

    /// Sets the clock to the time of a response.
    pub(super) fn sync(&self, now: Timestamp) {
        let elapsed = self.elapsed_millis();
        let ahead = now.as_millis().saturating_sub(elapsed);
        self.ahead.store(ahead, Ordering::Relaxed);
        self.synced.store(elapsed, Ordering::Relaxed);
    }

    /// Returns the time since the last response.
    pub(super) fn silent_for(&self) -> Duration {
        let synced = self.synced.load(Ordering::Relaxed);
        Duration::from_millis(self.elapsed_millis().saturating_sub(synced))
    }

    fn elapsed_millis(&self) -> u64 {
        u64::try_from(self.local.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl Clock for ServerClock {
    fn now(&self) -> Timestamp {
        let now = self.ahead.load(Ordering::Relaxed) + self.elapsed_millis();
        let latest = self.latest.fetch_max(now, Ordering::Relaxed);
        Timestamp::from_millis(now.max(latest))
    }
}

impl Runtime for ServerClock {
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.local.sleep(duration)
    }

    fn random(&self) -> u64 {
        self.local.random()
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        self.local.spawn(task);
    }

    fn spawn_committer(&self, task: BoxFuture<'static, ()>, store: &dyn Store) {
        self.local.spawn_committer(task, store);
    }

    fn elapsed(&self) -> Duration {
        self.local.elapsed()
    }
}
