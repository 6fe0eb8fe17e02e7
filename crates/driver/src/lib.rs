//! The pure state machine of one activation of a run: messages in, actions out.

mod append;
mod message;

pub use append::{Append, Then};
pub use message::Message;
