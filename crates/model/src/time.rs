//! Points in time in milliseconds. This crate has no clock; callers pass the time in.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use crate::text::{excerpt, json_as_text};

/// Milliseconds since 1970-01-01 UTC. RFC 3339 in JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(u64);

json_as_text!(Timestamp, Timestamp::from_str);

/// Text that is not an RFC 3339 time in UTC.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid time {0:?}: write it as 2026-11-15T08:00:00.123Z")]
pub struct InvalidTimestamp(String);

/// The last millisecond that RFC 3339 can express: the end of the year 9999.
const MAX_MILLIS: u64 = 253_402_300_799_999;

impl Timestamp {
    /// Converts milliseconds since the epoch. Times after the year 9999 become the end of that
    /// year.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        if millis > MAX_MILLIS {
            Self(MAX_MILLIS)
        } else {
            Self(millis)
        }
    }

    /// Returns the milliseconds since the epoch.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// Returns the time `duration` later, rounded up to whole milliseconds so that a timer is never
    /// early.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        let millis = duration.as_nanos().div_ceil(1_000_000);
        let millis = u64::try_from(millis).unwrap_or(u64::MAX);
        Self::from_millis(self.0.saturating_add(millis))
    }

    /// Returns the duration until `later`; zero if `later` is not later.
    #[must_use]
    pub fn until(self, later: Self) -> Duration {
        Duration::from_millis(later.0.saturating_sub(self.0))
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let since = time
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        Self::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}

impl From<Timestamp> for SystemTime {
    fn from(time: Timestamp) -> Self {
        Self::UNIX_EPOCH + Duration::from_millis(time.0)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        humantime::format_rfc3339_millis((*self).into()).fmt(f)
    }
}

impl FromStr for Timestamp {
    type Err = InvalidTimestamp;
    fn from_str(text: &str) -> Result<Self, InvalidTimestamp> {
        humantime::parse_rfc3339(text)
            .map(Into::into)
            .map_err(|_| InvalidTimestamp(excerpt(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips() {
        let time = Timestamp::from_millis(1_794_729_600_123);
        assert_eq!(time.to_string(), "2026-11-15T08:00:00.123Z");
        assert_eq!(time.to_string().parse(), Ok(time));
        let end = Timestamp::from_millis(u64::MAX);
        assert_eq!(end.to_string().parse(), Ok(end));
    }

    #[test]
    fn fractions_of_a_millisecond_round_up() {
        let time = Timestamp::from_millis(5).after(Duration::from_nanos(1));
        assert_eq!(time.as_millis(), 6);
    }

    // B67
    #[test]
    fn waits_longer_than_32_bits_of_milliseconds_work() {
        let far = Timestamp::from_millis(0).after(Duration::from_millis(1 << 33));
        assert_eq!(far.as_millis(), 1 << 33);
    }
}
