//! What happened in one case, told in the order and by the true time it happened.

use std::time::Duration;

use everstep_model::Body;

/// Lines with the time at which each was written.
#[derive(Clone, Debug, Default)]
pub(super) struct Timeline(Vec<String>);

impl Timeline {
    pub(super) fn add(&mut self, at: Duration, what: &str) {
        self.0.push(format!("{:>16}  {what}", moment(at)));
    }

    pub(super) fn lines(&self) -> &[String] {
        &self.0
    }
}

/// A time since the beginning: `1d 02:30:00.000`.
pub(super) fn moment(at: Duration) -> String {
    let seconds = at.as_secs();
    let (days, hours) = (seconds / 86_400, seconds / 3_600 % 24);
    let (minutes, seconds) = (seconds / 60 % 60, seconds % 60);
    let days = (days > 0).then(|| format!("{days}d "));
    let days = days.unwrap_or_default();
    format!(
        "{days}{hours:02}:{minutes:02}:{seconds:02}.{:03}",
        at.subsec_millis()
    )
}

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
    use std::time::Duration;

    use super::{clock_error, moment};

    #[test]
    fn times_read_like_a_clock() {
        assert_eq!(moment(Duration::from_millis(61_005)), "00:01:01.005");
        assert_eq!(
            moment(Duration::from_secs(86_400 + 3_600)),
            "1d 01:00:00.000"
        );
        assert_eq!(clock_error(-1_500), "the clock is set 1.5s behind");
    }
}
