//! The state of an open store.

pub(crate) mod cache;
pub(crate) mod inner;
pub(crate) mod leases;
