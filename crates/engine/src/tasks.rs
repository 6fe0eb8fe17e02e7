//! The tasks of an engine. Shutting down stops them and waits until none is left.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use everstep_store::BoxFuture;
use futures_util::future::{Either, select};
use tokio::sync::Notify;

use crate::lock::lock;

#[derive(Default)]
pub(crate) struct Tasks {
    state: Mutex<State>,
    closing: AtomicBool,
    stopping: Notify,
}

#[derive(Default)]
struct State {
    running: usize,
    none_left: Option<Waker>,
}

/// Counts one task while it runs.
struct Running(Arc<Tasks>);

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.running -= 1;
        if state.running == 0
            && let Some(waker) = state.none_left.take()
        {
            waker.wake();
        }
    }
}

impl Tasks {
    /// Wraps a task so that [`Tasks::ended`] waits for it.
    pub(crate) fn counted(
        self: &Arc<Self>,
        task: BoxFuture<'static, ()>,
    ) -> BoxFuture<'static, ()> {
        lock(&self.state).running += 1;
        let running = Running(self.clone());
        Box::pin(async move {
            task.await;
            drop(running);
        })
    }

    /// Makes tasks end at their next opportunity.
    pub(crate) fn stop(&self) {
        self.closing.store(true, Ordering::Release);
        self.stopping.notify_waiters();
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// Waits for a future, unless the engine shuts down first.
    pub(crate) async fn until_closing<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let mut stopping = std::pin::pin!(self.stopping.notified());
        stopping.as_mut().enable();
        if self.is_closing() {
            return None;
        }
        match select(std::pin::pin!(future), stopping).await {
            Either::Left((output, _)) => Some(output),
            Either::Right(_) => None,
        }
    }

    /// Completes when no task is left.
    pub(crate) async fn ended(&self) {
        poll_fn(|context| {
            let mut state = lock(&self.state);
            if state.running == 0 {
                return Poll::Ready(());
            }
            state.none_left = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}
