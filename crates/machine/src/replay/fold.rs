//! What each record of the journal means to a running execution.

use std::collections::VecDeque;

use everstep_model::record::{TimerFired, TimerPurpose};
use everstep_model::{Body, Entry};

use super::divergence::Halt;
use super::execution::Replay;
use super::operations::{EventTaken, Kind, Resolution};
use super::rollback::is_about_undo;
use super::state::{Pause, Phase};
use super::{branches, children, control, rpcs, steps, waits};

impl Replay {
    /// Folds the records of earlier passes, and returns those of the current pass.
    pub(super) fn fold_earlier_passes(&mut self, journal: Vec<Entry>) -> Vec<Entry> {
        let is_retry = |entry: &Entry| matches!(entry.record.body, Body::ExecutionRetried(_));
        let Some(last_retry) = journal.iter().rposition(is_retry) else {
            return journal;
        };
        let mut earlier = VecDeque::from(journal);
        let current = earlier.split_off(last_retry + 1);
        for entry in earlier {
            self.context.position.note_known(&entry);
            self.loops.cross_gap(&entry, &mut self.context);
            self.count_folded(&entry);
            let run = &mut self.context.run;
            match &entry.record.body {
                Body::Created(created) => run.create(created, &entry),
                Body::ExecutionRetried(retried) => {
                    run.pass = retried.attempt + 1;
                    run.retry_at = Some(retried.retry_at);
                }
                _ => {}
            }
            self.rollback.fold_earlier(&entry.record.body);
            self.fold_earlier(&entry);
        }
        self.loops.begin_pass();
        self.rollback.begin_pass();
        self.context.state.phase = Phase::Backoff;
        current.into()
    }

    /// Takes in a record of an earlier pass, or of the pause before the next one.
    fn fold_earlier(&mut self, entry: &Entry) {
        self.loops.fold_earlier(&entry.record.body);
        self.context.earlier.fold(entry, &mut self.mailbox);
    }

    /// Folds one record. Returns whether the function starts.
    pub(super) fn fold(&mut self, entry: Entry) -> bool {
        if !self.loops.cross_gap(&entry, &mut self.context) {
            return false;
        }
        self.count_folded(&entry);
        let (body, state) = (&entry.record.body, &mut self.context.state);
        self.rollback.fold_done(body, &state.phase);
        if body.is_scripted() {
            if let Err(divergence) = self.context.script.check_reached(entry.number) {
                state.halt(Halt::Diverged(divergence));
            }
            self.fold_scripted(body);
            return false;
        }
        match state.phase {
            Phase::New => return self.fold_first(&entry),
            Phase::Backoff => return self.fold_in_backoff(entry),
            Phase::Running | Phase::Returned => self.fold_running(entry),
            Phase::Broken(_) => self.fold_broken(&entry.record.body),
            Phase::Ended(_) => {}
        }
        false
    }

    fn count_folded(&mut self, entry: &Entry) {
        self.context.position.fold(entry);
        self.loops.fold(entry, self.rollback.calling_scopes());
    }

    /// Folds a line of the script. Some operations wait until their line is durable.
    fn fold_scripted(&mut self, body: &Body) {
        let context = &mut self.context;
        match body {
            Body::StepStarted(record) => steps::fold_started(record, context),
            Body::RaceWon(record) if context.state.is_running() => {
                branches::fold_race_won(&record.location, context);
            }
            Body::LoopAdvanced(record) => self.loops.fold_advanced(record, context),
            Body::Removed(record) => self.removals.fold(record, context),
            _ => {}
        }
    }

    fn fold_first(&mut self, entry: &Entry) -> bool {
        let Body::Created(created) = &entry.record.body else {
            let message = "the journal does not begin with `created`";
            self.context.state.halt(Halt::Damaged(message.to_owned()));
            return false;
        };
        self.context.run.create(created, entry);
        self.context.state.phase = Phase::Running;
        true
    }

    fn fold_in_backoff(&mut self, entry: Entry) -> bool {
        self.fold_earlier(&entry);
        let (mailbox, rollback, context) = (&mut self.mailbox, &self.rollback, &mut self.context);
        match entry.record.body {
            Body::TimerFired(fired) if fired.purpose == TimerPurpose::ExecutionRetry => {
                context.run.retry_at = None;
                context.state.phase = Phase::Running;
                return true;
            }
            // The function is executed once more and ends.
            Body::CancelRequested(record) => {
                context.state.cancellation.get_or_insert(record);
                context.state.phase = Phase::Running;
                return true;
            }
            Body::DeadlinePassed(passed) => {
                control::pass_deadline(passed.deadline, rollback, context);
            }
            Body::ForcedFailure(record) => {
                control::force_failure(*record, rollback, mailbox, context);
            }
            Body::PauseRequested(_) => context.state.pause = Pause::Requested,
            Body::Paused(_) => context.state.pause = Pause::Paused,
            body => {
                if let Some(status) = body.terminal() {
                    context.state.phase = Phase::Ended(status);
                }
            }
        }
        false
    }

