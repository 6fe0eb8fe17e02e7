//! Records that are not sent yet, and when they are due.

use everstep_machine::{LeftChild, Obsolete, Replay};
use everstep_model::{Body, Record, Timestamp};

use crate::append::{Append, Then};

/// Capacity up to which the buffer of an answered append is used again.
const ROOM_KEPT: usize = 16;

/// When unsent records are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Due {
    /// With the next append. The flush timer is not set.
    #[default]
    Later,
    /// With the next append, or when the flush timer fires.
    AtFlush,
    /// The flush timer has fired.
    Flushed,
    /// At once: the code continues when they are durable.
    Now,
}

#[derive(Debug, Default)]
pub(crate) struct Unsent {
    records: Vec<Record>,
    due: Due,
}

/// What the driver must do with unsent records.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wants {
    Nothing,
    Timer,
    Append,
}

impl Unsent {
    /// Takes the outgoing records of the fold.
    pub(crate) fn collect(&mut self, replay: &mut Replay, now: Timestamp) {
        let outgoing = replay.outgoing();
        if !outgoing.is_pending() {
            return;
        }
        let (bodies, strict) = outgoing.take_records();
        let records = bodies.map(|body| Record { time: now, body });
        self.records.extend(records);
        if strict {
            self.due = Due::Now;
        }
    }

    /// Puts records back that were not written, before later ones. Records that were due
    /// immediately still are.
    pub(crate) fn put_back(&mut self, records: Vec<Record>) {
        if !records.is_empty() {
            self.due = Due::Now;
        }
        self.records.splice(0..0, records);
    }

    /// Uses the buffer of an answered append again: the next step writes as many records.
    pub(crate) fn reuse(&mut self, buffer: Vec<Record>) {
        if self.records.is_empty() && buffer.is_empty() && buffer.capacity() <= ROOM_KEPT {
            self.records = buffer;
        }
    }

    pub(crate) fn expedite(&mut self) {
        self.due = Due::Now;
    }

    pub(crate) fn is_due_now(&self) -> bool {
        self.due == Due::Now
    }

    pub(crate) fn records(&self) -> &[Record] {
        &self.records
    }

    /// Sends everything, with a decision as the last record if there is one.
    pub(crate) fn send(
        &mut self,
        closing: Option<Record>,
        then: Then,
        replay: &mut Replay,
    ) -> (InFlight, Append) {
        self.due = Due::Later;
        let mut records = std::mem::take(&mut self.records);
        let progress = records.iter().any(is_progress);
        let decides = closing.is_some();
        records.extend(closing);
        let mut obsolete = replay.outgoing().take_obsolete();
        let mut left = replay.outgoing().take_left_children();
        let in_flight = InFlight {
            decides,
            then,
            obsolete: obsolete.clone(),
            left: left.clone(),
        };
        if matches!(then, Then::End(_) | Then::EndAnyway(_)) {
            obsolete.extend(replay.status().remaining_rows());
            left.extend(replay.status().remaining_children());
        }
        let append = Append {
            records,
            then,
            seen: replay.position().known,
            inbox_seen: replay.position().inbox_known,
            progress,
            obsolete,
            left,
        };
        (in_flight, append)
    }

    /// Takes out the starts of steps whose work has not begun and will not begin in this
    /// activation. The next one calls them again. A start stays if the script continues after it.
    pub(crate) fn take_unbegun(&mut self, replay: &Replay) -> Vec<Record> {
        let status = replay.status();
        let is_unbegun = |record: &Record| match &record.body {
            Body::StepStarted(started) => status.is_unbegun(&started.location),
            _ => false,
        };
        let stays = |record: &Record| record.body.is_scripted() && !is_unbegun(record);
        let last = self.records.iter().rposition(stays);
        let rest = self.records.split_off(last.map_or(0, |last| last + 1));
        let (unbegun, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(is_unbegun);
        self.records.extend(others);
        unbegun
    }

    /// Keeps records for a later append.
    pub(crate) fn hold(&mut self, records: Vec<Record>) {
        self.records.extend(records);
    }

    pub(crate) fn clear(&mut self) {
        self.due = Due::Later;
        self.records.clear();
    }

    /// Makes the records due because the flush timer fired. A timer of an earlier append changes
    /// nothing.
    pub(crate) fn flush(&mut self) {
        if self.due == Due::AtFlush {
            self.due = Due::Flushed;
        }
    }

    pub(crate) fn wants(&mut self) -> Wants {
        match self.due {
            Due::Now => Wants::Append,
            _ if self.records.is_empty() => Wants::Nothing,
            Due::Flushed => Wants::Append,
            Due::AtFlush => Wants::Nothing,
            Due::Later => {
                self.due = Due::AtFlush;
                Wants::Timer
            }
        }
    }
}

/// An append in flight. Its records come back with the answer.
#[derive(Debug)]
pub(crate) struct InFlight {
    /// Whether its last record is a decision, which depends on everything before it.
    pub(crate) decides: bool,
    pub(crate) then: Then,
    /// Rows of dropped operations that it deletes.
    pub(crate) obsolete: Vec<Obsolete>,
    /// Children that the run no longer waits for.
    pub(crate) left: Vec<LeftChild>,
}

/// Returns whether a record resolves an operation or ends an attempt.
pub(crate) fn is_progress(record: &Record) -> bool {
    matches!(
        record.body,
        Body::StepCompleted(_) | Body::StepFailed(_) | Body::UndoCompleted(_) | Body::UndoFailed(_)
    )
}
