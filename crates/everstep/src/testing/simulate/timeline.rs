//! Texts for the lines of a timeline.

use std::time::Duration;

use everstep_model::Body;

/// Describes the error of a clock.
pub(super) fn clock_error(millis: i64) -> String {
    let by = Duration::from_millis(millis.unsigned_abs());
    match millis {
        0 => "the clock is corrected".to_owned(),
        1.. => format!("the clock is set {by:?} ahead"),
        _ => format!("the clock is set {by:?} behind"),
    }
}

/// Describes a record: its kind, and its name or location.
pub(super) fn record(body: &Body) -> String {
    let kind = body.type_name();
    match (body, body.location()) {
        (Body::Created(created), _) => format!("{kind} ({})", created.workflow),
        (Body::Event(event), _) => format!("{kind} {}", event.name),
        (_, Some(location)) => format!("{kind} {location}"),
        (_, None) => kind.to_owned(),
    }
}

#[cfg(test)]
mod tests;
