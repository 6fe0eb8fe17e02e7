//! Ending in good order: stop claiming, let steps finish within a deadline, release what is left.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::activation::Message;
use crate::core::Core;

/// How often the runs still executing are counted.
const LOOK_EVERY: Duration = Duration::from_millis(5);

impl Core {
    /// Ends the engine. Steps still running after the grace period run again on whoever takes over.
    pub(crate) async fn shutdown(self: &Arc<Self>) {
        if self.closing.swap(true, Ordering::AcqRel) {
            return;
        }
        self.stopping.notify_waiters();
        self.timers.signal();
        self.hot.tell_all(&Message::Stop);
        let end = self.runtime.now().after(self.settings.shutdown_grace);
        while self.hot.executing() > 0 && self.runtime.now() < end {
            self.runtime.sleep(LOOK_EVERY).await;
        }
        let left = self.hot.executing();
        if left > 0 {
            tracing::warn!(
                left,
                "steps were still running when the grace period ended; they will run again"
            );
        }
        self.committer.drained().await;
        if let Err(error) = self.store.retire(self.node).await {
            tracing::warn!(%error, "the lease could not be given up; others wait until it runs out");
        }
        self.hot.tell_all(&Message::Lost);
        self.committer.close();
        self.tasks.ended().await;
    }
}
