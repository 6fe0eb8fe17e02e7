//! The workflow API through its router, on a virtual clock.

mod bulk;
mod control;
mod listing;
mod looking;
mod messages;
mod starting;
pub(crate) mod support;
