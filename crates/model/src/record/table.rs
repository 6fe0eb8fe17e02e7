//! The macro behind the table of record kinds: it turns the rows in `mod.rs` into
//! [`Body`](super::Body) and into every function that returns a property of the kind.

use super::ChildOutcome;
use crate::payload::Payload;

/// A field that the table of kinds names as a payload.
pub(super) trait Carried {
    fn carried(&self) -> Option<&Payload>;

    /// Replaces the payload, if there is one, by `null`.
    fn remove(&mut self);
}

impl Carried for Payload {
    fn carried(&self) -> Option<&Payload> {
        Some(self)
    }

    fn remove(&mut self) {
        *self = Payload::null();
    }
}

impl Carried for Option<Payload> {
    fn carried(&self) -> Option<&Payload> {
        self.as_ref()
    }

    fn remove(&mut self) {
        self.iter_mut().for_each(Carried::remove);
    }
}

impl Carried for ChildOutcome {
    fn carried(&self) -> Option<&Payload> {
        match self {
            Self::Completed(result) => Some(result),
            Self::Failed(_) | Self::Cancelled(_) => None,
        }
    }

    fn remove(&mut self) {
        if let Self::Completed(result) = self {
            result.remove();
        }
    }
}

/// Builds `Body` from rows. The columns are, in order: struct = tag, type name,
/// [`Origin`](super::Origin), [`Actor`](super::Actor), location, role in the script, direction,
/// payload fields, fields that readers see, and `boxed` for structs that are large and rare.
///
/// - location: `at` an operation, `maybe` at one, or about the whole `run`.
/// - script: `scripted` records follow from the journal alone; `written` ones are scripted and
///   complete as soon as they are written; of `first` only the first record of an operation is
///   scripted; `free` records are results and inbox records.
/// - direction: code that writes a `forward` record has left a rollback that it requested; `still`
///   records prove nothing.
/// - fields that readers see: an allow-list of wire names, so that a field added for the engine
///   stays hidden until its row names it.
///
/// The leading `($)` lets the macro define `match_record`, which needs a literal dollar sign.
macro_rules! record_kinds {
    (($dollar:tt) $(
        $kind:ident = $tag:literal, $text:literal, $origin:ident, $actor:ident, $location:ident, $script:ident,
        $direction:ident, ($($payload:ident)*), [$($shown:ident)*] $(, $boxed:ident)?;
    )*) => {
        /// The content of a record. Each variant carries one struct; large and rare structs are
        /// boxed, because every step moves its records many times.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs, reason = "each variant is named and documented by the struct it carries")]
        pub enum Body { $($kind(record_kinds!(@held $kind $($boxed)?)),)* }

        impl Body {
            /// Every type name, in the order of the tags.
            pub const TYPE_NAMES: &'static [&'static str] = &[$($text,)*];

            /// Returns the permanent name on the wire, without the prefix `workflow:`.
            #[must_use]
            pub fn type_name(&self) -> &'static str {
                match self { $(Self::$kind(_) => $text,)* }
            }

            /// Returns the permanent number in frames.
            #[must_use]
            pub fn tag(&self) -> u8 {
                match self { $(Self::$kind(_) => $tag,)* }
            }

            /// Returns the writers that may append this kind.
            #[must_use]
            pub fn origin(&self) -> Origin {
                match self { $(Self::$kind(_) => Origin::$origin,)* }
            }

            /// Returns the cause of the record.
            #[must_use]
            pub fn actor(&self) -> Actor {
                match self { $(Self::$kind(_) => Actor::$actor,)* }
            }

            /// Returns the operation that the record is about, if there is one.
            #[must_use]
            pub fn location(&self) -> Option<&Location> {
                match self { $(Self::$kind(_r) => record_kinds!(@location $location _r),)* }
            }

            /// Whether the record follows from the journal alone, so that every execution writes it
            /// at the same position.
            #[must_use]
            pub fn is_scripted(&self) -> bool {
                match self { $(Self::$kind(_r) => record_kinds!(@scripted $script _r),)* }
            }

            /// Whether the operation is complete as soon as this scripted record is written.
            #[must_use]
            pub fn is_written_once(&self) -> bool {
                match self { $(Self::$kind(_) => record_kinds!(@written $script),)* }
            }

            /// Whether code that writes this record has left any rollback that it requested. Input
            /// from outside and results of earlier calls prove nothing.
            #[must_use]
            pub fn goes_forward(&self) -> bool {
                match self { $(Self::$kind(_) => record_kinds!(@direction $direction),)* }
            }

            /// Returns the user's values that the record carries.
            pub fn payloads(&self) -> impl Iterator<Item = &Payload> {
                let both = match self { $(Self::$kind(_r) => record_kinds!(@payloads _r $($payload)*),)* };
                both.into_iter().flatten()
            }

            /// Replaces the user's values that the record carries by `null`, for readers that do
            /// not show them.
            pub fn remove_payloads(&mut self) {
                match self { $(Self::$kind(_r) => record_kinds!(@remove _r $($payload)*),)* }
            }

            /// Returns the wire names of the fields that readers see, in the order in which they
            /// are shown.
            #[must_use]
            pub fn shown_fields(&self) -> &'static [&'static str] {
                match self { $(Self::$kind(_) => &[$(stringify!($shown),)*],)* }
            }

            /// Returns the wire names of all fields of a kind.
            #[cfg(test)]
            pub(crate) fn field_names(type_name: &str) -> Option<&'static [&'static str]> {
                match type_name {
                    $($text => Some(crate::protocol_tests::field_names::<$kind>()),)*
                    _ => None,
                }
            }

            pub(crate) fn put_fields(&self, out: &mut crate::codec::Writer) {
                match self { $(Self::$kind(r) => <$kind as crate::codec::Wire>::put(r, out),)* }
            }

            pub(crate) fn take_fields(
                tag: u8,
                input: &mut crate::codec::Reader<'_>,
            ) -> Result<Self, crate::codec::DecodeError> {
                match tag {
                    $($tag => <$kind as crate::codec::Wire>::take(input).map(Self::from),)*
                    other => Err(crate::codec::DecodeError::UnknownRecord(other)),
                }
            }

            /// Returns all fields as a JSON object, including those that only the engine may see.
            pub fn to_json(&self) -> Result<String, serde_json::Error> {
                match self { $(Self::$kind(r) => serde_json::to_string(r),)* }
            }

            pub(crate) fn from_json(type_name: &str, value: &str) -> Option<Result<Self, serde_json::Error>> {
                match type_name {
                    $($text => Some(serde_json::from_str::<$kind>(value).map(Self::from)),)*
                    _ => None,
                }
            }
        }

        $(impl From<$kind> for Body {
            fn from(record: $kind) -> Self {
                Self::$kind(record_kinds!(@hold record $($boxed)?))
            }
        })*

        /// Evaluates an expression with the struct of a [`Body`], whatever its kind:
        /// `match_record!(body, r => r.describe())`.
        #[macro_export]
        macro_rules! match_record {
            ($dollar body:expr, $dollar record:ident => $dollar value:expr) => {
                match $dollar body { $($crate::Body::$kind($dollar record) => $dollar value,)* }
            };
        }
    };
    (@held $kind:ident) => { $kind };
    (@held $kind:ident boxed) => { Box<$kind> };
    (@hold $record:ident) => { $record };
    (@hold $record:ident boxed) => { Box::new($record) };
    (@location at $record:ident) => { Some(&$record.location) };
    (@location maybe $record:ident) => { $record.location.as_ref() };
    (@location run $record:ident) => { { let _ = $record; None } };
    (@scripted first $record:ident) => { $record.options.is_some() };
    (@scripted free $record:ident) => { { let _ = $record; false } };
    (@scripted $script:ident $record:ident) => { { let _ = $record; true } };
    (@written written) => { true };
    (@written $script:ident) => { false };
    (@direction forward) => { true };
    (@direction still) => { false };
    (@remove $record:ident $($field:ident)*) => { { let _ = &$record; $($record.$field.remove();)* } };
    (@payloads $record:ident) => { { let _ = $record; [None, None] } };
    (@payloads $record:ident $one:ident) => { [$record.$one.carried(), None] };
    (@payloads $record:ident $one:ident $two:ident) => { [$record.$one.carried(), $record.$two.carried()] };
}
pub(super) use record_kinds;
