//! The workflow function as a future. It is polled only for a reason: a resolution, or a step that
//! can continue.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use everstep_model::{ErrorCode, Failure, Payload};
use futures_util::task::AtomicWaker;

use super::shared::Shared;
use crate::error::{Error, Result, panic_text};

/// The workflow function of a run, which has been called.
type Root = Pin<Box<dyn Future<Output = Result<Payload>> + Send>>;

/// Calls the workflow function with its input.
pub(crate) type WorkflowCode = Arc<dyn Fn(Arc<Shared>, Payload) -> Root + Send + Sync>;

/// Records that something inside the function was woken, and wakes the executor. While the executor
/// is being polled it looks for itself; waking it for every resolution would cost an empty poll each
/// time.
struct RootWake {
    /// Whether something was woken since the last poll of the function.
    woken: AtomicBool,
    /// Whether something was woken since the executor's poll began or last polled the function.
    rang: AtomicBool,
    /// Whether the executor is being polled.
    attended: AtomicBool,
    executor: AtomicWaker,
}

impl Wake for RootWake {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Ordered with `leave`: either this sees that the executor rests, or `leave` sees `rang`.
        self.woken.store(true, Ordering::SeqCst);
        self.rang.store(true, Ordering::SeqCst);
        if !self.attended.load(Ordering::SeqCst) {
            self.executor.wake();
        }
    }
}

/// A function that has not returned yet.
pub(super) struct RunningRoot {
    root: Root,
    wake: Arc<RootWake>,
    waker: Waker,
}

impl RunningRoot {
    /// A function that is about to begin, while the executor is being polled.
    pub(super) fn new(root: Root) -> Self {
        let wake = Arc::new(RootWake {
            woken: AtomicBool::new(false),
            rang: AtomicBool::new(false),
            attended: AtomicBool::new(true),
            executor: AtomicWaker::new(),
        });
        let waker = Waker::from(wake.clone());
        Self { root, wake, waker }
    }

    /// The executor is being polled, and looks for itself what can continue.
    pub(super) fn attend(&self) {
        self.wake.attended.store(true, Ordering::SeqCst);
        self.wake.rang.store(false, Ordering::SeqCst);
    }

    /// The executor rests. It is woken when something inside the function can continue, and at once
    /// if something was woken during its poll. Code that must not be polled for a while, because its
    /// run is suspended, does not keep it awake.
    pub(super) fn leave(&self, context: &Context<'_>) {
        self.wake.executor.register(context.waker());
        self.wake.attended.store(false, Ordering::SeqCst);
        if self.wake.rang.load(Ordering::SeqCst) {
            context.waker().wake_by_ref();
        }
    }

    /// Whether something inside the function was woken since its last poll.
    pub(super) fn is_woken(&self) -> bool {
        self.wake.woken.load(Ordering::SeqCst)
    }

    /// Polls the function once. A panic becomes its error.
    pub(super) fn poll(&mut self) -> Poll<Result<Payload>> {
        self.wake.rang.store(false, Ordering::SeqCst);
        self.wake.woken.store(false, Ordering::SeqCst);
        let mut context = Context::from_waker(&self.waker);
        let root = &mut self.root;
        match catch_unwind(AssertUnwindSafe(|| root.as_mut().poll(&mut context))) {
            Ok(polled) => polled,
            Err(panic) => {
                let message = format!("the workflow panicked: {}", panic_text(&*panic));
                let failure = Failure::new(ErrorCode::WorkflowPanicked, message);
                Poll::Ready(Err(Error::from_failure(failure).non_retryable()))
            }
        }
    }
}
