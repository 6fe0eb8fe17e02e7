//! The interface between the engine and the code that executes workflows: a worker receives a run
//! with its journal and the right to append to it.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::task::{Context, Poll};

pub use everstep_driver::{Append, Message, Then};
use everstep_model::{Entry, Generation, Name, RecordNumber, RunId, Timestamp};
use everstep_store::{BoxFuture, StoreError};

use super::declares::Declares;
use crate::runtime::Runtime;
use crate::settings::Settings;

/// A workflow that a worker can execute.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub struct Offer {
    pub workflow: Name,
    /// The versions whose runs the code can execute.
    pub versions: RangeInclusive<u32>,
}

/// Executes workflow code.
pub trait Worker: Send + Sync + 'static {
    /// Returns the workflows that it can execute.
    fn offers(&self) -> Vec<Offer>;

    /// Returns the declarations of a workflow, if the worker has them.
    fn declares(&self, _workflow: &Name) -> Option<Arc<dyn Declares>> {
        None
    }

    /// Returns whether it executes as many runs as it can. The engine then leaves ready runs to
    /// other workers, until [`Engine::look_for_runs`](crate::Engine::look_for_runs) is called.
    fn is_full(&self) -> bool {
        false
    }

    /// Executes a run until it ends, is lost, or is evicted. The future is polled as a task of its
    /// own.
    fn execute(&self, activation: Activation) -> BoxFuture<'static, ()>;
}

/// The connection of an executor to the engine: in the same process, or over a network.
pub trait Seat: Send {
    /// Polls for the next message.
    fn poll_message(&mut self, context: &mut Context<'_>) -> Poll<Message>;

    /// Requests an append. The outcome is a message.
    fn append(&mut self, append: Append);

    /// Reads the records from a number on.
    fn read(&self, from: RecordNumber) -> BoxFuture<'static, Result<Vec<Entry>, StoreError>>;

    /// Time, randomness and tasks, on the engine's clock.
    fn runtime(&self) -> &Arc<dyn Runtime>;

    /// Returns the settings of the engine.
    fn settings(&self) -> &Settings;
}

/// A run to execute, with the right to append to its journal. Dropping it releases the run.
#[allow(missing_docs, reason = "plain data")]
pub struct Activation {
    pub run: RunId,
    pub generation: Generation,
    pub workflow: Name,
    pub version: u32,
    /// The journal so far.
    pub journal: Vec<Entry>,
    /// Whether the last executor died without progress. The start of each attempt is then durable
    /// before the attempt begins, so that a run that crashes processes is recognised.
    pub cautious: bool,
    pub seat: Box<dyn Seat>,
}

impl Activation {
    /// Returns the current time on the engine's clock.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.seat.runtime().now()
    }
}

impl std::fmt::Debug for Activation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Activation({})", self.run)
    }
}
