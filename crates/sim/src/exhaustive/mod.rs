//! Exhaustive crashes: every canonical workflow with a crash at every call of store and bus, before
//! and after the call takes effect, and again at every call of each recovery.
//!
//! **The course of one case.** A `Case` contains a workflow, a number of nodes, and the calls at
//! which they crash. The workflow is first driven without crashes, and `Faults` records the number
//! of each call. For each number and each `Moment` there is a new world with the same seed, which
//! is identical up to that call: `Faults` returns the crash of the node to `SimStore`
//! (or `SimBus`). The tasks of the node are dropped, including the one that drives the workflow.
//! Therefore the workflow is driven again from the start at the next node that is up: with one node
//! that is a new process on the same machine, with two it is the other one, while the first stays
//! down for longer than its lease. When the workflow has ended and all effects are delivered, its
//! own assertions, all checks and a replay of every journal decide. The calls after the crash are
//! the recovery: with `--twice` there is one more world for each of them. With `--store postgres`
//! the store of every world is a PostgreSQL database.

mod case;
mod command;
mod on_postgres;
mod survey;

pub use case::{CaseReport, simulate_case};
pub use command::run_command;
pub use survey::{Account, Line, Survey};
