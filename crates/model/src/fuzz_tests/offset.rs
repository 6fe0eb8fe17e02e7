//! Offsets as clients send them.

use crate::Offset;

#[test]
fn an_offset_has_one_spelling() {
    super::check_text("offset", |text| {
        let offset = text.parse::<Offset>();
        if let Ok(offset) = offset {
            assert_eq!(offset.to_string(), text);
        }
        offset.is_ok()
    });
}
