//! The actions that a driver returns to its shell.

use everstep_machine::{Divergence, Halt, OpId, Resolution, UndoStart};
use everstep_model::{Payload, RecordNumber};

use crate::append::Append;
use crate::returned::Verified;

/// One thing for the shell to do. The shell performs actions in the order in which it gets them.
///
/// `Start`, `Resolve`, `Begin` and `Poll` address the code of [`Driver::current`]. After each of
/// them the shell reports [`Driver::settled`] or [`Driver::returned`].
///
/// [`Driver::current`]: crate::Driver::current
/// [`Driver::settled`]: crate::Driver::settled
/// [`Driver::returned`]: crate::Driver::returned
#[derive(Debug, PartialEq)]
pub enum Action {
    /// Call the workflow function with this input and poll it once.
    Start(Payload),
    /// Hand this to the operation and poll the code once.
    Resolve(OpId, Resolution),
    /// The steps in [`Driver::startable`](crate::Driver::startable) may begin an attempt.
    Begin,
    /// Something inside the code was woken: poll the code once.
    Poll,
    /// Drop the code. The driver keeps the undos that it supplied as long as it needs them.
    Drop(ExecutionKind),
    /// Signal the cancellation of the run to the steps in flight.
    Cancel,
    /// Begin an attempt to undo a step or child, and report its end.
    BeginUndo(Box<UndoStart>),
    /// Drop the attempt to undo that is in flight, if any: the execution begins again.
    DropUndo,
    /// Write this, then wait for a message. The answer arrives as a message.
    Append(Append),
    /// Report [`Driver::flush`](crate::Driver::flush) after the flush interval, unless an append
    /// comes first.
    Flush,
    /// Read the journal. A read replaces an earlier one for the same purpose.
    Read(ReadFor, RecordNumber),
    /// Log that the code is not deterministic.
    Report(Box<Divergence>),
    /// The result of [`Driver::check`](crate::Driver::check).
    Checked(Box<Result<Verified, Halt>>),
    /// Wait for a message.
    Wait,
    /// The activation is over: drop everything.
    Exit,
}

impl Action {
    /// Returns `None` for `Wait`, which a queue must not contain: what follows it may have changed
    /// by the time it is reached.
    pub(crate) fn unless_wait(self) -> Option<Self> {
        (self != Self::Wait).then_some(self)
    }
}

/// The kind of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecutionKind {
    /// It executes the run.
    Live,
    /// It runs against a journal without writing anything.
    Dry,
}

/// Why the journal is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadFor {
    /// To continue the fold, or to begin it again.
    Fold,
    /// To find undos that only earlier passes of the function supplied.
    Undos,
}
