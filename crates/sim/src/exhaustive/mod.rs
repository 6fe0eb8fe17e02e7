//! Exhaustive crashes: every canonical workflow, with a crash at every single call of store and bus, before it took effect and
//! after it did; and again at every call of each recovery.
//!
//! **The walk of one case.** `Case` names a story, how many nodes there are, and at which calls they crash. A story is first
//! told without crashes; `Faults` writes down the number of each call. For each number and each `Moment` a new world with the
//! same seed is made, which is the same world up to that call: `SimStore::call` (or `SimBus::publish`) asks `Faults`, which says
//! that the node dies there. Tasks of the node are dropped, the teller's among them, so the teller is told nothing and tells the
//! story again from its beginning at the next node that is up: with one node that is another process on the same machine at once,
//! with two the other one, while the first stays down for longer than its lease. When the story has come to its end and nothing is
//! on its way any more, its own claims, all checkers and a replay of every journal decide. The calls after the crash are the
//! recovery: with `--twice` there is one more world for each of them. With `--store postgres` the store of every world is a
//! PostgreSQL database.

mod case;
mod command;
mod on_postgres;
mod survey;

pub use case::{CaseReport, simulate_case};
pub use command::run_command;
pub use survey::{Account, Line, Survey};
