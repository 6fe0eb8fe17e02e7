//! Connections to the database.

pub(crate) mod argument;
pub(crate) mod backoff;
pub(crate) mod commit_channels;
pub(crate) mod connector;
pub(crate) mod direct;
pub(crate) mod io;
pub(crate) mod options;
pub(crate) mod pace;
pub(crate) mod pool;
pub(crate) mod prepared;
pub(crate) mod safety;
pub(crate) mod tls;
