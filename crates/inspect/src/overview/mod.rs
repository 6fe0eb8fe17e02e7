//! The reader's fold: what a run is doing, from its journal alone, without any workflow code at hand.
//!
//! It is total: every sequence of records has a meaning. Of two records that compete the first wins, and what comes
//! after the end changes nothing. The match over the kinds is here; each group of kinds has a file of its own.

mod control;
mod lifecycle;
mod operations;
mod rpcs;
mod scopes;
mod status;
mod steps;
#[cfg(test)]
mod tests;
mod timers;
mod undo;
mod views;
mod waits;

use std::collections::{BTreeMap, VecDeque};

use everstep_model::record::{Diverged, ExecutionRetried};
use everstep_model::{
    Body, Entry, Failure, Location, Name, Origin, Payload, Record, RecordNumber, RunStatus,
    Timestamp,
};

use everstep_machine::UndoFold;
use operations::Place;
pub use views::{
    ChildView, EndingView, EventView, OpenRpc, PauseView, RollbackView, SleepView, StepView,
    WaitView,
};

/// What a run is doing and has done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overview {
    /// Its workflow; none before `created`.
    pub workflow: Option<Name>,
    /// The version of the workflow it keeps.
    pub version: u32,
    /// What it was started with; none before `created`.
    pub input: Option<Payload>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The values that its code set for searching, by name.
    pub attributes: BTreeMap<Name, Payload>,
    /// When it must be over.
    pub deadline: Option<Timestamp>,
    /// When it was created.
    pub created_at: Option<Timestamp>,
    /// When it last changed.
    pub updated_at: Option<Timestamp>,
    /// The length of its journal: the number after the last record, dropped records included.
    pub records: u64,

    /// How it ended; none before it did.
    pub end: Option<RunStatus>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// What it returned.
    pub result: Option<Payload>,
    /// Why it failed.
    pub error: Option<Failure>,
    /// Why its rollback failed.
    pub rollback_error: Option<Failure>,
    /// What was said by whoever cancelled or terminated it.
    pub reason: Option<String>,
    /// Whether its completed steps were undone before it ended.
    pub rolled_back: bool,

    /// Its steps, in the order they first appeared.
    pub steps: Vec<StepView>,
    /// Its open waits, oldest first.
    pub waits: Vec<WaitView>,
    /// Its open sleeps, oldest first.
    pub sleeps: Vec<SleepView>,
    /// The questions that can be answered, oldest first.
    pub rpcs: Vec<OpenRpc>,
    /// The children it waits for, oldest first.
    pub children: Vec<ChildView>,
    /// The events that no wait has taken, oldest first; kept after the end.
    pub events: VecDeque<EventView>,

    /// Whether it is paused, or asked to be.
    pub pause: Option<PauseView>,
    /// What is about to end it.
    pub ending: Option<EndingView>,
    /// How far a rollback is, if one is going on.
    pub rollback: Option<RollbackView>,
    /// Where and why the code no longer fits the journal.
    pub diverged: Option<Diverged>,
    /// The attempt of the whole function, from 1; 0 before `created`.
    pub execution_attempt: u32,
    /// The failure after which the whole function waits to run again.
    pub execution_retry: Option<ExecutionRetried>,
    /// When only undos marked internal were left to run.
    pub no_return_at: Option<Timestamp>,

    /// Whether an executor has written anything.
    executed: bool,
    /// Steps with an attempt under way or due.
    in_flight: usize,
    /// Steps that wait for their next attempt.
    in_backoff: usize,
    /// Every operation seen, by its place.
    places: BTreeMap<Location, Place>,
    /// What is done and not undone.
    undos: UndoFold,
}

/// Where and when the record stands that is being folded.
#[derive(Clone, Copy, Debug)]
struct Stamp {
    number: RecordNumber,
    time: Timestamp,
}

impl Overview {
    /// Nothing folded yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What a journal, or its beginning, says.
    #[must_use]
    pub fn of(entries: &[Entry]) -> Self {
        let mut overview = Self::new();
        for entry in entries {
            overview.fold(entry);
        }
        overview
    }

