//! The judgement of commits: pure functions, one for each kind of commit, shared by all backends
//! that can load a head.
//!
//! A backend loads the heads, looks up rows, and applies the verdict. It also adds the missed
//! records to [`crate::Refusal::InboxGrew`], which a judgement returns without them. Backends
//! behave alike because they share these functions. The PostgreSQL backend judges in PL/pgSQL by
//! the same rules; the test kit compares both.

mod append;
mod create;
mod deliver;
mod guards;
mod lease;
mod remove;
mod rows;
mod status;
mod verdict;

pub use append::judge_append;
pub use create::{judge_create, judge_superseded};
pub use deliver::judge_deliver;
pub use lease::UNPROVEN_MAX;
pub use remove::judge_removal;
pub use rows::judge_rows;
pub use status::{status_once_taken, status_once_woken};
pub use verdict::{JudgeContext, Verdict};
