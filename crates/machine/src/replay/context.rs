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
    pub(super) fn add_line(
        &mut self,
        body: impl Into<Body>,
        site: Option<CallSite>,
    ) -> Option<Body> {
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

    /// Opens an operation that resolves without being executed: an earlier pass has its result, or
    /// the run is being cancelled. Otherwise returns what earlier passes left of it. `Err(None)`
    /// means that the code must not continue.
    #[inline]
    pub(super) fn open_decided(
        &mut self,
        called: &Called,
        record: &'static str,
        kind: impl FnOnce() -> Kind,
    ) -> Result<Option<Remembered>, Option<OpId>> {
        match self.earlier.take(&called.location) {
            None if self.state.is_cancelled() => {
                Err(Some(self.open_refused(called.location.clone())))
            }
            None => Ok(None),
            Some(earlier) if earlier.first_record() != record => {
                self.halt_on_other(called, record, &earlier);
                Err(None)
            }
            Some(Remembered::Resolved(_, resolution)) => {
                let (operations, location) = (&mut self.operations, called.location.clone());
                Err(Some(operations.open_resolved(location, kind(), resolution)))
            }
            earlier => Ok(earlier),
        }
    }

    /// Halts because an earlier pass called another operation at this location.
    pub(super) fn halt_on_other(
        &mut self,
        called: &Called,
        record: &'static str,
        other: &Remembered,
    ) {
        self.diverge(called, record, other.first_record(), None);
    }

    /// Halts because the journal contains another operation, or another form of it, at the location
    /// of a call.
    pub(super) fn diverge(
        &mut self,
        called: &Called,
        record: &'static str,
        recorded: &'static str,
        detail: Option<String>,
    ) {
        self.state.halt(Halt::Diverged(Box::new(Divergence {
            recorded: Some((recorded, called.location.clone())),
            called: Some((record, called.location.clone())),
            called_site: Some(called.site),
            detail,
            ..Divergence::default()
        })));
    }

    /// Returns whether new work may begin, as far as the fold is concerned: everything known is
    /// folded.
    pub(super) fn is_folded(&self) -> bool {
        self.position.unfolded.is_empty() && self.state.halt.is_none()
    }
}
