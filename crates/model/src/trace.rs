//! Trace ids of OpenTelemetry, and the `traceparent` header of W3C Trace Context.
//!
//! Ids are digests, so every process that handles a run computes the same ones.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

use crate::text::json_as_text;

/// The version of Trace Context that this crate writes.
const VERSION: &str = "00";
/// The flag `sampled`.
const SAMPLED: &str = "01";

macro_rules! hex_id {
    ($(#[$doc:meta])* $name:ident($bytes:literal)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub [u8; $bytes]);

        impl $name {
            /// Derives the id from these parts. Other parts give other ids.
            #[must_use]
            pub fn of(parts: &[&[u8]]) -> Self {
                let mut hash = Sha256::new();
                for part in parts {
                    hash.update((part.len() as u64).to_be_bytes());
                    hash.update(part);
                }
                let mut id = [0; $bytes];
                for (to, from) in id.iter_mut().zip(hash.finalize()) {
                    *to = from;
                }
                Self(id)
            }

            fn parse(text: &str) -> Option<Self> {
                let is_lower_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
                if text.len() != 2 * $bytes || !text.bytes().all(is_lower_hex) {
                    return None;
                }
                let mut id = [0; $bytes];
                for (to, pair) in id.iter_mut().zip(text.as_bytes().chunks(2)) {
                    *to = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
                }
                // An id of zeroes is not valid.
                (id != [0; $bytes]).then_some(Self(id))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
    };
}

hex_id! {
    /// A trace.
    TraceId(16)
}
hex_id! {
    /// One span of a trace.
    SpanId(8)
}

/// A span to which new spans are attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "plain data")]
pub struct TraceParent {
    pub trace: TraceId,
    pub span: SpanId,
}

json_as_text!(TraceParent, TraceParent::from_str);

/// Text that is not a `traceparent`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid traceparent: the format is 00-<32 hex digits>-<16 hex digits>-01")]
pub struct InvalidTraceParent;

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{VERSION}-{}-{}-{SAMPLED}", self.trace, self.span)
    }
}

impl FromStr for TraceParent {
    type Err = InvalidTraceParent;

    /// Parses a header of this version or a later one, which begins with the same fields.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut fields = text.split('-');
        let mut field = || fields.next().ok_or(InvalidTraceParent);
        let (version, trace, span, flags) = (field()?, field()?, field()?, field()?);
        let is_version = version.len() == 2 && version != "ff" && flags.len() == 2;
        let is_whole = version != VERSION || fields.next().is_none();
        match (TraceId::parse(trace), SpanId::parse(span)) {
            (Some(trace), Some(span)) if is_version && is_whole => Ok(Self { trace, span }),
            _ => Err(InvalidTraceParent),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_traceparent_round_trips() {
        let parent: TraceParent = LINE.parse().unwrap();
        assert_eq!(parent.to_string(), LINE);
    }

    #[test]
    fn only_later_versions_may_have_more_fields() {
        assert!(
            format!("01{}-more", &LINE[2..])
                .parse::<TraceParent>()
                .is_ok()
        );
        assert!(format!("{LINE}-more").parse::<TraceParent>().is_err());
    }

    #[test]
    fn invalid_traceparents_are_refused() {
        let zeroes = "00-00000000000000000000000000000000-b7ad6b7169203331-01";
        let upper = "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01";
        for line in ["", "00", zeroes, upper, "ff-a-b-01", "00-1-2-3"] {
            assert!(line.parse::<TraceParent>().is_err(), "{line}");
        }
    }

    #[test]
    fn ids_depend_on_the_parts_and_their_boundaries() {
        assert_eq!(SpanId::of(&[b"a", b"b"]), SpanId::of(&[b"a", b"b"]));
        assert_ne!(SpanId::of(&[b"ab", b""]), SpanId::of(&[b"a", b"b"]));
    }
}
