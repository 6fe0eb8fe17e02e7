//! One execution of a run: the composition of its parts.

use std::collections::HashSet;

use everstep_model::{Interner, RecordNumber, Timestamp};

use super::attempts::Attempts;
use super::code::Code;
use super::context::Context;
use super::early_results::EarlyResults;
use super::event_queue::EventQueue;
use super::loops::Loops;
use super::outgoing::Outgoing;
use super::position::Position;
use super::removals::Removals;
use super::rollback::Rollback;
use super::run::Run;
use super::scopes::Scopes;
use super::script::Script;

/// One execution of a run. See the module documentation.
#[derive(Debug)]
pub struct Replay {
    pub(super) context: Context,
    pub(super) code: Code,
    pub(super) attempts: Attempts,
    pub(super) names: Interner,
    pub(super) scopes: Scopes,
    pub(super) early: EarlyResults,
    pub(super) event_queue: EventQueue,
    /// Events that this pass of the function has replied to. Each is replied to once.
    pub(super) replies: HashSet<RecordNumber>,
    pub(super) loops: Loops,
    pub(super) removals: Removals,
    pub(super) rollback: Rollback,
}

impl Replay {
    /// Sets how attempts begin. An execution in which none begins any more stays so.
    pub fn set_attempts(&mut self, attempts: Attempts) {
        if self.attempts.may_begin() {
            self.attempts = attempts;
        }
    }

    /// Keeps the call sites of recorded operations, for reports of nondeterminism.
    pub fn keep_call_sites(&mut self) {
        self.context.script.keep_sites();
    }

    /// Sets the executor's clock for the next poll, if it has changed since the last turn.
    pub fn set_wall(&mut self, wall: Timestamp) {
        self.context.position.wall = wall;
    }

    /// Returns the run and its current pass.
    #[must_use]
    pub fn run(&self) -> &Run {
        &self.context.run
    }

    /// Returns the position of the fold.
    #[must_use]
    pub fn position(&self) -> &Position {
        &self.context.position
    }

    /// Returns the script, for the call sites of its lines.
    #[must_use]
    pub fn script(&self) -> &Script {
        &self.context.script
    }

    /// Returns what the next commit contains.
    pub fn outgoing(&mut self) -> &mut Outgoing {
        &mut self.context.outgoing
    }

    /// Returns the rollbacks of the execution.
    pub fn rollback(&mut self) -> &mut Rollback {
        &mut self.rollback
    }

    /// Returns whether iterations were dropped from the journal since the last call.
    pub fn take_has_dropped(&mut self) -> bool {
        std::mem::take(&mut self.loops.has_dropped)
    }
}
