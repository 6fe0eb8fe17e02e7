//! Points in time as text.

use crate::Timestamp;

#[test]
fn times_round_trip() {
    super::check_text("time", |text| {
        let time = text.parse::<Timestamp>();
        if let Ok(time) = time {
            assert_eq!(time.to_string().parse(), Ok(time));
            assert_eq!(Timestamp::from_millis(time.as_millis()), time);
        }
        time.map_or(0, |time| time.as_millis() % 7 + 1)
    });
}
