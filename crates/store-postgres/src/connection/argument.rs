//! Arguments of statements with their types, which an unnamed statement must declare.

use tokio_postgres::types::{ToSql, Type};

pub(crate) type Argument<'a> = (&'a (dyn ToSql + Sync), Type);

pub(crate) fn argument<T: Typed>(value: &T) -> Argument<'_> {
    (value, T::TYPE)
}

/// Arguments for these values, in this order.
macro_rules! arguments {
    ($($value:expr),*) => { [$($crate::connection::argument::argument(&$value)),*] };
}
pub(crate) use arguments;

/// A type that PostgreSQL has too.
pub(crate) trait Typed: ToSql + Sync {
    const TYPE: Type;
}

/// A type of which PostgreSQL has arrays.
pub(crate) trait Element: ToSql + Sync {
    const ARRAY: Type;
}

macro_rules! types {
    ($($rust:ty => $sql:ident, $array:ident;)*) => {$(
        impl Typed for $rust {
            const TYPE: Type = Type::$sql;
        }
        impl Element for $rust {
            const ARRAY: Type = Type::$array;
        }
    )*};
}

types! {
    bool => BOOL, BOOL_ARRAY;
    i16 => INT2, INT2_ARRAY;
    i32 => INT4, INT4_ARRAY;
    i64 => INT8, INT8_ARRAY;
    &str => TEXT, TEXT_ARRAY;
    String => TEXT, TEXT_ARRAY;
    &[u8] => BYTEA, BYTEA_ARRAY;
    Vec<u8> => BYTEA, BYTEA_ARRAY;
}

impl<T: Typed> Typed for Option<T> {
    const TYPE: Type = T::TYPE;
}

impl<T: Element> Element for Option<T> {
    const ARRAY: Type = T::ARRAY;
}

impl<T: Element> Typed for Vec<T> {
    const TYPE: Type = T::ARRAY;
}
