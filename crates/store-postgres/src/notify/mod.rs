//! Hints between nodes by `NOTIFY`.

pub(crate) mod bus;
pub(crate) mod hints;
pub(crate) mod listener;
