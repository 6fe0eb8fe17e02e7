//! Types that are written as text: enums of permanent words, and values whose JSON is their text.

/// The length to which error messages shorten invalid text.
const EXCERPT_CHARS: usize = 64;

/// Returns the beginning of an invalid text, for an error message.
pub(crate) fn excerpt(text: &str) -> String {
    text.chars().take(EXCERPT_CHARS).collect()
}

/// Declares an enum whose variants are permanent words.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* pub enum $kind:ident { $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $kind { $($(#[$variant_meta])* $variant,)* }

        impl $kind {
            /// All values, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the permanent word.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// Returns the value with this word.
            #[must_use]
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)* _ => None }
            }
        }

        impl ::std::fmt::Display for $kind {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

/// Implements `Serialize` by `Display`, and `Deserialize` by a function that parses text.
macro_rules! json_as_text {
    ($kind:ident, $parse:expr) => {
        impl serde::Serialize for $kind {
            fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                out.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $kind {
            fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(input)?;
                $parse(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use json_as_text;
