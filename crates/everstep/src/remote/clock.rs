//! The server's clock, as a worker knows it: what the server last said, and the time that has passed since.
//!
//! Records carry the engine's time, and timers are counted from it. A worker's own clock may be wrong, or be set; what passes
//! between two answers of the server is measured by a clock that nobody sets.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use everstep_engine::Runtime;
use everstep_model::Timestamp;
use everstep_store::{BoxFuture, Clock};

/// A worker's runtime, on the server's clock.
pub(super) struct ServerClock {
    local: Arc<dyn Runtime>,
    /// How far the server's clock is ahead of the time that has passed here, in milliseconds.
    ahead: AtomicU64,
    /// The latest time that was told, so that it never goes back.
    latest: AtomicU64,
    /// When the server was last heard, in milliseconds that had passed here.
    heard: AtomicU64,
}

impl ServerClock {
    pub(super) fn new(local: Arc<dyn Runtime>, now: Timestamp) -> Self {
        let clock = Self {
            local,
            ahead: AtomicU64::new(0),
            latest: AtomicU64::new(0),
            heard: AtomicU64::new(0),
        };
        clock.hear(now);
        clock
    }

    /// The server said what time it is. It was at least that late when it said so.
    pub(super) fn hear(&self, now: Timestamp) {
        let passed = self.passed();
        let ahead = now.as_millis().saturating_sub(passed);
        self.ahead.store(ahead, Ordering::Relaxed);
        self.heard.store(passed, Ordering::Relaxed);
    }

    /// How long the server was not heard.
    pub(super) fn silent_for(&self) -> Duration {
        let heard = self.heard.load(Ordering::Relaxed);
        Duration::from_millis(self.passed().saturating_sub(heard))
    }

    fn passed(&self) -> u64 {
        let passed = self.local.elapsed().as_millis();
        u64::try_from(passed).unwrap_or(u64::MAX)
    }
}

impl Clock for ServerClock {
    fn now(&self) -> Timestamp {
        let now = self.ahead.load(Ordering::Relaxed) + self.passed();
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

    fn spawn_committer(&self, task: BoxFuture<'static, ()>) {
        self.local.spawn_committer(task);
    }

    fn elapsed(&self) -> Duration {
        self.local.elapsed()
    }
}
