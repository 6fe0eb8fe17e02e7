//! What each record of the journal means to a running execution.

use std::collections::VecDeque;

use everstep_model::record::{
    Event, RpcAnswered, RpcCompleted, StepCompleted, StepFailed, StepStarted, TimerFired,
    TimerPurpose, WaitCompleted, WaitTimedOut,
};
use everstep_model::{
    Body, Entry, ErrorCode, Failure, Location, Payload, RecordNumber, RunStatus, Timestamp,
};

use super::control::{Pause, refused};
use super::divergence::Halt;
use super::operation::{EventTaken, Kind, OpId, Resolution, StepFailure, StepPhase};
use super::script::Line;
use super::{Phase, Replay, RunFacts};

impl Replay {
    /// Folds earlier passes into the memory and returns what belongs to the current one.
    pub(super) fn learn_earlier_passes(&mut self, journal: Vec<Entry>) -> Vec<Entry> {
        let last_retry = journal
            .iter()
            .rposition(|entry| matches!(entry.record.body, Body::ExecutionRetried(_)));
        let Some(last_retry) = last_retry else {
            return journal;
        };
        let mut earlier = VecDeque::from(journal);
        let current = earlier.split_off(last_retry + 1);
        for entry in earlier {
            self.note_known(&entry);
            self.cross_gap(&entry);
            self.count_folded(&entry);
            match &entry.record.body {
                Body::Created(created) => {
                    let (id, generation) = (self.id.clone(), self.generation);
                    self.facts = Some(RunFacts::new(id, generation, created, entry.record.time));
                }
                Body::ExecutionRetried(retried) => {
                    self.pass = retried.attempt + 1;
                    self.backoff_until = Some(retried.retry_at);
                }
                _ => {}
            }
            self.rollback.log.fold(&entry.record.body);
            self.learn(&entry);
        }
        self.loops.kept.begin_pass();
        self.rollback.log.begin_pass();
        self.phase = Phase::Backoff;
        current.into()
    }

    /// Folds one record; true if the function is to be started.
    pub(super) fn fold(&mut self, entry: Entry) -> bool {
        if !self.cross_gap(&entry) {
            return false;
        }
        self.count_folded(&entry);
        self.note_done(&entry.record.body);
        if entry.record.body.is_scripted() {
            if let Err(divergence) = self.script.reach(entry.number) {
                self.halt(Halt::Diverged(divergence));
            }
            self.fold_scripted(&entry.record.body);
            return false;
        }
        match self.phase {
            Phase::New => self.fold_first(entry),
            Phase::Backoff => self.fold_in_backoff(entry),
            Phase::Running | Phase::Returned => {
                self.fold_running(entry);
                false
            }
            Phase::Broken(_) => {
                self.fold_broken(entry);
                false
            }
            Phase::Ended(_) => false,
        }
    }

    /// Resolves another operation before the code is polled, if the next record does. Only a planted bug asks for it.
    #[cfg(feature = "planted-bugs")]
    #[doc(hidden)]
    pub fn resolve_another(&mut self) -> Option<(OpId, Resolution)> {
        let is_outcome = |next: &mut Entry| {
            matches!(
                next.record.body,
                Body::StepCompleted(_) | Body::TimerFired(_) | Body::ChildFinished(_)
            )
        };
        if self.pending.is_empty() {
            let next = self.unfolded.pop_front_if(is_outcome)?;
            self.fold(next);
        }
        let (op, resolution) = self.pending.pop_front()?;
        let closed = self.operations.close(op)?;
        self.count_resolved(&closed.location, &resolution);
        Some((op, resolution))
    }

    /// What the code said has been compared; some of it also waits for being durable.
    fn fold_scripted(&mut self, body: &Body) {
        match body {
            Body::StepStarted(record) => self.fold_step_started(record),
            Body::RaceWon(record) if self.phase == Phase::Running => {
                self.fold_race_won(&record.location);
            }
            Body::LoopAdvanced(record) => self.fold_loop_advanced(record),
            Body::Removed(record) => self.fold_removed(record),
            _ => {}
        }
    }

    fn fold_first(&mut self, entry: Entry) -> bool {
        let Body::Created(created) = &entry.record.body else {
            self.halt(Halt::Damaged(
                "the journal does not begin with `created`".to_owned(),
            ));
            return false;
        };
        let (id, generation) = (self.id.clone(), self.generation);
        self.facts = Some(RunFacts::new(id, generation, created, entry.record.time));
        self.phase = Phase::Running;
        true
    }

