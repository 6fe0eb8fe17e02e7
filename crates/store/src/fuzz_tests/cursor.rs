//! Positions in lists, which clients send back.

use crate::list::Cursor;

#[test]
fn a_cursor_has_one_spelling() {
    everstep_fuzz::check_text(env!("CARGO_MANIFEST_DIR"), "cursor", |text| {
        let cursor = text.parse::<Cursor>();
        if let Ok(cursor) = cursor {
            assert_eq!(cursor.to_string(), text);
        }
        cursor.is_ok()
    });
}
