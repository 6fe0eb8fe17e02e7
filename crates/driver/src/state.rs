//! The states of a driver.

use std::collections::VecDeque;

use everstep_machine::{OpId, Replay, UndoStart};
use everstep_model::{Entry, Failure, Timestamp};

use crate::action::Action;
use crate::call_sites::CallSites;
use crate::conclusion::Conclusion;
use crate::dry::Dry;
use crate::execution::Execution;
use crate::history::History;
use crate::returned::Returned;
use crate::setup::Setup;
use crate::unsent::{InFlight, Unsent};

// Large type: one method for each message of the engine and each report of the shell, in a file
// for each topic.
/// The state machine of one activation. See the crate's documentation.
#[derive(Debug)]
pub struct Driver<H> {
    pub(crate) setup: Setup,
    pub(crate) live: Execution<H>,
    pub(crate) code: CodeState,
    pub(crate) stage: Stage<H>,
    pub(crate) append: Option<InFlight>,
    pub(crate) unsent: Unsent,
    pub(crate) reading: Reading,
    pub(crate) undoing: Undoing,
    pub(crate) leave: Leave,
    /// Whether an append was refused, so that only the reason is written.
    pub(crate) is_refused: bool,
    /// Actions that messages led to.
    pub(crate) queue: VecDeque<Action>,
    pub(crate) offered: Offered,
    pub(crate) now: Timestamp,
    pub(crate) history: Option<History>,
    pub(crate) sites: CallSites,
}

/// What the activation is doing.
#[derive(Debug)]
pub(crate) enum Stage<H> {
    /// It folds, lets the code continue, and writes.
    Working,
    /// The append of a decision is in flight.
    Concluding(OnAnswer),
    /// A decision was made while an earlier append was in flight. It is made again after the
    /// answer.
    DecidingAgain,
    /// A dry execution repeats what led to a decision.
    Looking(Box<Look<H>>),
    /// Dry executions search for undos of earlier passes.
    Searching(Box<Search<H>>),
    /// The run is suspended and stays in memory.
    Suspended,
    /// The run has work again. Records that other nodes wrote meanwhile are being read.
    CatchingUp,
    Over,
}

/// What follows the answer to the append of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnAnswer {
    Continue,
    /// Execute the code again, from what the journal then contains.
    Restart,
    /// The rollback begins; if the append is refused, it was not announced.
    ContinueRollback,
}

/// The code of the live execution.
#[derive(Debug)]
pub(crate) enum CodeState {
    /// Not started, or dropped.
    Absent,
    Running,
    /// It continues although its run was cancelled, and is dropped.
    IgnoresCancellation,
    Returned(Returned),
    /// Dropped, because the deadline passed or an operator made the run fail.
    Broken(Failure),
}

/// Whether the engine requested the end of the activation. Later variants take precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Leave {
    No,
    /// When the run is suspended.
    WhenSuspended,
    /// When the steps in flight have ended.
    Soon,
}

impl CodeState {
    /// Returns how the run ends, if its code is done.
    pub(crate) fn ending(
        &self,
        replay: &Replay,
        setup: &Setup,
        now: Timestamp,
    ) -> Option<Conclusion> {
        match self {
            Self::Broken(failure) => Some(Conclusion::Broken(failure.clone())),
            Self::Returned(returned) => {
                let retries = setup.execution_retries;
                Some(Conclusion::of_return(returned, replay, retries, now))
            }
            Self::Absent | Self::Running | Self::IgnoresCancellation => None,
        }
    }
}

/// Steps that were offered to the code. A step is offered once.
#[derive(Debug, Default)]
pub(crate) struct Offered(pub(crate) Vec<OpId>);

impl Offered {
    /// Returns whether there are steps to begin that the code was not offered yet.
    pub(crate) fn update(&mut self, replay: &Replay) -> bool {
        let startable = replay.status().startable();
        if startable.clone().eq(self.0.iter().copied()) {
            return false;
        }
        self.0.clear();
        self.0.extend(startable);
        !self.0.is_empty()
    }
}

#[derive(Debug)]
pub(crate) struct Look<H> {
    pub(crate) dry: Dry<H>,
    pub(crate) purpose: LookPurpose,
}

/// What a second look is for. It is done if the code did the same again.
#[derive(Debug)]
pub(crate) enum LookPurpose {
    Conclude(Conclusion),
    /// The run rolls back and then ends like this.
    RollBack(Conclusion),
    /// The dry execution is all there is: its result is reported.
    Report,
}

#[derive(Debug)]
pub(crate) struct Search<H> {
    pub(crate) journal: Vec<Entry>,
    /// Ends of the passes that were not executed yet, the latest last.
    pub(crate) ends: Vec<usize>,
    pub(crate) dry: Dry<H>,
}

/// The read of the journal that is in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    Idle,
    /// The records that the fold does not know yet.
    Tail {
        /// Whether there was another hint since.
        again: bool,
    },
    /// The whole journal, with which the execution begins again.
    Whole {
        /// Whether there was a hint since.
        again: bool,
    },
}

impl Reading {
    pub(crate) fn is_idle(self) -> bool {
        self == Self::Idle
    }

    pub(crate) fn is_whole(self) -> bool {
        matches!(self, Self::Whole { .. })
    }
}

/// The driver's part in a rollback.
#[derive(Debug, Default)]
pub(crate) struct Undoing {
    /// The attempt in flight.
    pub(crate) attempt: Option<Box<UndoStart>>,
    /// Whether lists show that the run rolls back, as far as this activation knows.
    pub(crate) is_shown: Option<bool>,
    pub(crate) earlier: EarlierPasses,
}

/// The undos of steps that only earlier passes of the function called.
#[derive(Debug, Default, PartialEq)]
pub(crate) enum EarlierPasses {
    #[default]
    NotNeeded,
    Reading,
    /// The journal to search, when an undo is still missing.
    Read(Vec<Entry>),
    Searched,
}

impl Undoing {
    pub(crate) fn is_quiet(&self) -> bool {
        self.attempt.is_none()
    }
}
