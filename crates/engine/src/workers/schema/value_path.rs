//! The path of a mismatch in a value. It becomes text only if the message is needed.

use std::fmt;

/// The number of characters of a field name, or of a value, that a message shows.
const SHOWN_CHARS_MAX: usize = 100;

/// A path in a value, from the inside out.
#[derive(Clone, Copy)]
pub(super) enum ValuePath<'a> {
    Whole,
    Field(&'a str, &'a ValuePath<'a>),
    Item(usize, &'a ValuePath<'a>),
}

impl fmt::Display for ValuePath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("the value"),
            Self::Field(name, of) => write!(f, "field `{}` of {of}", cut(name)),
            Self::Item(index, of) => write!(f, "item {index} of {of}"),
        }
    }
}

/// Cuts a text that is too long for a message.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
