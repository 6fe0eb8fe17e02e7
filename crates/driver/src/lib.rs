//! The pure state machine of one activation of a run: messages in, actions out.
//!
//! An activation is one stretch of executing a run, from a claim until the run is suspended and
//! evicted, or ends. The [`Driver`] makes all decisions of an activation: what is folded, when the
//! code is polled, what is written and when, and when the run is suspended or ends. It has no
//! futures, no clock and no locks. A *shell* owns it, executes the workflow code and performs the
//! actions. The Rust executor in `everstep::execution` is one shell; shells of other languages use
//! the same driver.
//!
//! ```text
//!   engine ── Message ──▶ ┌────────┐ ── Append, Read ───────────────▶ engine
//!                         │ Driver │
//!   code ── settled, ───▶ │        │ ── Start, Resolve, Begin, ─────▶ code
//!           returned      └────────┘    Poll, Drop, BeginUndo
//! ```
//!
//! # The path of one step
//!
//! 1. The shell gets [`Action::Resolve`] (or `Start`) and polls the code. The code calls a step:
//!    `Replay::call` of [`Driver::current`].
//! 2. Nothing is left to fold, so the step may begin. In Rust the step begins its work in the same
//!    poll; other shells get [`Action::Begin`]. The end of the work is `Replay::complete_attempt`.
//! 3. The shell reports [`Driver::settled`], and the driver takes over the records to send.
//! 4. [`Driver::next`] lets the fold take its turn, which is idle, and decides: the result must be
//!    durable before the code continues, so it returns [`Action::Append`].
//! 5. The engine answers with [`Message::Appended`]. The fold gets the records, and the next action
//!    is `Resolve` with the result.
//!
//! # States
//!
//! `Stage` (in `state.rs`) is what the activation does: *working*, *concluding* (a decision is in
//! flight), *deciding again* (a decision waits for an earlier append), *looking* and *searching*
//! (dry executions), *suspended*, *catching up*, *over*. Beside it there are the state of the code
//! (`CodeState`), the read in flight (`Reading`), the append in flight, and whether the engine has
//! requested the end of the activation (`Leave`).
//!
//! # Dry executions
//!
//! A dry execution runs the code against a journal; no step begins and nothing is written. The
//! driver needs them for the second look of development mode (`second_look.rs`), and to find undos
//! that only earlier passes of the function supplied (`undo_search.rs`). It drives them with the
//! same actions as the live execution, one poll at a time, so a shell can return to its event loop
//! in between.

mod action;
mod append;
mod call_sites;
mod conclusion;
mod decision;
mod driver;
mod dry;
mod execution;
mod history;
mod message;
mod messages;
mod reading;
mod returned;
mod second_look;
mod setup;
mod state;
mod undo_search;
mod undoing;
mod unsent;

pub use everstep_machine::UndoEnd;

pub use action::{Action, ExecutionKind, ReadFor};
pub use append::{Append, Then};
pub use execution::{Execution, Host};
pub use message::Message;
pub use returned::{CodeFailure, Returned, Verified};
pub use setup::Setup;
pub use state::Driver;

#[cfg(test)]
mod tests;
