//! The state of an execution as a whole: its phase, pause, cancellation, and why it cannot
//! continue.

use std::collections::VecDeque;

use everstep_model::record::CancelRequested;
use everstep_model::{Body, Entry, ErrorCode, Failure, Origin, RunStatus};

use super::divergence::Halt;
use super::operations::Resolution;

/// How often cancelled code may call operations before the run is ended without its consent.
const REFUSALS_MAX: u32 = 10_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing is folded yet.
    #[default]
    New,
    /// The code runs, or waits for an operation.
    Running,
    /// The function failed and begins again when its timer fires.
    Backoff,
    Returned,
    Ended(RunStatus),
    /// The deadline passed, or an operator made the run fail.
    Broken(Box<Failure>),
}

/// Whether the fold is paused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Pause {
    #[default]
    No,
    /// A pause was requested; steps in flight still finish.
    Requested,
    /// The journal contains the pause.
    Paused,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) phase: Phase,
    pub(super) pause: Pause,
    /// The first request to cancel the run.
    pub(super) cancellation: Option<CancelRequested>,
    /// Requests to end the run that wait for a step that is passing the point of no return.
    pub(super) held: VecDeque<Entry>,
    /// The number of operations that were refused because of the cancellation.
    refusals: u32,
    pub(super) halt: Option<Halt>,
    /// A halt that waits for a step that is passing the point of no return.
    pub(super) held_halt: Option<Halt>,
    /// The divergence that the run is parked with, if the journal ends with one.
    pub(super) parked: Option<Failure>,
}

impl State {
    pub(super) fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Running)
    }

    /// Folds a pause or an end of the run, which mean the same in every phase.
    pub(super) fn fold(&mut self, body: &Body) {
        match body {
            Body::PauseRequested(_) => self.pause = Pause::Requested,
            Body::Paused(_) => self.pause = Pause::Paused,
            body => {
                if let Some(status) = body.terminal() {
                    self.phase = Phase::Ended(status);
                }
            }
        }
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.cancellation.is_some()
    }

    /// Stops the execution. The first reason counts.
    pub(super) fn halt(&mut self, halt: Halt) {
        self.halt.get_or_insert(halt);
    }

    /// Stops the execution for this reason, whatever stopped it before.
    pub(super) fn halt_anyway(&mut self, halt: Halt) {
        self.held_halt = None;
        self.halt = Some(halt);
    }

    /// Returns whether the execution is stopped, or will be when a step has passed the point of no
    /// return. The code calls nothing more.
    #[inline]
    pub(super) fn is_halted(&self) -> bool {
        self.halt.is_some() || self.held_halt.is_some()
    }

    pub(super) fn count_refusal(&mut self) {
        self.refusals += 1;
    }

    pub(super) fn ignores_cancellation(&self) -> bool {
        self.refusals > REFUSALS_MAX
    }

    /// Notes whether the journal ends with a divergence. This is known before the record is folded,
    /// because code that diverges at its first call never folds that far.
    pub(super) fn note_parking(&mut self, body: &Body) {
        match body {
            Body::Diverged(record) => self.parked = Some(record.error.clone()),
            body if body.origin() == Origin::Executor => self.parked = None,
            _ => {}
        }
    }

    /// Returns the result of a step, or a refusal if the run is being cancelled. The journal keeps
    /// the result for its undo, but the code does not continue with it.
    #[inline]
    pub(super) fn unless_cancelled(&self, resolution: impl FnOnce() -> Resolution) -> Resolution {
        if self.is_cancelled() {
            refused()
        } else {
            resolution()
        }
    }
}

/// Returns the resolution of an operation of a cancelled run.
pub(super) fn refused() -> Resolution {
    Resolution::Refused(Box::new(cancelled()))
}

/// Returns the failure of an operation of a cancelled run.
pub(super) fn cancelled() -> Failure {
    Failure::new(
        ErrorCode::Cancelled,
        "the run is being cancelled; nothing new is done",
    )
}
