//! The directory of a store: its lock, its format, and the checks before it is opened.

pub(crate) mod extent;
pub(crate) mod folders;
pub(crate) mod format;
pub(crate) mod journal_check;
pub(crate) mod journals;
pub(crate) mod lock;
pub(crate) mod manifest_check;
pub(crate) mod permissions;
pub(crate) mod presence;
pub(crate) mod unused;
