//! Rows and parts of keys as bytes, identical in all backends that store bytes. `docs/format.md`
//! describes them; they are permanent.

mod bytes;
mod key_parts;
mod rows;
mod shared;
mod stream;

pub use bytes::{Damaged, In, Out, text};
pub use key_parts::{TAIL_MAX, checked_name, purpose, put_timer, tail, take_timer};
pub use rows::{Unreadable, VERSION, decode_effect, decode_row, encode_row, versioned};
pub use shared::{decode_shared_key, range_bounds, shared_key};
