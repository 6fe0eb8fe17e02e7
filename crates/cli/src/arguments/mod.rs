//! Arguments that several commands share.

mod global_options;
mod json_argument;
mod run_filter;
pub(crate) mod values;

pub(crate) use global_options::GlobalOptions;
pub(crate) use json_argument::{JsonArgument, RequiredJson, parse_json};
pub(crate) use run_filter::RunFilter;
