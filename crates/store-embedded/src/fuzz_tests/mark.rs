//! The file `FORMAT`.

use crate::directory::format::{Mark, parse};

#[test]
fn a_mark_is_parsed_or_refused() {
    super::check_text("mark", |text| {
        let mark = parse(text, "here");
        if let Ok(Mark::Finished) = mark {
            assert!(text.starts_with("everstep store, format "), "{text}");
        }
        mark.map_err(|error| error.code().to_string())
            .map(|mark| mark == Mark::Finished)
    });
}
