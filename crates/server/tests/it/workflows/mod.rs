//! The workflow API through its router, on a virtual clock.

mod bulk;
mod control;
mod inspecting;
mod listing;
mod memory;
mod messages;
mod paging;
mod records;
mod starting;
pub(crate) mod support;
