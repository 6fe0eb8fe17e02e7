//! Ending in good order: stop claiming, let steps finish within a deadline, release what is left.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::select;

use crate::activation::Message;
use crate::core::Core;

/// How often the runs still executing are counted.
const LOOK_EVERY: Duration = Duration::from_millis(5);

impl Core {
    /// Ends the engine. Steps still running after the grace period run again on whoever takes over. Whoever else calls
    /// it waits for the same end, and goes on with it if the first one gave up waiting.
    pub(crate) async fn shutdown(self: &Arc<Self>) {
        self.ended.get_or_init(|| self.end()).await;
    }

    async fn end(&self) {
        self.closing.store(true, Ordering::Release);
        self.stopping.notify_waiters();
        self.timers.signal();
        self.hot.tell_all(&Message::Stop);
        // Until its steps are done, nobody else may take them for abandoned.
        select(pin!(self.drain()), pin!(self.stay_alive())).await;
        let left = self.hot.executing();
        if left > 0 {
            tracing::warn!(
                left,
                "steps were still running when the grace period ended; they will run again"
            );
        }
        // A store forgets what it has answered a node that retires, so nothing may be on its way by then.
        self.committer.close();
        self.committer.ended().await;
        for sender in &self.senders {
            if let Err(error) = self.store.retire(*sender).await {
                tracing::warn!(%error, "the lease could not be given up; others wait until it runs out");
            }
        }
        self.hot.tell_all(&Message::Lost);
        self.failures.close();
        self.tasks.ended().await;
        self.watchers.close();
    }

    /// Completes when no run is executing any more, or the grace period is over.
    async fn drain(&self) {
        let end = self.runtime.now().after(self.settings.shutdown_grace);
        while self.hot.executing() > 0 && self.runtime.now() < end {
            self.runtime.sleep(LOOK_EVERY).await;
        }
    }

    /// Keeps the lease while the engine drains.
    async fn stay_alive(&self) {
        loop {
            if let Err(error) = self.renew_lease().await {
                tracing::warn!(%error, "the lease could not be renewed; other nodes may take over");
            }
            self.runtime.sleep(self.settings.lease_ttl / 3).await;
        }
    }
}
