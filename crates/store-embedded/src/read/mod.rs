//! Queries.

pub(crate) mod due;
pub(crate) mod effects;
pub(crate) mod frames;
pub(crate) mod list;
pub(crate) mod members;
pub(crate) mod ranges;
