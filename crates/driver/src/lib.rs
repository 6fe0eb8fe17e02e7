//! The pure state machine of one activation of a run: messages in, actions out.

mod action;
mod append;
mod conclusion;
mod driver;
mod dry;
mod ending;
mod execution;
mod history;
mod intake;
mod look;
mod message;
mod outbox;
mod reading;
mod returned;
mod search;
mod setup;
mod state;
mod undoing;

pub use action::{Action, Code, ReadFor};
pub use append::{Append, Then};
pub use execution::{Execution, Host};
pub use message::Message;
pub use returned::{CodeFailure, Returned, Verified};
pub use setup::Setup;
pub use state::Driver;
pub use undoing::UndoEnd;

#[cfg(test)]
mod tests;
