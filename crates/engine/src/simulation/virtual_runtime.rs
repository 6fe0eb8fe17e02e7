//! A runtime with virtual time for tests: tokio's paused clock, and tasks that can be dropped all
//! at once as in a crash.
#![allow(clippy::disallowed_methods, reason = "tokio's clock is paused")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use everstep_model::Timestamp;
use everstep_store::{BoxFuture, Clock, Store};
use tokio::task::JoinSet;

use super::rng::{GAMMA, mix};
use crate::lock::lock;
use crate::runtime::Runtime;

/// The time at which virtual clocks start: 2026-01-01 UTC.
const START: Timestamp = Timestamp::from_millis(1_767_225_600_000);

/// The number of sleeps in progress, by their length.
type Sleeps = Arc<Mutex<BTreeMap<Duration, usize>>>;

/// Time, randomness and tasks of one process on a paused tokio runtime. The same seed gives the
/// same random numbers.
#[derive(Debug)]
pub struct VirtualRuntime {
    handle: tokio::runtime::Handle,
    started: tokio::time::Instant,
    draws: AtomicU64,
    /// The time at which the wall clock started, in milliseconds.
    start: Arc<AtomicU64>,
    /// The error of the wall clock in milliseconds.
    clock_error: Arc<AtomicI64>,
    /// None once the process has crashed.
    tasks: Mutex<Option<JoinSet<()>>>,
    sleeps: Sleeps,
}

impl VirtualRuntime {
    /// Creates a runtime whose clock starts now.
    ///
    /// # Panics
    /// Outside a tokio runtime. Its clock should be paused.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            handle: tokio::runtime::Handle::current(),
            started: tokio::time::Instant::now(),
            draws: AtomicU64::new(seed),
            start: Arc::new(AtomicU64::new(START.as_millis())),
            clock_error: Arc::default(),
            tasks: Mutex::new(Some(JoinSet::new())),
            sleeps: Arc::default(),
        }
    }

    /// Drops all tasks, as the end of a process does, and accepts no more.
    pub async fn crash(&self) {
        let tasks = lock(&self.tasks).take();
        if let Some(mut tasks) = tasks {
            tasks.shutdown().await;
        }
    }

    /// Returns the runtime of the next process: the same clock, and the next random numbers.
    #[must_use]
    pub fn successor(&self) -> Self {
        Self {
            handle: self.handle.clone(),
            started: self.started,
            draws: AtomicU64::new(self.draws.load(Ordering::Relaxed)),
            start: self.start.clone(),
            clock_error: self.clock_error.clone(),
            tasks: Mutex::new(Some(JoinSet::new())),
            sleeps: Arc::default(),
        }
    }

    /// Sets the wall clock forward if it is before this time.
    pub fn start_no_earlier_than(&self, time: Timestamp) {
        let ahead = time.as_millis().saturating_sub(self.now().as_millis());
        self.start.fetch_add(ahead, Ordering::Relaxed);
    }

    /// Sets the wall clock ahead of the true time by this many milliseconds, or behind it, for this
    /// process and its successors. Sleeps are not affected.
    pub fn set_clock_error(&self, millis: i64) {
        self.clock_error.store(millis, Ordering::Relaxed);
    }

    /// Returns the number of sleeps of this length that are neither over nor dropped.
    #[must_use]
    pub fn pending_sleeps(&self, length: Duration) -> usize {
        lock(&self.sleeps).get(&length).copied().unwrap_or_default()
    }
}

impl Clock for VirtualRuntime {
    fn now(&self) -> Timestamp {
        let start = Timestamp::from_millis(self.start.load(Ordering::Relaxed));
        let now = start.after(self.started.elapsed()).as_millis();
        let error = self.clock_error.load(Ordering::Relaxed);
        Timestamp::from_millis(now.saturating_add_signed(error))
    }
}

impl Runtime for VirtualRuntime {
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let sleep = tokio::time::sleep(duration);
        let pending = PendingSleep::new(&self.sleeps, duration);
        Box::pin(async move {
            sleep.await;
            drop(pending);
        })
    }

    fn random(&self) -> u64 {
        mix(self.draws.fetch_add(GAMMA, Ordering::Relaxed))
    }

    fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        if let Some(tasks) = &mut *lock(&self.tasks) {
            while tasks.try_join_next().is_some() {}
            tasks.spawn_on(task, &self.handle);
        }
    }

    fn spawn_committer(&self, task: BoxFuture<'static, ()>, _: &dyn Store) {
        self.spawn(task);
    }
}

/// Counts a sleep until it is dropped.
struct PendingSleep {
    sleeps: Sleeps,
    length: Duration,
}

impl PendingSleep {
    fn new(sleeps: &Sleeps, length: Duration) -> Self {
        *lock(sleeps).entry(length).or_default() += 1;
        Self {
            sleeps: sleeps.clone(),
            length,
        }
    }
}

impl Drop for PendingSleep {
    fn drop(&mut self) {
        let mut sleeps = lock(&self.sleeps);
        if let Some(count) = sleeps.get_mut(&self.length) {
            *count -= 1;
            if *count == 0 {
                sleeps.remove(&self.length);
            }
        }
    }
}
