//! The encoding of values: compact, and readable by later releases. `docs/format.md` describes it.
//!
//! A record's fields are written in order after the length of the whole. Later releases may only
//! add fields at the end: older readers skip them, and newer readers use the default where older
//! bytes end.

mod error;
mod failure;
mod reader;
mod values;
mod wire;
mod writer;

pub use error::{DecodeError, FORMAT_VERSION};
pub(crate) use reader::Reader;
pub(crate) use wire::{Wire, enum_codec, records, struct_codec};
pub(crate) use writer::Writer;
