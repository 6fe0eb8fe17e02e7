//! The write path.

pub(crate) mod commit;
pub(crate) mod stage;
