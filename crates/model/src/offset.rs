//! Offsets, the positions in a stream that clients see, and record numbers, which stores and
//! executors use.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The number of a record within its stream, counted from 0.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct RecordNumber(pub u64);

impl RecordNumber {
    /// Returns the number `n` records later. Saturates, because a damaged number may be close to
    /// the maximum.
    #[must_use]
    pub fn plus(self, n: usize) -> Self {
        Self(self.0.saturating_add(n as u64))
    }
}

impl fmt::Display for RecordNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The records `first..=last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs, reason = "plain data")]
pub struct RecordRange {
    pub first: RecordNumber,
    pub last: RecordNumber,
}

/// Increases when a stream is created again or a store is restored with loss, so that an offset
/// never changes its meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term(pub u64);

/// A position between two records: everything before `next` has been read. Text order equals offset
/// order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Offset {
    /// The term of the stream to which the offset belongs.
    pub term: Term,
    /// The first record that has not been read.
    pub next: RecordNumber,
}

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016}_{:016}", self.term.0, self.next.0)
    }
}

/// Text that is not an [`Offset`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an offset is two 16-digit decimals joined by an underscore")]
pub struct InvalidOffset;

impl FromStr for Offset {
    type Err = InvalidOffset;
    fn from_str(text: &str) -> Result<Self, InvalidOffset> {
        let (term, next) = text.split_once('_').ok_or(InvalidOffset)?;
        let number = |digits: &str| {
            if digits.len() != 16 || !digits.bytes().all(|b| b.is_ascii_digit()) {
                return Err(InvalidOffset);
            }
            digits.parse::<u64>().map_err(|_| InvalidOffset)
        };
        Ok(Self {
            term: Term(number(term)?),
            next: RecordNumber(number(next)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn text_order_is_offset_order(a in 0u64..10_000_000_000, b in 0u64..10_000_000_000, t in 0u64..3, u in 0u64..3) {
            let x = Offset { term: Term(t), next: RecordNumber(a) };
            let y = Offset { term: Term(u), next: RecordNumber(b) };
            prop_assert_eq!(x.cmp(&y), x.to_string().cmp(&y.to_string()));
            prop_assert_eq!(x.to_string().parse::<Offset>(), Ok(x));
        }

        #[test]
        fn arbitrary_text_never_panics(text in ".{0,40}") {
            if let Ok(offset) = text.parse::<Offset>() {
                prop_assert_eq!(offset.to_string(), text);
            }
        }
    }
}
