//! The trait of everything that can be encoded, and macros that implement it.

use super::error::DecodeError;
use super::reader::Reader;
use super::writer::Writer;

/// A type that can be encoded into a frame and decoded from one.
pub(crate) trait Wire: Sized {
    fn put(&self, out: &mut Writer);
    fn take(input: &mut Reader<'_>) -> Result<Self, DecodeError>;
}

/// Encodes the named fields in order. Fields after `+` were added later and default where older bytes end.
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

/// Encodes an enum without data as one permanent byte per variant.
macro_rules! byte_codec {
    ($kind:ident { $($variant:ident = $byte:literal),* $(,)? }) => {
        impl $crate::codec::Wire for $kind {
            fn put(&self, out: &mut $crate::codec::Writer) {
                out.byte(match self { $(Self::$variant => $byte,)* });
            }
            fn take(input: &mut $crate::codec::Reader<'_>) -> Result<Self, $crate::codec::DecodeError> {
                match input.byte()? {
                    $($byte => Ok(Self::$variant),)*
                    _ => Err($crate::codec::DecodeError::Damaged(concat!("an unknown value of ", stringify!($kind)))),
                }
            }
        }
    };
}

pub(crate) use {byte_codec, codec};
