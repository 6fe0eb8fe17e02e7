//! The workflow function as a future, polled only when there is a reason: a resolution, or a step that can go on.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use everstep_model::{ErrorCode, Failure, Payload};

use crate::definition::Root;
use crate::error::{Error, Result};
use crate::operation::panic_text;

/// Remembers that something inside the function was woken, and wakes the executor.
pub(super) struct RootWake {
    woken: AtomicBool,
    executor: std::sync::Mutex<Option<Waker>>,
}

impl Wake for RootWake {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        let executor = self
            .executor
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(waker) = &*executor {
            waker.wake_by_ref();
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
    pub(super) fn new(root: Root) -> Self {
        let wake = Arc::new(RootWake {
            woken: AtomicBool::new(false),
            executor: std::sync::Mutex::default(),
        });
        let waker = Waker::from(wake.clone());
        Self { root, wake, waker }
    }

    /// Wakes the executor's task when something inside the function can go on.
    pub(super) fn watch(&self, context: &Context<'_>) {
        let mut executor = self
            .wake
            .executor
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        match &mut *executor {
            Some(known) => known.clone_from(context.waker()),
            empty => *empty = Some(context.waker().clone()),
        }
    }

    /// Whether something inside the function was woken since the last poll.
    pub(super) fn is_woken(&self) -> bool {
        self.wake.woken.load(Ordering::Acquire)
    }

    /// Polls the function once. A panic is its failure.
    pub(super) fn poll(&mut self) -> Poll<Result<Payload>> {
        self.wake.woken.store(false, Ordering::Release);
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
