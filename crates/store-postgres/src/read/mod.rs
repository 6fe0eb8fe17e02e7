//! Queries.

pub(crate) mod count;
pub(crate) mod due;
pub(crate) mod list;
pub(crate) mod ranges;
pub(crate) mod reading;
mod run_filters;
