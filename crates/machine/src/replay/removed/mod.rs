//! Operations the code no longer has: runs that began before skip what they left in the journal, new ones leave a mark.
//!
//! What stands in the place of a removed operation goes on where the operation went on: where its end was said, or its
//! result folded. If it was not over yet, it is ended by a record, so that every later replay goes on in the same place.

mod end;
mod kind;

use std::collections::BTreeMap;

use everstep_model::record::Removed;
use everstep_model::{Body, Entry, Location, Name, RecordNumber, Scope};

use super::Replay;
use super::children::LeftChild;
use super::divergence::{CallSite, Divergence, Halt};
use super::operation::{Kind, Obsolete, OpId, Resolution};
use end::End;
pub use kind::RemovedKind;

/// How the code goes on at the place of an operation that it no longer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassRemoved {
    /// At once.
    AtOnce,
    /// When this resolves.
    Wait(OpId),
}

/// A removed operation whose end is further down the journal.
#[derive(Debug)]
struct Passing {
    location: Location,
    kind: RemovedKind,
    end: End,
    /// Rows it may have left in the store.
    rows: Vec<Obsolete>,
    /// Children it has not seen the end of.
    children: Vec<LeftChild>,
}

/// The removed operations that are not passed yet.
#[derive(Debug, Default)]
pub(super) struct RemovedPlaces(BTreeMap<OpId, Passing>);

/// What the journal holds of one operation, in order.
struct Past {
    /// What the code said.
    lines: Vec<(RecordNumber, Body)>,
    /// Results, and what came from outside.
    others: Vec<(RecordNumber, Body)>,
}

impl Replay {
    /// Passes the place of an operation that the code no longer has: at once if nothing else happened meanwhile.
    pub fn call_removed(
        &mut self,
        scope: &Scope,
        name: &Name,
        kind: RemovedKind,
        site: CallSite,
    ) -> Option<PassRemoved> {
        let location = self.removed_place(scope, name, kind, site)?;
        match self.memo.take(&location) {
            Some(known) if kind.fits_memory(&known) => {
                return Some(PassRemoved::AtOnce);
            }
            Some(other) => {
                self.halt_on_memory(&location, "removed", &other, site);
                return None;
            }
            None => {}
        }
        let is_other = |body: &Body| !matches!(body, Body::Removed(_)) && is_of(body, &location);
        if !self.script.holds(is_other) && !self.loops.has_gone(&location) {
            return self.leave_mark(location, kind, site);
        }
        let past = self.take_past(&location);
        let is_loop = kind == RemovedKind::Loop && self.loops.has_gone(&location);
        if !is_loop && !kind.fits(&past.lines, &location) {
            self.halt_on_other_kind(location, kind, &past, site);
            return None;
        }
        for (_, body) in &past.lines {
            if let Body::WaitCompleted(record) = body {
                self.mailbox.reserve(&record.events);
            }
        }
        let end = End::of(&location, kind, &past);
        if self.is_over(end) {
            return Some(PassRemoved::AtOnce);
        }
        let passing = Passing {
            end,
            rows: past.rows(),
            children: past.open_children(),
            location: location.clone(),
            kind,
        };
        let op = self.operations.open(location, Kind::Loop);
        self.removed.0.insert(op, passing);
        Some(PassRemoved::Wait(op))
    }

    fn removed_place(
        &mut self,
        scope: &Scope,
        name: &Name,
        kind: RemovedKind,
        site: CallSite,
    ) -> Option<Location> {
        let internal = kind.internal_name(name);
        let name = match internal {
            Some(text) => self.names.internal(&text).ok()?,
            None => name.clone(),
        };
        if kind != RemovedKind::Version {
            return self.call(scope, &name, "removed", site);
        }
        let location = Location {
            scope: scope.clone(),
            name,
            counter: 0,
        };
        self.may_call("removed", &location, site)
            .then_some(location)
    }

