//! Follows hints from the bus: what other nodes did, and what runs are ready.

use everstep_store::Hint;

use crate::core::Core;
use crate::workers::Message;

pub(crate) fn follow(core: &Core, hint: Hint) {
    let watchers = &core.parts.watchers;
    let resident = &core.parts.resident;
    match hint {
        Hint::Advanced(stream) => {
            watchers.grew(stream, false);
            core.streams.memory.grew_elsewhere(stream);
        }
        Hint::Grew(stream) => {
            watchers.grew(stream, false);
            resident.notify(stream, Message::Grew);
        }
        Hint::Closed(stream) => {
            watchers.grew(stream, true);
            resident.notify(stream, Message::Grew);
        }
        Hint::Timer(due) => core.timers.queue.hint(due),
        Hint::Outbox(stream) => {
            let outbox = core.outbox.clone();
            core.parts.node.spawn(async move {
                if let Err(error) = outbox.adopt(stream).await {
                    tracing::warn!(%error, %stream, "cannot read the outbox");
                }
            });
        }
        Hint::Ready(stream) => {
            let recovery = core.recovery.clone();
            core.parts.node.spawn(async move {
                if let Err(error) = recovery.claim_ready(stream).await {
                    tracing::warn!(%error, %stream, "cannot claim a ready run");
                }
            });
        }
    }
}
