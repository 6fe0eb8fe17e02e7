//! The commands that speak to a server, one file each.

pub(crate) mod answer;
#[cfg(feature = "bench")]
pub(crate) mod bench;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod control;
pub(crate) mod export;
pub(crate) mod key;
pub(crate) mod list;
pub(crate) mod payload;
pub(crate) mod selection;
pub(crate) mod send;
pub(crate) mod show;
pub(crate) mod start;
pub(crate) mod steps;
pub(crate) mod tail;
pub(crate) mod token;
pub(crate) mod waiting;
pub(crate) mod why;