    fn fold_in_backoff(&mut self, entry: Entry) -> bool {
        self.learn(&entry);
        match entry.record.body {
            Body::TimerFired(fired) if fired.purpose == TimerPurpose::ExecutionRetry => {
                self.backoff_until = None;
                self.phase = Phase::Running;
                true
            }
            // The function runs once more, to come to its end.
            Body::CancelRequested(record) => {
                self.cancel.get_or_insert(record);
                self.phase = Phase::Running;
                true
            }
            Body::DeadlinePassed(passed) => {
                self.break_off(too_late(passed.deadline));
                false
            }
            Body::ForcedFailure(record) => {
                self.fold_forced_failure(*record);
                false
            }
            Body::PauseRequested(_) => {
                self.pause = Pause::Asked;
                false
            }
            Body::Paused(_) => {
                self.pause = Pause::Parked;
                false
            }
            body => {
                if let Some(status) = body.terminal() {
                    self.phase = Phase::Ended(status);
                }
                false
            }
        }
    }

    fn learn(&mut self, entry: &Entry) {
        let record = &entry.record;
        self.learn_loop(&record.body);
        self.memo
            .learn(entry.number, record.time, &record.body, &mut self.mailbox);
    }

    fn fold_running(&mut self, entry: Entry) {
        let time = entry.record.time;
        match entry.record.body {
            Body::StepStarted(record) => self.fold_step_started(&record),
            Body::StepCompleted(record) => self.fold_step_completed(record),
            Body::StepFailed(record) => self.fold_step_failed(*record),
            Body::TimerFired(record) => self.fold_timer_fired(&record),
            Body::Event(record) => self.fold_event(record, entry.number, time),
            Body::RpcAnswered(record) => self.fold_rpc_answered(*record),
            Body::DeadlinePassed(record) => self.break_off(too_late(record.deadline)),
            Body::PauseRequested(_) => self.pause = Pause::Asked,
            Body::Paused(_) => self.pause = Pause::Parked,
            // `turn` has looked ahead for these before it folded on.
            Body::Resumed(_) | Body::ResumeRequested(_) => {}
            // A run that was parked goes on when its code fits again.
            Body::Diverged(_) => {}
            Body::Completed(_) => self.phase = Phase::Ended(RunStatus::Completed),
            Body::Failed(_) => self.phase = Phase::Ended(RunStatus::Failed),
            Body::RollbackFailed(_) => self.phase = Phase::Ended(RunStatus::RollbackFailed),
            Body::Cancelled(_) => self.phase = Phase::Ended(RunStatus::Cancelled),
            Body::Terminated(_) => self.phase = Phase::Ended(RunStatus::Terminated),
            // The executor rebuilds itself from the journal after writing this.
            Body::ExecutionRetried(_) => self.phase = Phase::Backoff,
            Body::Created(_) => self.halt(Halt::Damaged("the run is created twice".to_owned())),
            Body::CancelRequested(record) => self.fold_cancel_requested(record),
            Body::StepSkipped(record) => self.fold_step_settled(&record.location, record.result),
            Body::StepEdited(record) => self.fold_step_settled(&record.location, record.result),
            Body::ForcedFailure(record) => self.fold_forced_failure(*record),
            Body::ChildFinished(record) => self.fold_child_finished(*record),
            body @ (Body::UndoStarted(_)
            | Body::UndoCompleted(_)
            | Body::UndoFailed(_)
            | Body::UndoSkipped(_)) => self.fold_undo(&body),
            // `fold` has compared scripted records already, and no journal holds messages of users' streams.
            _ => {}
        }
    }

    fn fold_step_started(&mut self, record: &StepStarted) {
        if let Some((_, step)) = self.operations.step_at_mut(&record.location) {
            if record.attempt > step.highest {
                // Somebody else began it.
                step.highest = record.attempt;
                (step.fresh, step.announced) = (false, false);
            } else if record.attempt == step.highest {
                // A pause may come between the call and the attempt: then the start is durable before it is waited for.
                let is_called = step.fresh && step.phase == StepPhase::Runnable;
                if is_called || step.phase == StepPhase::Announcing {
                    step.phase = StepPhase::Runnable;
                    step.announced = true;
                }
            }
        }
    }

    fn fold_step_completed(&mut self, record: StepCompleted) {
        if let Some((op, _)) = self.operations.step_at_mut(&record.location) {
            let resolution = match self.cancel {
                None => Resolution::Completed(record.result),
                // Kept for its undo; the code goes no further.
                Some(_) => refused(),
            };
            self.pending.push_back((op, resolution));
        }
    }