    /// The run has never been here: it leaves a mark, and goes on.
    fn leave_mark(
        &mut self,
        location: Location,
        kind: RemovedKind,
        site: CallSite,
    ) -> Option<PassRemoved> {
        if self.cancel.is_some() {
            return Some(PassRemoved::Wait(self.open_refused(location)));
        }
        let said = Removed {
            location,
            kind: kind.type_name().to_owned(),
        };
        self.say_at(said.into(), Some(site))?;
        Some(PassRemoved::AtOnce)
    }

    /// Takes what the journal holds of an operation out of what the code must say.
    fn take_past(&mut self, location: &Location) -> Past {
        let lines = self.script.take(|body| is_of(body, location));
        let is_other = |entry: &&Entry| {
            let body = &entry.record.body;
            !body.is_scripted() && is_of(body, location)
        };
        let others = self.unfolded.iter().filter(is_other);
        let others = others.map(|entry| (entry.number, entry.record.body.clone()));
        Past {
            lines,
            others: others.collect(),
        }
    }

    /// A removed operation that is passed now.
    pub(super) fn pass_removed(&mut self) -> Option<(OpId, Resolution)> {
        let mut waiting = self.removed.0.iter();
        let op = *waiting.find(|(_, passing)| self.is_over(passing.end))?.0;
        self.removed.0.remove(&op);
        self.operations.close(op)?;
        Some((op, Resolution::Removed))
    }

    /// A removed operation that the code had gone past without a record of its end, because it gave it up: what comes next in
    /// the journal is something that was said after it.
    pub(super) fn pass_overtaken(&mut self) -> Option<(OpId, Resolution)> {
        let next = self.unfolded.front().map(|entry| entry.number)?;
        if self.removed.0.is_empty() || self.script.next_number() != Some(next) {
            return None;
        }
        let mut waiting = self.removed.0.iter();
        let op = *waiting.find(|(_, passing)| passing.end == End::Open)?.0;
        self.removed.0.remove(&op);
        self.operations.close(op)?;
        Some((op, Resolution::Removed))
    }

    fn is_over(&self, end: End) -> bool {
        match end {
            End::Said(number) => self.script.next_number().is_none_or(|next| next > number),
            End::Folded(number) => self.here.folded > number,
            End::Marked | End::Open => false,
        }
    }

    /// Everything known is folded: operations that were not over are ended here.
    pub(super) fn end_removed(&mut self) {
        let open = self.removed.0.values_mut();
        let mut said = Vec::new();
        for passing in open.filter(|passing| passing.end == End::Open) {
            passing.end = End::Marked;
            self.obsolete.append(&mut passing.rows);
            self.left.append(&mut passing.children);
            said.push(Removed {
                location: passing.location.clone(),
                kind: passing.kind.type_name().to_owned(),
            });
        }
        for mark in said {
            self.say(mark.into());
            self.strict = true;
        }
    }

    pub(super) fn fold_removed(&mut self, record: &Removed) {
        let Some((op, _)) = self.operations.at(&record.location) else {
            return;
        };
        if self.removed.0.remove(&op).is_some() {
            self.pending.push_back((op, Resolution::Removed));
        }
    }

    /// The code gave up a removed operation before it was passed.
    pub(super) fn leave_removed(&mut self, op: OpId) {
        self.removed.0.remove(&op);
    }

    fn halt_on_other_kind(
        &mut self,
        location: Location,
        kind: RemovedKind,
        past: &Past,
        site: CallSite,
    ) {
        let first = past.lines.first();
        let place = |body: &Body| Some((body.type_name(), body.location()?.clone()));
        self.halt(Halt::Diverged(Box::new(Divergence {
            record: first.map(|(number, _)| *number),
            recorded: first.and_then(|(_, body)| place(body)),
            recorded_site: None,
            called: Some(("removed", location)),
            called_site: Some(site),
            detail: Some(format!("the code says that a {kind} was removed here")),
        })));
    }
}

/// Whether a record is about this operation, or about something inside it.
fn is_of(body: &Body, operation: &Location) -> bool {
    body.location().is_some_and(|location| {
        location == operation || location.scope.is_within(&operation.inner_scope())
    })
}
