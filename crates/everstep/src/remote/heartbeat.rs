//! Heartbeats besides claims. A claim may take longer than the session's time to live, because its response is large or
//! because it was lost.

use std::sync::Arc;

use everstep_protocol::worker::Acknowledged;

use super::session::Session;

/// Sends a heartbeat when there was no response for half the session's time to live.
pub(super) async fn keep_alive(session: Arc<Session>) {
    let interval = session.time_to_live / 2;
    while !session.is_over() {
        let delay = interval.saturating_sub(session.clock.silent_for());
        if !delay.is_zero() {
            session.setup.runtime.sleep(delay).await;
            continue;
        }
        if let Ok(alive) = session.call_or_end::<Acknowledged>("heartbeat", &()).await {
            session.clock.sync(alive.now);
        }
    }
}
