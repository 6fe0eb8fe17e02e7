//! Events that one run sends to another.

use crate::commit::projection::Effect;
use crate::requests::SendEvent;

/// The event that an effect sends, if it is one. Its dedup id follows from the operation that sent
/// it.
pub(crate) fn event_of(effect: &Effect) -> Option<SendEvent> {
    let Effect::SendEvent {
        to,
        event,
        payload,
        sender,
    } = effect
    else {
        return None;
    };
    Some(SendEvent {
        run: to.clone(),
        name: event.clone(),
        payload: payload.clone(),
        dedup_id: Some(format!("sent:{}", sender.key())),
        by: Some(format!("run {}", sender.run)),
        generation: None,
    })
}
