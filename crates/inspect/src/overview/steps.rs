//! Steps: attempts, results and edits by operators.

use everstep_model::record::{
    FailureOutcome, StepAbandoned, StepCompleted, StepFailed, StepStarted,
};
use everstep_model::{Failure, Location, Payload, StepStatus, Timestamp};

use super::fold::{Kind, Overview, Seen, Stamp};
use super::views::StepView;

impl Overview {
    pub(super) fn step_started(&mut self, at: Stamp, record: &StepStarted) {
        let is_sensitive = record.options.is_some_and(|options| options.sensitive);
        let is_no_return = record.options.is_some_and(|options| options.no_return);
        self.change_step(at, &record.location, |step| {
            step.status = StepStatus::Running;
            step.attempts = step.attempts.max(record.attempt);
            step.sensitive |= is_sensitive;
            step.options = step.options.or(record.options);
            step.no_return |= is_no_return;
            step.start(at.time);
            step.completed_at = None;
            step.next_retry_at = None;
        });
    }

    pub(super) fn step_completed(&mut self, at: Stamp, record: &StepCompleted) {
        self.change_step(at, &record.location, |step| {
            step.attempts = step.attempts.max(record.attempt);
            step.start(record.started_at);
            step.sensitive |= record.sensitive;
            step.no_return |= record.no_return;
            step.succeed(StepStatus::Completed, &record.result, at.time);
        });
    }

    pub(super) fn step_failed(&mut self, at: Stamp, record: &StepFailed) {
        self.change_step(at, &record.location, |step| {
            step.attempts = step.attempts.max(record.attempt);
            step.start(record.started_at);
            let status = match record.outcome {
                FailureOutcome::Retrying => return step.back_off(&record.error, record.retry_at),
                FailureOutcome::Exhausted => StepStatus::Exhausted,
                FailureOutcome::Fatal | FailureOutcome::RollBack => StepStatus::Failed,
                FailureOutcome::TimedOut => StepStatus::TimedOut,
                FailureOutcome::Cancelled => StepStatus::Abandoned,
            };
            step.fail(status, &record.error, at.time);
        });
    }

    pub(super) fn step_abandoned(&mut self, at: Stamp, record: &StepAbandoned) {
        // The same record is written for a child that the run no longer waits for.
        self.children
            .retain(|child| child.location != record.location);
        self.change_step(at, &record.location, |step| step.abandon(at.time));
    }

    pub(super) fn step_retry_due(&mut self, at: Stamp, location: &Location, due: Timestamp) {
        let is_due = self.step(location).is_some_and(|step| {
            let is_time = step.next_retry_at.is_none_or(|retry_at| retry_at <= due);
            step.status == StepStatus::Retrying && is_time
        });
        if is_due {
            self.change_step(at, location, |step| step.status = StepStatus::Running);
        }
    }

    pub(super) fn step_undone(&mut self, at: Stamp, location: &Location) {
        self.update_step(at, location, |step, _| step.status = StepStatus::Undone);
    }

    /// Abandons the listed steps and all others that have no result.
    pub(super) fn abandon_steps(&mut self, at: Stamp, listed: &[Location]) {
        for location in listed {
            // A listed step may have no earlier record.
            self.update_step(at, location, |_, _| {});
        }
        let open = self.steps.iter_mut().filter(|step| step.is_open());
        open.for_each(|step| step.abandon(at.time));
        (self.in_flight, self.in_backoff) = (0, 0);
    }

    /// Changes a step unless its outcome is final. Adds the step if it is new.
    pub(super) fn change_step(
        &mut self,
        at: Stamp,
        location: &Location,
        change: impl FnOnce(&mut StepView),
    ) {
        let current = self.execution_attempt;
        self.update_step(at, location, |step, execution| {
            let may_change = match step.status {
                StepStatus::Running | StepStatus::Retrying => true,
                // The next pass of the function repeats steps that did not succeed in the last one.
                StepStatus::Failed
                | StepStatus::Exhausted
                | StepStatus::TimedOut
                | StepStatus::Abandoned => *execution < current,
                StepStatus::Completed | StepStatus::Skipped | StepStatus::Undone => false,
            };
            if may_change {
                change(step);
                *execution = current;
            }
        });
    }

    fn update_step(
        &mut self,
        at: Stamp,
        location: &Location,
        update: impl FnOnce(&mut StepView, &mut u32),
    ) {
        if !self.seen.contains_key(location) {
            self.add_step(at, location);
        }
        let Some(seen) = self.seen.get_mut(location) else {
            return;
        };
        // Ignore records about a step at the location of another operation.
        let Kind::Step { index, execution } = &mut seen.kind else {
            return;
        };
        let Some(step) = self.steps.get_mut(*index) else {
            return;
        };
        let before = step.status;
        update(step, execution);
        let after = step.status;
        if let Some(count) = self.count_of(before) {
            *count = count.saturating_sub(1);
        }
        if let Some(count) = self.count_of(after) {
            *count += 1;
        }
    }

    fn add_step(&mut self, at: Stamp, location: &Location) {
        let kind = Kind::Step {
            index: self.steps.len(),
            execution: self.execution_attempt,
        };
        let first = at.number;
        self.seen.insert(location.clone(), Seen { first, kind });
        self.steps.push(StepView::new(location.clone()));
        self.in_flight += 1;
    }

    fn count_of(&mut self, status: StepStatus) -> Option<&mut usize> {
        match status {
            StepStatus::Running => Some(&mut self.in_flight),
            StepStatus::Retrying => Some(&mut self.in_backoff),
            StepStatus::Completed
            | StepStatus::Failed
            | StepStatus::Exhausted
            | StepStatus::TimedOut
            | StepStatus::Skipped
            | StepStatus::Abandoned
            | StepStatus::Undone => None,
        }
    }
}

impl StepView {
    pub(super) fn is_open(&self) -> bool {
        matches!(self.status, StepStatus::Running | StepStatus::Retrying)
    }

    pub(super) fn succeed(&mut self, status: StepStatus, result: &Payload, time: Timestamp) {
        self.end(status, time);
        self.result = (!self.sensitive).then(|| result.clone());
        self.error = None;
    }

    pub(super) fn fail(&mut self, status: StepStatus, error: &Failure, time: Timestamp) {
        self.end(status, time);
        self.error = Some(error.clone());
    }

    fn abandon(&mut self, time: Timestamp) {
        self.end(StepStatus::Abandoned, time);
    }

    fn back_off(&mut self, error: &Failure, retry_at: Option<Timestamp>) {
        self.status = StepStatus::Retrying;
        self.error = Some(error.clone());
        self.completed_at = None;
        self.next_retry_at = retry_at;
    }

    fn end(&mut self, status: StepStatus, time: Timestamp) {
        self.status = status;
        self.completed_at = Some(time);
        self.next_retry_at = None;
    }
}
