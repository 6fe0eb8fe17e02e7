//! Signs of life besides claims. A claim may take longer than a silent session lives: because what it brings is large, or because
//! it got lost and nobody noticed yet.

use std::sync::Arc;

use everstep_protocol::worker::Acknowledged;

use super::session::Session;

/// Sends a sign of life whenever the server has not been heard for half the time that a silent session lives.
pub(super) async fn keep_alive(session: Arc<Session>) {
    let silence_max = session.time_to_live / 2;
    while !session.is_over() {
        let rest = silence_max.saturating_sub(session.clock.silent_for());
        if !rest.is_zero() {
            session.sleep(rest).await;
            continue;
        }
        if let Ok(heard) = session.must::<Acknowledged>("heartbeat", &()).await {
            session.clock.hear(heard.now);
        }
    }
}
