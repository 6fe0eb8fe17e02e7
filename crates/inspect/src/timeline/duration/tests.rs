//! Tests of the units of durations.

use super::*;

#[test]
fn a_duration_has_two_units_at_most() {
    for (millis, text) in [
        (0, "0ms"),
        (999, "999ms"),
        (1_000, "1s"),
        (1_259, "1.25s"),
        (59_999, "59.99s"),
        (60_000, "1m"),
        (200_000, "3m 20s"),
        (7_500_000, "2h 5m"),
        (86_400_000, "1d"),
        (273_600_000, "3d 4h"),
    ] {
        assert_eq!(
            ShortDuration(Duration::from_millis(millis)).to_string(),
            text
        );
    }
}
