//! Signals the cancellation of a run to the work of its steps.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Set once, when the execution has folded the cancellation.
#[derive(Debug, Default)]
pub(crate) struct Cancellation {
    is_set: AtomicBool,
    changed: Notify,
}

impl Cancellation {
    pub(crate) fn set(&self) {
        if !self.is_set.swap(true, Ordering::AcqRel) {
            self.changed.notify_waiters();
        }
    }

    pub(crate) fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Acquire)
    }

    /// Completes when the run is being cancelled.
    pub(crate) async fn until_set(&self) {
        // Registered before the check, so that no signal is missed in between.
        let mut changed = std::pin::pin!(self.changed.notified());
        changed.as_mut().enable();
        if !self.is_set() {
            changed.await;
        }
    }
}
