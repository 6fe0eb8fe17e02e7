//! The bytes of records: compact, versioned, and readable by later releases. `docs/format.md` describes them.
//!
//! A record's fields are written in order behind the length of the whole. Later releases may only add fields at the
//! end: an older reader skips what it does not know, a newer one takes the default where the bytes end.

mod failure;
mod frame;
mod reader;
mod values;
mod writer;

pub use frame::{FORMAT_VERSION, Frame, FrameHeader};
pub(crate) use reader::Reader;
pub(crate) use writer::Writer;

/// Why bytes are not a frame.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Written by a release with a newer format.
    #[error(
        "the frame has format version {0}, this release reads up to {FORMAT_VERSION}; upgrade Everstep"
    )]
    NewerFormat(u8),
    /// A kind of record this release does not know.
    #[error(
        "the frame holds a record of kind {0}, which this release does not know; upgrade Everstep"
    )]
    UnknownRecord(u8),
    /// Not what was written.
    #[error("the frame is damaged: {0}")]
    Damaged(&'static str),
}

/// A type that can be written into a frame and read back.
pub(crate) trait Wire: Sized {
    fn put(&self, out: &mut Writer);
    fn take(input: &mut Reader<'_>) -> Result<Self, DecodeError>;
}

/// Writes the named fields in order. Fields behind `+` were added later and default where older bytes end.
macro_rules! codec {
    ($kind:ident { $($field:ident),* $(,)? } $(+ { $($added:ident),* $(,)? })?) => {
        impl $crate::codec::Wire for $kind {
            #[allow(unused_variables, reason = "a record may have no fields")]
            fn put(&self, out: &mut $crate::codec::Writer) {
                $($crate::codec::Wire::put(&self.$field, out);)*
                $($($crate::codec::Wire::put(&self.$added, out);)*)?
            }

            #[allow(unused_variables, reason = "a record may have no fields")]
            fn take(input: &mut $crate::codec::Reader<'_>) -> Result<Self, $crate::codec::DecodeError> {
                Ok(Self {
                    $($field: $crate::codec::Wire::take(input)?,)*
                    $($($added: if input.is_empty() {
                        Default::default()
                    } else {
                        $crate::codec::Wire::take(input)?
                    },)*)?
                })
            }
        }
    };
}
pub(crate) use codec;

#[cfg(test)]
mod tests;
