//! Texts for the lines of a timeline.

use std::time::Duration;

use everstep_model::Body;

/// A length of time in words that are short: `90.5 s`.
pub(super) fn span(length: Duration) -> String {
    format!("{length:?}")
}

/// How wrong a clock is, in words.
pub(super) fn clock_error(millis: i64) -> String {
    let by = span(Duration::from_millis(millis.unsigned_abs()));
    match millis {
        0 => "the clock is put right".to_owned(),
        1.. => format!("the clock is set {by} ahead"),
        _ => format!("the clock is set {by} behind"),
    }
}

/// A record in short: its kind, and what or where it is about.
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
mod tests {
    use super::clock_error;

    #[test]
    fn the_error_of_a_clock_has_a_direction() {
        assert_eq!(clock_error(-1_500), "the clock is set 1.5s behind");
        assert_eq!(clock_error(1_500), "the clock is set 1.5s ahead");
    }
}