    /// Takes in the next record. After the record that ends a run only the length of the journal changes.
    pub fn fold(&mut self, entry: &Entry) {
        self.records = self.records.max(entry.number.0.saturating_add(1));
        if self.end.is_some() {
            return;
        }
        let Record { time, body } = &entry.record;
        self.updated_at = Some(*time);
        if body.origin() == Origin::Executor {
            self.executed = true;
            self.diverged = None;
        }
        let stamp = Stamp {
            number: entry.number,
            time: *time,
        };
        if body.goes_forward() {
            self.rollback = None;
        }
        // What ends a run does not wait for its resumption.
        if self.undos.ends_pause(body) {
            self.pause = None;
        }
        self.apply(stamp, body);
        self.undos.fold(body);
    }

    fn apply(&mut self, at: Stamp, body: &Body) {
        match body {
            Body::Created(record) => self.created(at, record),
            Body::Event(record) => self.event(at, record),
            Body::RpcAnswered(record) => self.rpc_answered(record),
            Body::TimerFired(record) => self.timer_fired(at, record),
            Body::ChildFinished(record) => self.child_finished(record),
            Body::PauseRequested(record) => self.pause_requested(record),
            Body::ResumeRequested(_) | Body::Resumed(_) => self.pause = None,
            Body::CancelRequested(record) => self.begin_end(EndingView::Cancel(record.clone())),
            Body::Terminated(record) => self.terminated(at, record),
            Body::StepSkipped(record) => self.step_skipped(at, record),
            Body::StepEdited(record) => self.step_edited(at, record),
            Body::ForcedFailure(record) => self.forced_failure(at, record),
            Body::DeadlinePassed(record) => self.begin_end(EndingView::Deadline(record.deadline)),
            Body::StepStarted(record) => self.step_started(at, record),
            Body::StepCompleted(record) => self.step_completed(at, record),
            Body::StepFailed(record) => self.step_failed(at, record),
            Body::StepAbandoned(record) => self.step_abandoned(at, record),
            Body::Sleeping(record) => self.sleeping(at, record),
            Body::Waiting(record) => self.waiting(at, record),
            Body::WaitCompleted(record) => self.wait_completed(record),
            Body::WaitTimedOut(record) => self.close_wait(&record.location),
            Body::RpcRequested(record) => self.rpc_requested(at, record),
            Body::RpcCompleted(record) => self.close_rpc(&record.location),
            Body::BranchCompleted(record) => self.branch_left(&record.location, &record.branch),
            Body::BranchFailed(record) => self.branch_left(&record.location, &record.branch),
            Body::RaceWon(record) => self.race_left(&record.location),
            Body::LoopAdvanced(record) => self.loop_advanced(record),
            Body::ChildStarted(record) => self.child_started(at, record),
            Body::Removed(record) => self.removed(&record.location),
            Body::NoReturn(_) => self.no_return(at),
            Body::UndoStarted(record) => self.undo_started(at, record),
            Body::UndoCompleted(record) => self.undo_completed(at, record),
            Body::UndoFailed(record) => self.undo_failed(record),
            Body::UndoSkipped(_) => self.rollback = Some(RollbackView::Between),
            Body::Paused(record) => self.paused(record),
            Body::Diverged(record) => self.diverged = Some((**record).clone()),
            Body::ExecutionRetried(record) => self.execution_retried(record),
            Body::Completed(record) => self.completed(at, record),
            Body::Failed(record) => self.failed(at, record),
            Body::RollbackFailed(record) => self.rollback_failed(at, record),
            Body::Cancelled(record) => self.cancelled(at, record),
            Body::AttributeSet(record) => {
                let (name, value) = (record.attribute.clone(), record.value.clone());
                self.attributes.insert(name, value);
            }
            // The other kinds say nothing about what the run is doing.
            _ => {}
        }
    }
}
