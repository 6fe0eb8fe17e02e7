//! The commands, one file each. The control verbs share `control/`.

pub(crate) mod answer;
#[cfg(feature = "bench")]
pub(crate) mod bench;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod control;
pub(crate) mod dev;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod key;
pub(crate) mod list;
pub(crate) mod open;
mod pages;
pub(crate) mod salvage;
pub(crate) mod send;
pub(crate) mod serve;
pub(crate) mod shape;
pub(crate) mod show;
pub(crate) mod start;
mod start_batch;
pub(crate) mod status;
pub(crate) mod stream;
pub(crate) mod tail;
pub(crate) mod timeline;
pub(crate) mod token;
pub(crate) mod unknown_workflow;
pub(crate) mod why;
pub(crate) mod workflows;
