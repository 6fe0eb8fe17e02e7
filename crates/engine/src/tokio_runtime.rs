//! The runtime for production: the system clock, tasks of tokio, and a thread for the committer.
#![allow(
    clippy::disallowed_methods,
    reason = "the only place that uses the real clock and real tasks"
)]

use std::collections::hash_map::RandomState;
use std::future::Future;
use std::hash::{BuildHasher, Hasher};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant, SystemTime};

use everstep_model::Timestamp;
use everstep_store::{BoxFuture, Clock, Store};

use crate::runtime::Runtime;

/// Runs the engine on a tokio runtime.
#[derive(Debug)]
pub struct TokioRuntime {
    handle: tokio::runtime::Handle,
    entropy: RandomState,
    draws: AtomicU64,
    began: Instant,
}

impl TokioRuntime {
    /// Uses the current tokio runtime.
    ///
    /// # Errors
    /// If the caller is not inside a tokio runtime.
    pub fn current() -> Result<Self, tokio::runtime::TryCurrentError> {
        tokio::runtime::Handle::try_current().map(Self::new)
    }

    /// Uses the tokio runtime of this handle.
    #[must_use]
    pub fn new(handle: tokio::runtime::Handle) -> Self {
        Self {
            handle,
            entropy: RandomState::new(),
            draws: AtomicU64::new(0),
            began: Instant::now(),
        }
    }
}

impl Clock for TokioRuntime {
    fn now(&self) -> Timestamp {
        SystemTime::now().into()
    }
}

impl Runtime for TokioRuntime {
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let _context = self.handle.enter();
        Box::pin(tokio::time::sleep(duration))
    }

    fn random(&self) -> u64 {
        let mut hasher = self.entropy.build_hasher();
        hasher.write_u64(self.draws.fetch_add(1, Ordering::Relaxed));
        hasher.finish()
    }

    fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        self.handle.spawn(task);
    }

    fn run_blocking(&self, work: BoxFuture<'static, ()>) -> BoxFuture<'static, ()> {
        let thread = self.handle.spawn_blocking(move || block_on(work));
        Box::pin(async move {
            if let Err(error) = thread.await {
                tracing::error!(%error, "blocking work failed");
            }
        })
    }

    fn spawn_committer(&self, task: BoxFuture<'static, ()>, store: &dyn Store) {
        let Some(task) = store.host(task) else {
            return;
        };
        let spawned = std::thread::Builder::new()
            .name("everstep-commit".to_owned())
            .spawn(move || block_on(task));
        if let Err(error) = spawned {
            tracing::error!(%error, "cannot start the committer thread, nothing can be written");
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future on this thread, which is parked while the future waits.
fn block_on(task: BoxFuture<'static, ()>) {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut task = pin!(task);
    while task.as_mut().poll(&mut context).is_pending() {
        std::thread::park();
    }
}
