//! The state of an overview, and the dispatch of each kind of record. Each group of kinds has a
//! file of its own.

use std::collections::{BTreeMap, VecDeque};

use everstep_model::record::{Diverged, ExecutionRetried, ForkedFrom};
use everstep_model::{
    Body, Entry, Failure, Location, Name, Origin, Payload, Record, RecordNumber, RunStatus,
    StepStatus, Timestamp,
};

use super::views::{
    ChildView, EndingView, EventView, OpenRpc, PauseView, RollbackView, SleepView, StepView,
    WaitView,
};
use everstep_machine::{PassingSteps, UndoFold};

/// The state of a run.
// Large type: users read it as one flat record, and it has one method for each kind of record, in a
// file for each group of kinds.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "most fields are explained by their names")]
pub struct Overview {
    /// `None` before `created`.
    pub workflow: Option<Name>,
    /// The workflow version, fixed when the run was created.
    pub version: u32,
    /// `None` before `created`.
    pub input: Option<Payload>,
    pub tags: Vec<String>,
    /// The latest values of the attributes that the code set.
    pub attributes: BTreeMap<Name, Payload>,
    /// The time by which the run must end.
    pub deadline: Option<Timestamp>,
    pub created_at: Option<Timestamp>,
    /// The journal that this one was copied from.
    pub forked_from: Option<ForkedFrom>,
    /// The time of the last record before the end, or of the end.
    pub updated_at: Option<Timestamp>,
    /// The length of its journal: the number after the last record, dropped records included.
    pub records: u64,

    /// The final status.
    pub end: Option<RunStatus>,
    pub completed_at: Option<Timestamp>,
    pub result: Option<Payload>,
    pub error: Option<Failure>,
    /// The operations whose failures made the run fail.
    pub caused_by: Vec<Location>,
    pub rollback_error: Option<Failure>,
    /// The reason given in the request that cancelled or terminated the run.
    pub reason: Option<String>,
    /// Whether completed steps were undone before the run ended.
    pub rolled_back: bool,

    /// In the order of their first records.
    pub steps: Vec<StepView>,
    /// Open waits, oldest first.
    pub waits: Vec<WaitView>,
    /// Open sleeps, oldest first.
    pub sleeps: Vec<SleepView>,
    /// Open rpcs, oldest first.
    pub rpcs: Vec<OpenRpc>,
    /// Children that the run waits for, oldest first.
    pub children: Vec<ChildView>,
    /// Events that no wait has taken, oldest first. Kept after the end.
    pub events: VecDeque<EventView>,

    pub pause: Option<PauseView>,
    /// What is about to end the run. It resolves the open operations, but waits for steps that are
    /// passing the point of no return.
    pub ending: Option<EndingView>,
    /// `None` unless the run is rolling back.
    pub rollback: Option<RollbackView>,
    /// Set while the run is parked because its code does not match the journal.
    pub diverged: Option<Diverged>,
    /// The pass of the workflow function, counted from 1; 0 before `created`.
    pub execution_attempt: u32,
    /// The number of retries of the whole function, if the start set it.
    pub execution_retries: Option<u32>,
    /// Set while the run waits for the next pass of its function.
    pub execution_retry: Option<ExecutionRetried>,
    /// When the run passed its point of no return.
    pub no_return_at: Option<Timestamp>,

    /// Whether an executor has written anything.
    pub(super) executed: bool,
    /// Whether the inbox has grown since the run rested, and no executor has written since.
    pub(super) woken: bool,
    /// The number of steps with an attempt in flight or due.
    pub(super) in_flight: usize,
    /// The number of steps that wait for their next attempt.
    pub(super) in_backoff: usize,
    /// Every operation seen so far.
    pub(super) seen: BTreeMap<Location, Seen>,
    pub(super) undos: UndoFold,
    pub(super) passing: PassingSteps,
    /// Whether `ending` has resolved the open operations.
    pub(super) ends_operations: bool,
    /// Whether a rollback has begun that ends the run.
    pub(super) rolls_back_to_end: bool,
}

