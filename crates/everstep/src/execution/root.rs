//! The workflow function as a future, polled only when there is a reason: a resolution, or a step that can go on.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use everstep_model::{ErrorCode, Failure, Payload};
use futures_util::task::AtomicWaker;

use crate::definition::Root;
use crate::error::{Error, Result};
use crate::operation::panic_text;

/// Remembers that something inside the function was woken, and wakes the executor unless it is at work: then it sees for
/// itself, and being woken once more for each resolution would cost it a second, empty look every time.
struct RootWake {
    /// Whether something can go on that was not polled since.
    woken: AtomicBool,
    /// Whether it was woken since the executor came, and not polled since.
    rang: AtomicBool,
    attended: AtomicBool,
    executor: AtomicWaker,
}

impl Wake for RootWake {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // In one order with `leave`: either this sees that nobody attends, or `leave` sees that it rang.
        self.woken.store(true, Ordering::SeqCst);
        self.rang.store(true, Ordering::SeqCst);
        if !self.attended.load(Ordering::SeqCst) {
            self.executor.wake();
        }
    }
}

/// The function, from its beginning to its return.
pub(super) struct RunningRoot {
    root: Root,
    wake: Arc<RootWake>,
    waker: Waker,
}

impl RunningRoot {
    /// The function about to begin, with the executor at work.
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

    /// The executor is at work, and sees by itself what can go on.
    pub(super) fn attend(&self) {
        self.wake.attended.store(true, Ordering::SeqCst);
        self.wake.rang.store(false, Ordering::SeqCst);
    }

    /// The executor rests. Wakes it when something inside the function can go on, and once more if that was so just now: code
    /// that is not to be polled for a while, because its run is suspended, does not keep it awake.
    pub(super) fn leave(&self, context: &Context<'_>) {
        self.wake.executor.register(context.waker());
        self.wake.attended.store(false, Ordering::SeqCst);
        if self.wake.rang.load(Ordering::SeqCst) {
            context.waker().wake_by_ref();
        }
    }

    /// Whether something inside the function was woken since the last poll.
    pub(super) fn is_woken(&self) -> bool {
        self.wake.woken.load(Ordering::SeqCst)
    }

    /// Polls the function once. A panic is its failure.
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
