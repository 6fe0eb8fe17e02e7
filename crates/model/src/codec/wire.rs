//! The trait of everything that can be encoded, and macros that implement it.

use super::error::DecodeError;
use super::reader::Reader;
use super::writer::Writer;

/// A type that can be encoded into a frame and decoded from one.
pub(crate) trait Wire: Sized {
    fn put(&self, out: &mut Writer);
    fn take(input: &mut Reader<'_>) -> Result<Self, DecodeError>;
}

/// Declares structs of journals, as JSON and as bytes. The fields are encoded in order. Those after
/// `+` were added later: they default where older bytes end.
macro_rules! records {
    ($(
        $(#[$meta:meta])*
        pub struct $kind:ident { $($(#[$field_meta:meta])* pub $field:ident: $type:ty,)* }
        $(+ { $($(#[$added_meta:meta])* pub $added:ident: $added_type:ty,)* })?
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $kind {
            $($(#[$field_meta])* pub $field: $type,)*
            $($($(#[$added_meta])* pub $added: $added_type,)*)?
        }
        $crate::codec::struct_codec!($kind { $($field),* } + { $($($added),*)? });
    )*};
}

/// Encodes the named fields in order, then those after `+` as in [`records`].
macro_rules! struct_codec {
    ($kind:ident { $($field:ident),* } + { $($added:ident),* }) => {
        impl $crate::codec::Wire for $kind {
            #[allow(unused_variables, reason = "a record may have no fields")]
            fn put(&self, out: &mut $crate::codec::Writer) {
                $($crate::codec::Wire::put(&self.$field, out);)*
                $($crate::codec::Wire::put(&self.$added, out);)*
            }

            #[allow(unused_variables, reason = "a record may have no fields")]
            fn take(input: &mut $crate::codec::Reader<'_>) -> Result<Self, $crate::codec::DecodeError> {
                Ok(Self {
                    $($field: $crate::codec::Wire::take(input)?,)*
                    $($added: if input.is_empty() {
                        Default::default()
                    } else {
                        $crate::codec::Wire::take(input)?
                    },)*
                })
            }
        }
    };
}

/// Encodes an enum as one permanent byte per variant, followed by the values of the variant.
macro_rules! enum_codec {
    ($kind:ident { $($variant:ident $(($($value:ident),*))? = $byte:literal),* }) => {
        impl $crate::codec::Wire for $kind {
            fn put(&self, out: &mut $crate::codec::Writer) {
                match self {$(
                    Self::$variant $(($($value),*))? => {
                        out.byte($byte);
                        $($($crate::codec::Wire::put($value, out);)*)?
                    }
                )*}
            }

            fn take(input: &mut $crate::codec::Reader<'_>) -> Result<Self, $crate::codec::DecodeError> {
                match input.byte()? {
                    $($byte => {
                        $($(let $value = $crate::codec::Wire::take(input)?;)*)?
                        Ok(Self::$variant $(($($value),*))?)
                    })*
                    _ => Err($crate::codec::DecodeError::Damaged(concat!("an unknown value of ", stringify!($kind)))),
                }
            }
        }
    };
}

/// Encodes structs with one unnamed field like that field.
macro_rules! newtype_codec {
    ($($kind:ident),*) => {$(
        impl $crate::codec::Wire for $kind {
            fn put(&self, out: &mut $crate::codec::Writer) {
                self.0.put(out);
            }

            fn take(input: &mut $crate::codec::Reader<'_>) -> Result<Self, $crate::codec::DecodeError> {
                $crate::codec::Wire::take(input).map(Self)
            }
        }
    )*};
}

pub(crate) use {enum_codec, newtype_codec, records, struct_codec};
