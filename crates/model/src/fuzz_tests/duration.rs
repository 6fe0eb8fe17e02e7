//! Durations as people write them.

use crate::{Timestamp, parse_duration};

#[test]
fn any_text_is_a_duration_or_an_error() {
    super::check_text("duration", |text| match parse_duration(text) {
        Ok(duration) => {
            let written = humantime::format_duration(duration).to_string();
            assert_eq!(parse_duration(&written), Ok(duration));
            let _ = Timestamp::from_millis(u64::MAX).after(duration);
            duration.as_nanos().ilog2_or_zero()
        }
        Err(error) => {
            assert!(error.to_string().len() < 2_000);
            u32::MAX
        }
    });
}

trait Size {
    fn ilog2_or_zero(self) -> u32;
}

impl Size for u128 {
    fn ilog2_or_zero(self) -> u32 {
        self.checked_ilog2().unwrap_or(0)
    }
}
