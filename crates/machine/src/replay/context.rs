//! What every operation uses: the script, the open operations, what is written, the results of
//! earlier passes, the position of the fold, and the state of the execution.

use everstep_model::{Body, Generation, Location, RunId};

use super::divergence::{CallSite, Divergence, Halt};
use super::earlier_passes::{EarlierPasses, Remembered};
use super::operations::{Kind, OpId, Operations};
use super::outgoing::Outgoing;
use super::position::Position;
use super::run::Run;
use super::script::{Line, Script};
use super::state::{State, refused};

/// A call of an operation: its location in the run and in the source.
#[derive(Debug)]
pub struct Called {
    pub(super) location: Location,
    pub(super) site: CallSite,
}

#[derive(Debug)]
pub(super) struct Context {
    pub(super) run: Run,
    pub(super) state: State,
    pub(super) position: Position,
    pub(super) script: Script,
    pub(super) earlier: EarlierPasses,
    pub(super) operations: Operations,
    pub(super) outgoing: Outgoing,
}

impl Context {
    pub(super) fn new(id: RunId, generation: Generation) -> Self {
        Self {
            run: Run::new(id, generation),
            state: State::default(),
            position: Position::default(),
            script: Script::default(),
            earlier: EarlierPasses::default(),
            operations: Operations::default(),
            outgoing: Outgoing::default(),
        }
    }

    /// Adds a line to the script. Returns the recorded line if there is one; otherwise the new line
    /// is written.
    pub(super) fn say(&mut self, body: impl Into<Body>, site: Option<CallSite>) -> Option<Body> {
        match self.script.add(body.into(), site) {
            Ok(Line::Recorded(body)) => Some(body),
            Ok(Line::New(body)) => {
                self.outgoing.push(body.clone());
                Some(body)
            }
            Err(divergence) => {
                self.state.halt(Halt::Diverged(divergence));
                None
            }
        }
    }

    /// Opens an operation that is called while the run is being cancelled.
    pub(super) fn open_refused(&mut self, location: Location) -> OpId {
        self.state.count_refusal();
        let operations = &mut self.operations;
        operations.open_resolved(location, Kind::Refused, refused())
    }

    /// Takes what earlier passes left of an operation that is called now.
    pub(super) fn earlier(&mut self, location: &Location) -> Earlier {
        match self.earlier.take(location) {
            Some(remembered) => Earlier::Known(remembered),
            None if self.state.is_cancelled() => Earlier::Refused,
            None => Earlier::Unknown,
        }
    }

    /// Halts because an earlier pass called another operation at this location.
    pub(super) fn halt_on_other(
        &mut self,
        called: &Called,
        record: &'static str,
        other: &Remembered,
    ) {
        let location = &called.location;
        self.state.halt(Halt::Diverged(Box::new(Divergence {
            recorded: Some((other.first_record(), location.clone())),
            called: Some((record, location.clone())),
            called_site: Some(called.site),
            ..Divergence::default()
        })));
    }

    /// Whether new work may begin, as far as the fold is concerned: everything known is folded.
    pub(super) fn is_folded(&self) -> bool {
        self.position.unfolded.is_empty() && self.state.halt.is_none()
    }
}

/// What an operation finds when it is called.
pub(super) enum Earlier {
    /// An earlier pass called it.
    Known(Remembered),
    /// No earlier pass called it, and the run is being cancelled.
    Refused,
    /// It is called for the first time.
    Unknown,
}
