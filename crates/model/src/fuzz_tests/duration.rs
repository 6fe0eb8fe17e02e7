//! Durations as text.

use crate::{Timestamp, parse_duration};

#[test]
fn durations_round_trip_and_errors_are_short() {
    super::check_text("duration", |text| match parse_duration(text) {
        Ok(duration) => {
            let written = humantime::format_duration(duration).to_string();
            assert_eq!(parse_duration(&written), Ok(duration));
            let _ = Timestamp::from_millis(u64::MAX).after(duration);
            duration.as_nanos().checked_ilog2().unwrap_or(0)
        }
        Err(error) => {
            assert!(error.to_string().len() < 2_000);
            u32::MAX
        }
    });
}
