//! The tasks of an engine. Shutting down stops them and waits until none is left.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use everstep_store::BoxFuture;
use futures_util::future::{Either, select};
use tokio::sync::Notify;

#[derive(Default)]
pub(crate) struct Tasks {
    running: AtomicUsize,
    none_left: Notify,
    closing: AtomicBool,
    stopping: Notify,
}

/// Counts one task while it runs.
struct Running(Arc<Tasks>);

impl Drop for Running {
    fn drop(&mut self) {
        if self.0.running.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.none_left.notify_waiters();
        }
    }
}

impl Tasks {
    /// Wraps a task so that [`Tasks::ended`] waits for it.
    pub(crate) fn counted(
        self: &Arc<Self>,
        task: BoxFuture<'static, ()>,
    ) -> BoxFuture<'static, ()> {
        self.running.fetch_add(1, Ordering::AcqRel);
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
        let mut stopping = pin!(self.stopping.notified());
        stopping.as_mut().enable();
        if self.is_closing() {
            return None;
        }
        match select(pin!(future), stopping).await {
            Either::Left((output, _)) => Some(output),
            Either::Right(_) => None,
        }
    }

    /// Completes when no task is left.
    pub(crate) async fn ended(&self) {
        let is_ended = || self.running.load(Ordering::Acquire) == 0;
        wait_until(&self.none_left, is_ended).await;
    }
}

/// Waits until a condition holds, whose change notifies the waiters.
pub(crate) async fn wait_until(notify: &Notify, holds: impl Fn() -> bool) {
    loop {
        let mut notified = pin!(notify.notified());
        notified.as_mut().enable();
        if holds() {
            return;
        }
        notified.await;
    }
}
