//! Where in a value something does not fit. It is put into words only for somebody who reads them.

use std::fmt;

/// Characters of a field's name, or of a value, that are shown.
const SHOWN_CHARS_MAX: usize = 100;

/// A place in a value, from the inside out.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    Whole,
    Field(&'a str, &'a Place<'a>),
    Item(usize, &'a Place<'a>),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("the value"),
            Self::Field(name, of) => write!(f, "field `{}` of {of}", cut(name)),
            Self::Item(index, of) => write!(f, "item {index} of {of}"),
        }
    }
}

/// The beginning of a text, as much as people care to read.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
