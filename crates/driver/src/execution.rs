//! One execution of the code: its fold, and what the shell keeps beside it.

use everstep_machine::{Attempts, Replay};
use everstep_model::{Entry, Location, Payload};

use crate::setup::Setup;

/// What a shell keeps for one execution, such as wakers or promises, and the undos that the code
/// supplied. The driver creates one with every execution.
pub trait Host: Default {
    /// Returns whether the code supplied an undo for this step or child.
    fn has_undo(&self, of: &Location) -> bool;

    /// Adds the undos that a dry execution of an earlier pass supplied. Undos of this execution
    /// take precedence.
    fn adopt_undos(&mut self, earlier: Self);

    /// Drops the undos of all other steps: their iterations are no longer in the journal.
    fn retain_undos(&mut self, is_kept: impl Fn(&Location) -> bool);
}

/// One execution of the code. Restarts and dry executions each have their own.
#[derive(Debug)]
#[allow(missing_docs, reason = "plain data")]
pub struct Execution<H> {
    pub replay: Replay,
    pub host: H,
    /// Whether the cancellation was signalled to the steps in flight.
    is_cancelled: bool,
}

impl<H: Host> Execution<H> {
    fn new(setup: &Setup, journal: Vec<Entry>) -> Self {
        Self {
            replay: Replay::new(setup.run.clone(), setup.generation, journal),
            host: H::default(),
            is_cancelled: false,
        }
    }

    /// Creates an execution of the run itself.
    pub(crate) fn live(setup: &Setup, journal: Vec<Entry>) -> Self {
        let mut live = Self::new(setup, journal);
        if setup.development {
            live.replay.keep_call_sites();
        }
        if setup.cautious {
            live.replay.set_attempts(Attempts::Announced);
        }
        live
    }

    /// Creates an execution in which no step begins.
    pub(crate) fn dry(setup: &Setup, journal: Vec<Entry>) -> Self {
        let mut dry = Self::new(setup, journal);
        dry.replay.set_attempts(Attempts::Never);
        dry
    }

    /// Returns whether the run was cancelled since the last call.
    pub(crate) fn take_cancellation(&mut self) -> bool {
        let is_new = !self.is_cancelled && self.replay.status().cancellation().is_some();
        self.is_cancelled |= is_new;
        is_new
    }

    /// Returns what the run was started with.
    pub(crate) fn input(&self) -> Payload {
        let info = self.replay.run().info.as_ref();
        info.map_or_else(Payload::null, |info| info.input.clone())
    }

    /// Drops the undos of iterations that are no longer in the journal.
    pub(crate) fn forget_dropped(&mut self) {
        if self.replay.take_has_dropped() {
            let status = self.replay.status();
            self.host.retain_undos(|step| !status.has_dropped(step));
        }
    }
}
