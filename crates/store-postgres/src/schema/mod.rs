//! The tables and functions, and the encoding of their columns.

pub(crate) mod frames;
pub(crate) mod head;
pub(crate) mod migrate;
pub(crate) mod rows;
