//! Lengths and distinctness of texts.

use super::*;

#[test]
fn a_text_has_the_requested_length_as_json() {
    for bytes in [2, 3, 100, 101] {
        let text = RandomTexts::of_json_bytes(bytes).next();
        assert_eq!(serde_json::to_string(&text).unwrap().len(), bytes);
    }
}

#[test]
fn texts_differ() {
    let texts = RandomTexts::of_json_bytes(100);
    assert_ne!(texts.next(), texts.next());
}
