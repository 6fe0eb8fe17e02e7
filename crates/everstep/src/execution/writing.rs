//! What an executor writes, and when: results at once, the rest with them or a few milliseconds later.

use std::task::Context;

use everstep_engine::{Append, Then};
use everstep_machine::{LeftChild, Obsolete};
use everstep_model::{Body, Record};

use super::conclusion::conclude;
use super::executor::{Executor, Standing};

/// An append under way. Its records come back with the answer.
pub(super) struct InFlight {
    /// Whether its last record is a decision, which rests on everything before it.
    pub(super) decides: bool,
    pub(super) then: Then,
    /// Rows of dropped operations that go with it.
    pub(super) obsolete: Vec<Obsolete>,
    /// Children that the code no longer waits for, as its records say.
    pub(super) left: Vec<LeftChild>,
}

impl Executor {
    /// Writes what must be written now. At most one append is under way.
    pub(super) fn decide(&mut self, context: &mut Context<'_>) {
        if self.in_flight.is_some() || self.standing == Standing::Suspended {
            return;
        }
        if self.conclusion.is_none() && self.reading.is_none() {
            self.conclusion = self.conclude_if_done();
            // The end of the code may be what a rollback begins with.
            if self.returned.is_some() || self.broken.is_some() {
                self.work_on_undos(context);
            }
        }
        if let Some(conclusion) = &self.conclusion {
            let now = self.activation.now();
            let (closing, then) = conclude(conclusion, &self.shared.state().replay, now);
            self.append(closing, then);
            return;
        }
        if self.strict {
            self.append(None, Then::Continue);
            return;
        }
        if !self.unsent.is_empty() && self.flush_is_due(context) {
            self.append(None, Then::Continue);
        }
    }

    fn flush_is_due(&mut self, context: &mut Context<'_>) -> bool {
        let lazy_flush = self.activation.settings().lazy_flush;
        let runtime = self.shared.runtime();
        let flush = self.flush.get_or_insert_with(|| runtime.sleep(lazy_flush));
        flush.as_mut().poll(context).is_ready()
    }

    fn append(&mut self, closing: Option<Record>, then: Then) {
        self.flush = None;
        self.strict = false;
        let mut records = std::mem::take(&mut self.unsent);
        let mut state = self.shared.state();
        let dropped = state.replay.take_obsolete();
        let mut obsolete = dropped.clone();
        let given_up = state.replay.take_left_children();
        let mut left = given_up.clone();
        if matches!(then, Then::End(_) | Then::EndAnyway(_)) {
            obsolete.extend(state.replay.remaining_rows());
            left.extend(state.replay.remaining_children());
        }
        let (seen, inbox_seen) = (state.replay.known(), state.replay.inbox_known());
        drop(state);
        let progress = records.iter().any(is_progress);
        self.in_flight = Some(InFlight {
            decides: closing.is_some(),
            then,
            obsolete: dropped,
            left: given_up,
        });
        records.extend(closing);
        self.activation.append(Append {
            records,
            then,
            seen,
            inbox_seen,
            progress,
            obsolete,
            left,
        });
    }
}

/// Whether an operation resolves, or comes nearer to it, by this record.
pub(super) fn is_progress(record: &Record) -> bool {
    matches!(
        record.body,
        Body::StepCompleted(_) | Body::StepFailed(_) | Body::UndoCompleted(_) | Body::UndoFailed(_)
    )
}
