//! The file `EXTENT`.

use crate::directory::extent::parse;

#[test]
fn an_extent_survives_parsing_and_formatting() {
    super::check_text("extent", |text| {
        if let Some((number, end)) = parse(text) {
            let written = format!("journal {number} whole to byte {end}\n");
            assert_eq!(parse(&written), Some((number, end)));
        }
        parse(text).is_some()
    });
}
