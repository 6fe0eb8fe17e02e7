//! The key-value store: its tables, its snapshots, and back pressure.

pub(crate) mod old_versions;
pub(crate) mod pressure;
pub(crate) mod reclaim;
pub(crate) mod tables;
pub(crate) mod view;
