//! Times in the time zone of the user: the variable `TZ`, or the zone of the system.

use everstep_model::Timestamp;
use jiff::Zoned;
use jiff::civil::Date;
use jiff::tz::{Offset, TimeZone};

/// Returns a time in the local time zone, with its date and offset, such as
/// `2026-11-15 09:00:00 +01:00`.
pub(crate) fn local_time(time: Timestamp) -> String {
    let zoned = zoned(time, &TimeZone::system());
    zoned.strftime("%Y-%m-%d %H:%M:%S %:z").to_string()
}

fn zoned(time: Timestamp, zone: &TimeZone) -> Zoned {
    let millis = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    let time = jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::MAX);
    time.to_zoned(zone.clone())
}

/// Formats the times of consecutive lines: each line has the time of day, and a heading precedes the
/// first line of a day.
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