    fn fold_step_failed(&mut self, record: StepFailed) {
        let Some((op, step)) = self.operations.step_at_mut(&record.location) else {
            return;
        };
        step.failures += 1;
        step.highest = step.highest.max(record.attempt);
        if self.cancel.is_some() {
            self.pending.push_back((op, refused()));
            return;
        }
        if let Some(retry_at) = record.retry_at {
            step.phase = StepPhase::Backoff(retry_at);
            return;
        }
        let failure = StepFailure {
            best_effort: step.options.best_effort,
            location: record.location,
            error: record.error,
            outcome: record.outcome,
        };
        self.pending
            .push_back((op, Resolution::Failed(Box::new(failure))));
    }

    fn fold_timer_fired(&mut self, record: &TimerFired) {
        let Some((op, operation)) = record
            .location
            .as_ref()
            .and_then(|at| self.operations.at(at))
        else {
            return;
        };
        match (record.purpose, &operation.kind) {
            (TimerPurpose::Sleep, Kind::Sleep { .. }) => {
                self.pending.push_back((op, Resolution::Slept))
            }
            (TimerPurpose::Retry, Kind::Step(_)) => {
                if let Some(step) = self.operations.step_mut(op)
                    && step.phase == StepPhase::Backoff(record.due)
                {
                    step.phase = StepPhase::Runnable;
                }
            }
            (TimerPurpose::Wait, Kind::Wait { .. }) => {
                let location = operation.location.clone();
                self.mailbox.forget(op);
                self.say(WaitTimedOut { location }.into());
                self.pending.push_back((op, Resolution::Events(Vec::new())));
            }
            (TimerPurpose::Rpc, Kind::Rpc { .. }) => self.end_rpc(op, None),
            (TimerPurpose::Child, Kind::Child(_)) => {
                self.fold_child_timed_out(op, record.due);
            }
            // A timer of something that is over, or of the run itself.
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

    fn fold_event(&mut self, record: Event, number: RecordNumber, time: Timestamp) {
        let event = EventTaken {
            name: record.name,
            payload: record.payload,
            number,
            time,
        };
        if let Some((op, events)) = self.mailbox.deliver(event) {
            self.give(op, events);
        }
    }

    fn fold_rpc_answered(&mut self, record: RpcAnswered) {
        let open = self.operations.at(&record.location);
        if let Some((op, operation)) = open
            && matches!(&operation.kind, Kind::Rpc { id, .. } if *id == record.rpc_id)
        {
            self.end_rpc(op, Some(record.answer));
        }
    }

    /// A wait takes events, or has found none and does not wait.
    pub(super) fn give(&mut self, op: OpId, events: Vec<EventTaken>) {
        let Some(operation) = self.operations.get(op) else {
            return;
        };
        let Kind::Wait { deadline } = operation.kind else {
            return;
        };
        let location = operation.location.clone();
        let body: Body = if events.is_empty() {
            WaitTimedOut { location }.into()
        } else {
            WaitCompleted {
                location,
                events: events.iter().map(|event| event.number).collect(),
                deadline,
            }
            .into()
        };
        self.say(body);
        self.pending.push_back((op, Resolution::Events(events)));
    }

    fn end_rpc(&mut self, op: OpId, answer: Option<Payload>) {
        let Some(operation) = self.operations.get(op) else {
            return;
        };
        let Kind::Rpc { id, deadline } = operation.kind.clone() else {
            return;
        };
        let completed = RpcCompleted {
            location: operation.location.clone(),
            rpc_id: id,
            timed_out: answer.is_none(),
            deadline,
        };
        self.say(completed.into());
        self.pending.push_back((op, Resolution::Answer(answer)));
    }

    /// Says a line of the script that the fold itself brings about.
    pub(super) fn say(&mut self, body: Body) -> Option<Body> {
        self.say_at(body, None)
    }

    /// Says a line of the script: gives back the recorded one, or queues the new one for writing.
    pub(super) fn say_at(&mut self, body: Body, site: Option<super::CallSite>) -> Option<Body> {
        match self.script.say(body, site) {
            Ok(Line::Recorded(body)) => Some(body),
            Ok(Line::New(body)) => {
                self.outgoing.push(body.clone());
                Some(body)
            }
            Err(divergence) => {
                self.halt(Halt::Diverged(divergence));
                None
            }
        }
    }

    /// The place of the next operation of that name.
    pub(super) fn place(
        &mut self,
        scope: &everstep_model::Scope,
        name: everstep_model::Name,
    ) -> Location {
        let counter = self.scopes.count_call(scope, &name);
        Location {
            scope: scope.clone(),
            name,
            counter,
        }
    }
}

/// The failure of a run whose deadline passed.
fn too_late(deadline: Timestamp) -> Failure {
    let message = format!("the run was not over by its deadline, {deadline}");
    Failure::new(ErrorCode::DeadlineExceeded, message)
}
