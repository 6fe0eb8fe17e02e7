//! Shuts an engine down: stops claiming runs, lets steps finish within a grace period, and releases
//! the rest.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::select;

use crate::core::Core;
use crate::workers::Message;

/// The interval at which the executing runs are counted.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Shuts the engine down. Steps that still run after the grace period run again on the node that
/// takes over. Concurrent callers wait for the same end, and continue it if the first caller is
/// dropped.
pub(crate) async fn shutdown(core: &Core) {
    core.ended.get_or_init(|| end(core)).await;
}

async fn end(core: &Core) {
    let resident = &core.parts.resident;
    core.parts.node.tasks.stop();
    core.timers.queue.signal();
    resident.notify_all(&Message::Stop);
    // Until the steps have finished, no other node may take over.
    select(pin!(drain(core)), pin!(core.lease.keep_while_draining())).await;
    let left = resident.executing();
    if left > 0 {
        tracing::warn!(
            left,
            "grace period ended while steps were running, they will run again"
        );
    }
    core.parts.committer.end().await;
    resident.notify_all(&Message::Lost);
    core.parts.post_commit.failures.close();
    core.parts.node.tasks.ended().await;
    core.parts.watchers.close();
}

/// Waits until no run is executing, or the grace period is over.
async fn drain(core: &Core) {
    let node = &core.parts.node;
    let began = node.runtime.elapsed();
    let is_over = || node.runtime.elapsed() - began >= node.settings.shutdown_grace;
    while core.parts.resident.executing() > 0 && !is_over() {
        node.runtime.sleep(POLL_INTERVAL).await;
    }
}
