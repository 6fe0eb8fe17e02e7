//! The virtual runtime: one thread, a clock that jumps to the next timer when nothing else can run.
#![allow(clippy::disallowed_methods, reason = "tokio's clock is paused here")]

use std::future::Future;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use everstep_engine::Runtime;
use everstep_model::Timestamp;
use everstep_store::{BoxFuture, Clock};
use tokio::task::JoinSet;

/// Where virtual clocks begin: 2026-01-01 UTC.
const BEGINNING_MILLIS: u64 = 1_767_225_600_000;

/// Runs a test on a virtual clock. Sleeps of workflows and of the test itself take no real time.
///
/// # Panics
/// If the runtime cannot be built.
pub fn virtual_time<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    match runtime {
        Ok(runtime) => runtime.block_on(test),
        Err(error) => panic!("no runtime for the test: {error}"),
    }
}

/// Time, randomness and tasks for engines inside [`virtual_time`]. The same seed gives the same randomness.
#[derive(Debug)]
pub struct VirtualRuntime {
    handle: tokio::runtime::Handle,
    beginning: tokio::time::Instant,
    draws: AtomicU64,
    /// How wrong the wall clock is, in milliseconds.
    clock_error: Arc<AtomicI64>,
    /// None once the process it stands for has crashed.
    tasks: Mutex<Option<JoinSet<()>>>,
}

impl VirtualRuntime {
    /// A virtual runtime that begins now.
    ///
    /// # Panics
    /// Outside [`virtual_time`].
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            handle: tokio::runtime::Handle::current(),
            beginning: tokio::time::Instant::now(),
            draws: AtomicU64::new(seed),
            clock_error: Arc::default(),
            tasks: Mutex::new(Some(JoinSet::new())),
        }
    }

    /// Drops every task where it stands, as the end of a process does, and takes no more.
    pub async fn crash(&self) {
        let tasks = self.tasks().take();
        if let Some(mut tasks) = tasks {
            tasks.shutdown().await;
        }
    }

    /// The runtime of the next process: the same clock, and the randomness that comes next.
    #[must_use]
    pub fn successor(&self) -> Self {
        Self {
            handle: self.handle.clone(),
            beginning: self.beginning,
            draws: AtomicU64::new(self.draws.load(Ordering::Relaxed)),
            clock_error: self.clock_error.clone(),
            tasks: Mutex::new(Some(JoinSet::new())),
        }
    }

    /// Sets the wall clock ahead of the true time by this many milliseconds, or behind it; also for the processes that
    /// follow. What sleeps is not woken by it.
    pub fn set_clock_error(&self, millis: i64) {
        self.clock_error.store(millis, Ordering::Relaxed);
    }

    fn tasks(&self) -> MutexGuard<'_, Option<JoinSet<()>>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for VirtualRuntime {
    fn now(&self) -> Timestamp {
        let right = Timestamp::from_millis(BEGINNING_MILLIS).after(self.beginning.elapsed());
        let error = self.clock_error.load(Ordering::Relaxed);
        Timestamp::from_millis(right.as_millis().saturating_add_signed(error))
    }
}

impl Runtime for VirtualRuntime {
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }

    fn random(&self) -> u64 {
        let draw = self
            .draws
            .fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
        let mixed = (draw ^ (draw >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn elapsed(&self) -> Duration {
        self.beginning.elapsed()
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        let mut tasks = self.tasks();
        if let Some(tasks) = &mut *tasks {
            while tasks.try_join_next().is_some() {}
            tasks.spawn_on(task, &self.handle);
        }
    }

    fn spawn_committer(&self, task: BoxFuture<'static, ()>) {
        self.spawn(task);
    }
}
