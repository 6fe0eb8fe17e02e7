//! Times in the time zone of the user: the variable `TZ`, or the zone of the system.

use everstep_model::Timestamp;
use jiff::Zoned;
use jiff::civil::Date;
use jiff::tz::{Offset, TimeZone};

/// The length of a time in the sentences of a server.
const TIME_BYTES: usize = "2026-11-15T08:00:00.000Z".len();

/// Returns a time in the local time zone, with its date and offset, such as
/// `2026-11-15 09:00:00 +01:00`.
pub(crate) fn local_time(time: Timestamp) -> String {
    text(time, &TimeZone::system())
}

/// Replaces the times of a sentence of the server, such as `2026-11-15T08:00:00.000Z`, by local
/// times.
pub(crate) fn with_local_times(sentence: &str) -> String {
    in_zone(sentence, &TimeZone::system())
}

fn in_zone(sentence: &str, zone: &TimeZone) -> String {
    let mut replaced = String::with_capacity(sentence.len());
    let mut rest = sentence;
    while let Some(next) = rest.chars().next() {
        let split = rest.split_at_checked(TIME_BYTES);
        let time = split.and_then(|(time, behind)| {
            let is_utc = time.ends_with('Z');
            is_utc.then(|| Some((time.parse().ok()?, behind)))?
        });
        match time {
            Some((time, behind)) => {
                replaced.push_str(&text(time, zone));
                rest = behind;
            }
            None => {
                replaced.push(next);
                rest = rest.get(next.len_utf8()..).unwrap_or_default();
            }
        }
    }
    replaced
}

fn text(time: Timestamp, zone: &TimeZone) -> String {
    let zoned = zoned(time, zone);
    zoned.strftime("%Y-%m-%d %H:%M:%S %:z").to_string()
}

fn zoned(time: Timestamp, zone: &TimeZone) -> Zoned {
    let millis = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    let time = jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::MAX);
    time.to_zoned(zone.clone())
}

/// Formats the times of consecutive lines: each line has the time of day, and a heading precedes
/// the first line of a day.
#[derive(Debug)]
pub(crate) struct LocalClock {
    zone: TimeZone,
    /// The date and the offset in the last heading.
    heading: Option<(Date, Offset)>,
}

impl LocalClock {
    pub(crate) fn new() -> Self {
        Self::in_zone(TimeZone::system())
    }

    fn in_zone(zone: TimeZone) -> Self {
        Self {
            zone,
            heading: None,
        }
    }

    /// Returns the time of day, and a heading if the date or the offset differs from the last line.
    pub(crate) fn format(&mut self, time: Timestamp) -> (Option<String>, String) {
        let zoned = zoned(time, &self.zone);
        let heading = (zoned.date(), zoned.offset());
        let is_new = self.heading.replace(heading) != Some(heading);
        let heading = is_new.then(|| zoned.strftime("%A, %-d %B %Y (UTC%:z)").to_string());
        (heading, zoned.strftime("%H:%M:%S%.3f").to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    // B547
    #[test]
    fn a_heading_precedes_the_first_line_of_each_day_in_the_zone() {
        let mut clock = LocalClock::in_zone(TimeZone::posix("JST-9").unwrap());
        let (heading, time) = clock.format(at("2026-11-15T14:59:59.123Z"));
        assert_eq!(heading.unwrap(), "Sunday, 15 November 2026 (UTC+09:00)");
        assert_eq!(time, "23:59:59.123");
        assert_eq!(clock.format(at("2026-11-15T14:59:59.999Z")).0, None);
        let (heading, time) = clock.format(at("2026-11-15T15:00:00Z"));
        assert_eq!(heading.unwrap(), "Monday, 16 November 2026 (UTC+09:00)");
        assert_eq!(time, "00:00:00.000");
    }

    // B547
    #[test]
    fn times_in_sentences_are_local_too() {
        let zone = TimeZone::posix("JST-9").unwrap();
        for (sentence, expected) in [
            (
                "it sleeps in `é:0` until 2026-11-15T14:59:59.123Z or 2026-11-15T15:00:00.000Z",
                "it sleeps in `é:0` until 2026-11-15 23:59:59 +09:00 or 2026-11-16 00:00:00 +09:00",
            ),
            (
                "no time, 2026-11-15T14:59:59.12Z",
                "no time, 2026-11-15T14:59:59.12Z",
            ),
            ("2026-99-15T14:59:59.123Z", "2026-99-15T14:59:59.123Z"),
            ("", ""),
        ] {
            assert_eq!(in_zone(sentence, &zone), expected);
        }
    }

    // B547
    #[test]
    fn a_change_to_daylight_saving_time_has_a_heading() {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let mut clock = LocalClock::in_zone(zone);
        let (heading, time) = clock.format(at("2026-10-25T00:59:59Z"));
        assert_eq!(heading.unwrap(), "Sunday, 25 October 2026 (UTC+02:00)");
        assert_eq!(time, "02:59:59.000");
        let (heading, time) = clock.format(at("2026-10-25T01:00:00Z"));
        assert_eq!(heading.unwrap(), "Sunday, 25 October 2026 (UTC+01:00)");
        assert_eq!(time, "02:00:00.000");
    }
}
