//! Rows that follow from the records of a commit: timers and open rpcs (`rows.rs`), and effects of
//! one run on another (`cause.rs` decides which, `effect.rs` encodes them).

mod cause;
mod effect;
mod rows;

pub(crate) use cause::{Cause, OpenChildren, Origin};
pub(crate) use effect::{ChildFinished, Effect, StartChild, outcome_of};
pub(crate) use rows::{OpenRows, dropped, obsolete_key, project};