    fn fold_running(&mut self, entry: Entry) {
        let time = entry.record.time;
        let (mailbox, rollback, context) = (&mut self.mailbox, &self.rollback, &mut self.context);
        match entry.record.body {
            Body::StepStarted(record) => steps::fold_started(&record, context),
            Body::StepCompleted(record) => steps::fold_completed(record, context),
            Body::StepFailed(record) => steps::fold_failed(*record, context),
            Body::TimerFired(record) => self.fold_timer(&record),
            Body::Event(record) => {
                let event = EventTaken::new(record, entry.number, time);
                if let Some((op, events)) = mailbox.deliver(event) {
                    waits::resolve(op, events, context);
                }
            }
            Body::RpcAnswered(record) => rpcs::fold_answered(*record, context),
            Body::ChildFinished(record) => children::fold_finished(*record, context),
            Body::DeadlinePassed(record) => {
                control::pass_deadline(record.deadline, rollback, context);
            }
            Body::PauseRequested(_) => context.state.pause = Pause::Requested,
            Body::Paused(_) => context.state.pause = Pause::Paused,
            // The executor builds a new execution from the journal after it has written this.
            Body::ExecutionRetried(_) => context.state.phase = Phase::Backoff,
            Body::Created(_) => {
                let message = "the run is created twice";
                context.state.halt(Halt::Damaged(message.to_owned()));
            }
            Body::CancelRequested(record) => control::cancel(record, rollback, mailbox, context),
            Body::StepSkipped(record) => {
                control::settle_step(&record.location, record.result, mailbox, context);
            }
            Body::StepEdited(record) => {
                control::settle_step(&record.location, record.result, mailbox, context);
            }
            Body::ForcedFailure(record) => {
                control::force_failure(*record, rollback, mailbox, context);
            }
            body if is_about_undo(&body) => self.fold_undo(&body),
            // `turn` looks ahead for the end of a pause; a parked run continues when its code fits.
            // `fold` has compared scripted records, and journals contain no messages of user streams.
            body => {
                if let Some(status) = body.terminal() {
                    context.state.phase = Phase::Ended(status);
                }
            }
        }
    }

    fn fold_timer(&mut self, record: &TimerFired) {
        let context = &mut self.context;
        let location = record.location.as_ref();
        let Some((op, operation)) = location.and_then(|at| context.operations.at(at)) else {
            return;
        };
        match (record.purpose, &operation.kind) {
            (TimerPurpose::Sleep, Kind::Sleep { .. }) => {
                context.operations.resolve(op, Resolution::Slept);
            }
            (TimerPurpose::Retry, Kind::Step(_)) => {
                steps::fold_retry_timer(op, record.due, context);
            }
            (TimerPurpose::Wait, Kind::Wait { .. }) => {
                waits::time_out(op, &mut self.mailbox, context);
            }
            (TimerPurpose::Rpc, Kind::Rpc { .. }) => rpcs::end(op, None, context),
            (TimerPurpose::Child, Kind::Child(_)) => {
                children::fold_timed_out(op, record.due, context);
            }
            // A timer of an operation that has ended, or of the run itself.
            (
                TimerPurpose::Sleep
                | TimerPurpose::Child
                | TimerPurpose::Undo
                | TimerPurpose::Retry
                | TimerPurpose::Wait
                | TimerPurpose::Rpc
                | TimerPurpose::ExecutionRetry
                | TimerPurpose::Deadline
                | TimerPurpose::Expiry,
                _,
            ) => {}
        }
    }

    fn fold_undo(&mut self, body: &Body) {
        let has_gone = self.loops.iterations.has_forgotten();
        self.rollback.fold_undo(body, has_gone, &mut self.context);
    }

    /// Folds a record of a run whose code was dropped. Only its rollback continues.
    fn fold_broken(&mut self, body: &Body) {
        if is_about_undo(body) {
            self.fold_undo(body);
            self.context.operations.pending.clear();
            return;
        }
        let context = &mut self.context;
        match body {
            Body::PauseRequested(_) => context.state.pause = Pause::Requested,
            Body::Paused(_) => context.state.pause = Pause::Paused,
            Body::StepCompleted(_) | Body::StepFailed(_) => {
                let location = body.location();
                let open = location.and_then(|at| context.operations.at(at));
                if let Some((op, _)) = open {
                    context.operations.close(op);
                }
            }
            body => {
                if let Some(status) = body.terminal() {
                    context.state.phase = Phase::Ended(status);
                }
            }
        }
    }
}
