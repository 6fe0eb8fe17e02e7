//! Which steps and children are done and not undone, folded from the journal once for everything
//! that depends on it: replay, pauses, copies and the readers.

mod done;
mod fold;
mod subject;
#[cfg(test)]
mod tests;

pub(crate) use done::{Done, Progress};
pub use fold::UndoFold;
pub(crate) use fold::requests_end;
pub use subject::Subject;
