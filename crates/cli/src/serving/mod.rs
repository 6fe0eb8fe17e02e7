//! What `dev` and `serve` share: a store, the settings of a server, and when to stop.

mod logs;
mod place;
mod settings;
mod stopping;
mod traces;

pub(crate) use logs::{FORMATS, LEVELS, show as show_logs};
pub(crate) use place::{Place, open_directory};
pub(crate) use settings::{connections, options};
pub(crate) use stopping::Stopping;
pub(crate) use traces::export as export_traces;
