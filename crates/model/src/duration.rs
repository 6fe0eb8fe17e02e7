//! Durations: typed (`hours(24)`) and as text (`"24 hours"`, `"7d"`, `"1500ms"`).

use std::time::Duration;

use crate::text::excerpt;

/// Text that is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid duration {given:?}: {reason}; write it as \"24 hours\", \"7d\" or \"1500ms\"")]
pub struct InvalidDuration {
    given: String,
    reason: String,
}

/// The maximum length of an error message.
const REASON_CHARS_MAX: usize = 200;

/// Parses a duration such as `24 hours`.
pub fn parse_duration(text: &str) -> Result<Duration, InvalidDuration> {
    humantime::parse_duration(text).map_err(|error| InvalidDuration {
        given: excerpt(text),
        // The message of the parser quotes the input.
        reason: error.to_string().chars().take(REASON_CHARS_MAX).collect(),
    })
}

/// Returns `n` milliseconds.
#[must_use]
pub const fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Returns `n` seconds.
#[must_use]
pub const fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// Returns `n` minutes.
#[must_use]
pub const fn minutes(n: u64) -> Duration {
    Duration::from_secs(n.saturating_mul(60))
}

/// Returns `n` hours.
#[must_use]
pub const fn hours(n: u64) -> Duration {
    Duration::from_secs(n.saturating_mul(3_600))
}

/// Returns `n` days of 24 hours.
#[must_use]
pub const fn days(n: u64) -> Duration {
    Duration::from_secs(n.saturating_mul(86_400))
}

/// Returns the whole milliseconds of a duration.
pub(crate) fn as_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Durations in JSON, as whole milliseconds.
pub(crate) mod whole_millis {
    use super::{Duration, as_millis};
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(value: &Duration, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_u64(as_millis(*value))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Duration, D::Error> {
        u64::deserialize(input).map(Duration::from_millis)
    }
}

/// Optional durations in JSON, as whole milliseconds.
pub(crate) mod optional_millis {
    use super::{Duration, as_millis};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(
        value: &Option<Duration>,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        value.map(as_millis).serialize(out)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        input: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(input)?.map(Duration::from_millis))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn units_have_long_and_short_names() {
        for (text, typed) in [
            ("24 hours", hours(24)),
            ("7d", days(7)),
            ("7 days", days(7)),
            ("1500ms", millis(1500)),
            ("2s", secs(2)),
            ("1 minute 30 s", secs(90)),
            ("90min", minutes(90)),
        ] {
            assert_eq!(parse_duration(text), Ok(typed), "{text}");
        }
    }

    // B33
    #[test]
    fn a_bad_duration_is_refused_with_examples() {
        for bad in ["", "soon", "-1s", "5", "1 parsec"] {
            let error = parse_duration(bad).unwrap_err();
            assert!(error.to_string().contains("24 hours"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in ".{0,40}") {
            let _ = parse_duration(&text);
        }
    }
}
