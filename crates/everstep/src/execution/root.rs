//! The workflow function as a future. It is polled only for a reason: a resolution, or a step that
//! can continue.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use everstep_model::{ErrorCode, Payload};
use futures_util::task::AtomicWaker;

use super::shared::Shared;
use crate::error::{Error, Result, panic_text};

/// The workflow function of a run, which has been called.
type Root = Pin<Box<dyn Future<Output = Result<Payload>> + Send>>;

/// Calls the workflow function with its input.
pub(crate) type WorkflowCode = Arc<dyn Fn(Arc<Shared>, Payload) -> Root + Send + Sync>;

/// Records that something inside the function was woken, and wakes the executor. While the executor
/// is being polled it checks the flags itself; waking it for every resolution would cost an empty
/// poll each time.
struct RootWake {
    /// Whether something was woken since the last poll of the function.
    woken: AtomicBool,
    /// Whether something was woken since the executor's poll began or last polled the function.
    woken_in_poll: AtomicBool,
    /// Whether the executor is being polled.
    is_polled: AtomicBool,
    executor: AtomicWaker,
}

impl Wake for RootWake {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Ordered with `end_poll`: either this sees that the poll has ended, or `end_poll` sees
        // `woken_in_poll`.
        self.woken.store(true, Ordering::SeqCst);
        self.woken_in_poll.store(true, Ordering::SeqCst);
        if !self.is_polled.load(Ordering::SeqCst) {
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
    /// Creates the state of a function that is about to start. The executor is being polled.
    pub(super) fn new(root: Root) -> Self {
        let wake = Arc::new(RootWake {
            woken: AtomicBool::new(false),
            woken_in_poll: AtomicBool::new(false),
            is_polled: AtomicBool::new(true),
            executor: AtomicWaker::new(),
        });
        let waker = Waker::from(wake.clone());
        Self { root, wake, waker }
    }

    /// Marks the beginning of a poll of the executor, during which wakes only set flags.
    pub(super) fn begin_poll(&self) {
        self.wake.is_polled.store(true, Ordering::SeqCst);
        self.wake.woken_in_poll.store(false, Ordering::SeqCst);
    }

    /// Marks the end of a poll of the executor. The executor is woken when something inside the
    /// function can continue, and at once if something was woken during its poll. Code that must
    /// not be polled for a while, because its run is suspended, does not keep it awake.
    pub(super) fn end_poll(&self, context: &Context<'_>) {
        self.wake.executor.register(context.waker());
        self.wake.is_polled.store(false, Ordering::SeqCst);
        if self.wake.woken_in_poll.load(Ordering::SeqCst) {
            context.waker().wake_by_ref();
        }
    }

    /// Whether something inside the function was woken since its last poll.
    pub(super) fn is_woken(&self) -> bool {
        self.wake.woken.load(Ordering::SeqCst)
    }

    /// Polls the function once. A panic becomes its error.
    pub(super) fn poll(&mut self) -> Poll<Result<Payload>> {
        self.wake.woken_in_poll.store(false, Ordering::SeqCst);
        self.wake.woken.store(false, Ordering::SeqCst);
        let mut context = Context::from_waker(&self.waker);
        let root = &mut self.root;
        match catch_unwind(AssertUnwindSafe(|| root.as_mut().poll(&mut context))) {
            Ok(polled) => polled,
            Err(panic) => {
                let message = format!("the workflow panicked: {}", panic_text(&*panic));
                Poll::Ready(Err(Error::permanent(ErrorCode::WorkflowPanicked, message)))
            }
        }
    }
}
