//! The signal by which the work of a step hears that its run is being cancelled.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Set once, when the run's cancellation is folded.
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
        // Registered before looking, so that a signal after the look is heard.
        let mut changed = std::pin::pin!(self.changed.notified());
        changed.as_mut().enable();
        if !self.is_set() {
            changed.await;
        }
    }
}
