//! The engine's tasks, counted, so that shutting down can wait until none is left.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use everstep_store::BoxFuture;
use futures_util::future::select;

use crate::core::Core;

#[derive(Default)]
pub(crate) struct Tasks(Mutex<State>);

#[derive(Default)]
struct State {
    running: usize,
    none_left: Option<Waker>,
}

/// One running task.
struct Running(Arc<Tasks>);

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.running -= 1;
        if state.running == 0
            && let Some(waker) = state.none_left.take()
        {
            waker.wake();
        }
    }
}

impl Tasks {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Completes when no task is left.
    pub(crate) async fn ended(&self) {
        poll_fn(|context| {
            let mut state = self.state();
            if state.running == 0 {
                return Poll::Ready(());
            }
            state.none_left = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

impl Core {
    /// Runs a task that shutting down waits for.
    pub(crate) fn spawn(self: &Arc<Self>, task: BoxFuture<'static, ()>) {
        self.runtime.spawn(self.counted(task));
    }

    /// The task, counted while it runs.
    pub(crate) fn counted(
        self: &Arc<Self>,
        task: BoxFuture<'static, ()>,
    ) -> BoxFuture<'static, ()> {
        self.tasks.state().running += 1;
        let running = Running(self.tasks.clone());
        Box::pin(async move {
            task.await;
            drop(running);
        })
    }

    /// Sleeps, unless the engine shuts down first.
    pub(crate) async fn rest(&self, duration: Duration) {
        let mut stopping = std::pin::pin!(self.stopping.notified());
        stopping.as_mut().enable();
        if self.is_closing() {
            return;
        }
        select(self.runtime.sleep(duration), stopping).await;
    }
}
