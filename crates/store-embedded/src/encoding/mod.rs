//! Keys and values as bytes.

pub(crate) mod holes;
pub(crate) mod keys;
pub(crate) mod page;
pub(crate) mod stored_frame;
pub(crate) mod values;
