//! The keys and values of timers. The first byte of an input is the length of the value.

use crate::encoding::keys::{timer, timer_row};

#[test]
fn a_decoded_timer_survives_encoding() {
    super::check("timer", |bytes| {
        let Some((length, rest)) = bytes.split_first() else {
            return String::new();
        };
        let (value, key) = rest.split_at(usize::from(*length).min(rest.len()));
        let row = match timer_row(key, value) {
            Ok(row) => row,
            Err(damage) => return damage.0.to_owned(),
        };
        let (key, value) = timer(&row);
        assert_eq!(timer_row(&key, &value), Ok(row.clone()));
        format!(
            "{:?}",
            row.location.map(|location| location.scope.segments().len())
        )
    });
}
