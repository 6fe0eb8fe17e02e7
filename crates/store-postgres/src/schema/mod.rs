//! The tables and functions, and what their columns hold.

pub(crate) mod frames;
pub(crate) mod head;
pub(crate) mod migrate;
pub(crate) mod row_place;