/// An operation, whether open or closed. The first record about a location decides its kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seen {
    /// The first record about the location.
    pub(super) first: RecordNumber,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Step {
        /// Index in `Overview::steps`.
        index: usize,
        /// The pass of the function in which the step last changed.
        execution: u32,
    },
    /// A wait, sleep, rpc or child.
    Other,
}

/// The position and time of the record being folded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    pub(super) number: RecordNumber,
    pub(super) time: Timestamp,
}

impl Overview {
    /// Creates the overview of an empty journal.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the overview of a journal, or of a prefix of one.
    #[must_use]
    pub fn of(entries: &[Entry]) -> Self {
        let mut overview = Self::new();
        for entry in entries {
            overview.fold(entry);
        }
        overview
    }

    /// Folds the next record. After the record that ends the run only `records` changes.
    pub fn fold(&mut self, entry: &Entry) {
        self.records = self.records.max(entry.number.0.saturating_add(1));
        if self.end.is_some() {
            return;
        }
        let Record { time, body } = &entry.record;
        self.updated_at = Some(*time);
        match body.origin() {
            Origin::Inbox => self.woken = self.woken || self.rests(),
            Origin::Executor => {
                self.executed = true;
                self.diverged = None;
                self.woken = false;
            }
        }
        let stamp = Stamp {
            number: entry.number,
            time: *time,
        };
        if body.goes_forward() {
            self.rollback = None;
        }
        // A run that must end is not resumed first.
        if self.undos.ends_pause(body) {
            self.pause = None;
        }
        if body.passes_no_return() {
            self.no_return_at.get_or_insert(*time);
        }
        self.apply(stamp, body);
        self.undos.fold(body);
        self.passing.fold(body);
        self.end_operations();
        // Code that requested the rollback continues when nothing is left to undo.
        if !self.rolls_back_to_end && self.ending.is_none() && !self.undos.is_rolling_back() {
            self.rollback = None;
        }
    }

    fn apply(&mut self, at: Stamp, body: &Body) {
        match body {
            Body::Created(record) => self.created(at, record),
            Body::Event(record) => self.event(at, record),
            Body::RpcAnswered(record) => self.rpcs.retain(|rpc| rpc.rpc_id != record.rpc_id),
            Body::TimerFired(record) => self.timer_fired(at, record),
            Body::ChildFinished(record) => self.child_finished(record),
            Body::PauseRequested(record) => self.pause_requested(record),
            Body::ResumeRequested(_) | Body::Resumed(_) => self.pause = None,
            Body::CancelRequested(record) => self.begin_end(EndingView::Cancel(record.clone())),
            Body::Terminated(record) => self.terminated(at, record),
            Body::StepSkipped(record) => self.change_step(at, &record.location, |step| {
                step.succeed(StepStatus::Skipped, &record.result, at.time);
            }),
            Body::StepEdited(record) => self.change_step(at, &record.location, |step| {
                step.succeed(StepStatus::Completed, &record.result, at.time);
            }),
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
            // The other branches are dropped.
            Body::RaceWon(record) => self.leave(&record.location, |_| true),
            Body::LoopAdvanced(record) => self.loop_advanced(record),
            Body::ChildStarted(record) => self.child_started(at, record),
            Body::Removed(record) => self.removed(&record.location),
            Body::UndoStarted(record) => self.undo_started(at, record),
            Body::UndoCompleted(record) => self.undo_completed(at, record),
            Body::UndoFailed(record) => self.undo_failed(record),
            Body::UndoSkipped(record) => {
                self.rolls_back_to_end |= record.ends_run;
                self.rollback = Some(RollbackView::Between);
            }
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
            // The other kinds do not change the state of the run.
            _ => {}
        }
    }
}
