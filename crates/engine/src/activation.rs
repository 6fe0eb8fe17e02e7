//! The port between the engine and whoever runs workflow code: here is a run, its journal, and the right to append.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::task::{Context, Poll};

pub use everstep_driver::{Append, Message, Then};
use everstep_model::{Entry, Generation, Name, RecordNumber, RunId, Timestamp};
use everstep_store::{BoxFuture, StoreError};

use crate::declares::Declares;
use crate::runtime::Runtime;
use crate::settings::Settings;

/// A workflow somebody can execute, and the versions of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The workflow.
    pub workflow: Name,
    /// The versions whose runs the code can execute.
    pub versions: RangeInclusive<u32>,
}

/// Executes workflow code.
pub trait Worker: Send + Sync + 'static {
    /// What it can execute.
    fn offers(&self) -> Vec<Offer>;

    /// What a workflow says about itself, if this worker knows.
    fn declares(&self, _workflow: &Name) -> Option<Arc<dyn Declares>> {
        None
    }

    /// Whether it has as much to do as it can hold. Its engine then leaves runs that are ready to others, and takes them when
    /// it is told that there is room ([`Engine::look_for_runs`](crate::Engine::look_for_runs)).
    fn is_full(&self) -> bool {
        false
    }

    /// Executes a run until it ends, is lost, or is evicted. The future is polled as a task of its own.
    fn execute(&self, activation: Activation) -> BoxFuture<'static, ()>;
}

/// Where an executor sits: how it hears of its run, and how it writes. In the process of the engine, or at the other end of a
/// connection.
pub trait Seat: Send {
    /// The next message, if there is one; the task is woken when one comes.
    fn poll_message(&mut self, context: &mut Context<'_>) -> Poll<Message>;

    /// Sends records to be written. The answer comes as a message.
    fn append(&mut self, append: Append);

    /// The records from `from` on.
    fn read(&self, from: RecordNumber) -> BoxFuture<'static, Result<Vec<Entry>, StoreError>>;

    /// Time, randomness and tasks. Its clock is the engine's.
    fn runtime(&self) -> &Arc<dyn Runtime>;

    /// The settings under which it executes.
    fn settings(&self) -> &Settings;
}

/// A run to execute, with the right to append to its journal. Dropping it lets go of the run.
pub struct Activation {
    /// The run.
    pub run: RunId,
    /// Its life.
    pub generation: Generation,
    /// Its workflow.
    pub workflow: Name,
    /// The version of its workflow.
    pub version: u32,
    /// The journal so far.
    pub journal: Vec<Entry>,
    /// Whether its last executor died without progress: each attempt's start is then durable before it begins, so that a
    /// run that ends processes shows.
    pub cautious: bool,
    /// Where its executor sits.
    pub seat: Box<dyn Seat>,
}

impl Activation {
    /// The next message, if there is one; the task is woken when one comes.
    pub fn poll_message(&mut self, context: &mut Context<'_>) -> Poll<Message> {
        self.seat.poll_message(context)
    }

    /// Sends records to be written. The answer comes as a message.
    pub fn append(&mut self, append: Append) {
        self.seat.append(append);
    }

    /// The records from `from` on.
    pub fn read(&self, from: RecordNumber) -> BoxFuture<'static, Result<Vec<Entry>, StoreError>> {
        self.seat.read(from)
    }

    /// The engine's clock.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.seat.runtime().now()
    }

    /// The executor's runtime, on the engine's clock.
    #[must_use]
    pub fn runtime(&self) -> Arc<dyn Runtime> {
        self.seat.runtime().clone()
    }

    /// The executor's settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        self.seat.settings()
    }
}

impl std::fmt::Debug for Activation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Activation({})", self.run)
    }
}
