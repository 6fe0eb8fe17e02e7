//! Operations that were removed from the code. Runs that called them before skip what the journal
//! contains of them; other runs record the removal.
//!
//! The code continues behind a removed operation where it continued behind the operation itself:
//! where its end was recorded in the script, or where its result was folded. An operation that had
//! not ended is ended by a record, so that every later replay continues at the same position.

mod end;
mod kind;

use std::collections::BTreeMap;

use everstep_model::record::Removed;
use everstep_model::{Body, Location, RecordNumber};

use super::context::{Called, Context};
use super::divergence::{Divergence, Halt};
use super::event_queue::EventQueue;
use super::loops::Loops;
use super::operations::{Kind, Obsolete, OpId, Resolution};
use super::outgoing::LeftChild;
use super::script::named;
use end::End;
pub use kind::RemovedKind;

/// How the code continues behind a removed operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassRemoved {
    /// At once.
    AtOnce,
    /// When this operation resolves.
    Wait(OpId),
}

/// A removed operation whose end is further down the journal.
#[derive(Debug)]
struct Removal {
    location: Location,
    kind: RemovedKind,
    end: End,
    /// Rows that the operation may have in the store.
    rows: Vec<Obsolete>,
    /// Children of the operation that have not ended.
    children: Vec<LeftChild>,
}

/// The removed operations behind which the code has not continued yet.
#[derive(Debug, Default)]
pub(super) struct Removals(BTreeMap<OpId, Removal>);

/// The records of one operation, in order.
struct Past {
    lines: Vec<(RecordNumber, Body)>,
    /// Results and inbox records.
    others: Vec<(RecordNumber, Body)>,
}

impl Removals {
    pub(super) fn call(
        &mut self,
        called: Called,
        kind: RemovedKind,
        (loops, event_queue): (&Loops, &mut EventQueue),
        cx: &mut Context,
    ) -> Option<PassRemoved> {
        let location = &called.location;
        match cx.earlier.take(location) {
            Some(earlier) if kind.fits_earlier(&earlier) => return Some(PassRemoved::AtOnce),
            Some(other) => {
                cx.halt_on_other(&called, "removed", &other);
                return None;
            }
            None => {}
        }
        let is_call = |body: &Body| !matches!(body, Body::Removed(_)) && is_of(body, location);
        let has_gone = loops.has_gone(location);
        if !cx.script.has_ahead(is_call) && !has_gone {
            return record(called, kind, cx);
        }
        let past = take_past(location, cx);
        let is_loop = kind == RemovedKind::Loop && has_gone;
        if !is_loop && !kind.fits(&past.lines, location) {
            halt_on_other_kind(called, kind, &past, cx);
            return None;
        }
        for (_, body) in &past.lines {
            if let Body::WaitCompleted(record) = body {
                event_queue.reserve(&record.events);
            }
        }
        let end = End::of(location, kind, &past);
        if is_reached(end, cx) {
            return Some(PassRemoved::AtOnce);
        }
        let removal = Removal {
            end,
            rows: past.rows(),
            children: past.open_children(),
            location: location.clone(),
            kind,
        };
        let op = cx.operations.open(called.location, Kind::Removed);
        self.0.insert(op, removal);
        Some(PassRemoved::Wait(op))
    }

    /// Resolves a removed operation whose end is reached.
    #[inline]
    pub(super) fn pass(&mut self, cx: &mut Context) -> Option<(OpId, Resolution)> {
        if self.0.is_empty() {
            return None;
        }
        self.resolve_first(cx, |removal, cx| is_reached(removal.end, cx))
    }

    /// Resolves a removed operation without a recorded end, because the code dropped it: the next
    /// record of the journal is a line that the code added after it.
    #[inline]
    pub(super) fn pass_dropped(&mut self, cx: &mut Context) -> Option<(OpId, Resolution)> {
        if self.0.is_empty() {
            return None;
        }
        let next = cx.position.next_number()?;
        if cx.script.next_number() != Some(next) {
            return None;
        }
        self.resolve_first(cx, |removal, _| removal.end == End::Open)
    }

    fn resolve_first(
        &mut self,
        cx: &mut Context,
        is_passed: impl Fn(&Removal, &Context) -> bool,
    ) -> Option<(OpId, Resolution)> {
        let mut waiting = self.0.iter();
        let op = *waiting.find(|(_, removal)| is_passed(removal, cx))?.0;
        self.0.remove(&op);
        cx.operations.close(op)?;
        Some((op, Resolution::Removed))
    }

    /// Ends operations that had not ended. Everything known is folded.
    pub(super) fn end_open(&mut self, cx: &mut Context) {
        let open = self.0.values_mut();
        for removal in open.filter(|removal| removal.end == End::Open) {
            removal.end = End::Recorded;
            cx.outgoing.obsolete.append(&mut removal.rows);
            cx.outgoing.left.append(&mut removal.children);
            cx.add_line(removed(removal.location.clone(), removal.kind), None);
            cx.outgoing.require_durable();
        }
    }

    pub(super) fn fold(&mut self, record: &Removed, cx: &mut Context) {
        let Some((op, _)) = cx.operations.at(&record.location) else {
            return;
        };
        if self.0.remove(&op).is_some() {
            cx.operations.resolve(op, Resolution::Removed);
        }
    }

    /// Forgets a removed operation that the code dropped.
    pub(super) fn forget(&mut self, op: OpId) {
        self.0.remove(&op);
    }
}

/// Records the removal in a run that never called the operation.
fn record(called: Called, kind: RemovedKind, cx: &mut Context) -> Option<PassRemoved> {
    let Called { location, site } = called;
    if cx.state.is_cancelled() {
        return Some(PassRemoved::Wait(cx.open_refused(location)));
    }
    cx.add_line(removed(location, kind), Some(site))?;
    Some(PassRemoved::AtOnce)
}

fn removed(location: Location, kind: RemovedKind) -> Removed {
    Removed {
        location,
        kind: kind.type_name().to_owned(),
    }
}

/// Removes the records of an operation from what the code must reach.
fn take_past(location: &Location, cx: &mut Context) -> Past {
    let unfolded = cx.position.unfolded.iter();
    let unfolded = unfolded.map(|entry| (entry.number, &entry.record.body));
    let others = unfolded.filter(|(_, body)| !body.is_scripted() && is_of(body, location));
    Past {
        others: others
            .map(|(number, body)| (number, body.clone()))
            .collect(),
        lines: cx.script.take(|body| is_of(body, location)),
    }
}

fn is_reached(end: End, cx: &Context) -> bool {
    match end {
        End::Line(number) => cx.script.next_number().is_none_or(|next| next > number),
        End::Folded(number) => cx.position.here.folded > number,
        End::Recorded | End::Open => false,
    }
}

fn halt_on_other_kind(called: Called, kind: RemovedKind, past: &Past, cx: &mut Context) {
    let Called { location, site } = called;
    let first = past.lines.first();
    cx.state.halt(Halt::Diverged(Box::new(Divergence {
        record: first.map(|(number, _)| *number),
        recorded: first.and_then(|(_, body)| named(body)),
        called: Some(("removed", location)),
        called_site: Some(site),
        detail: Some(format!("the code declares that a {kind} was removed here")),
        ..Divergence::default()
    })));
}

/// Returns whether a record is about this operation, or about something inside it.
fn is_of(body: &Body, operation: &Location) -> bool {
    body.location().is_some_and(|location| {
        location == operation || location.scope.is_within(&operation.inner_scope())
    })
}
