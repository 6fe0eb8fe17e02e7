//! A child that an earlier pass of the function started.

use everstep_model::record::{ChildFinished, ChildOutcome, ChildStarted};
use everstep_model::{RunId, Timestamp};

#[derive(Clone, Debug)]
pub(in crate::replay) struct EarlierChild {
    pub(in crate::replay) run: RunId,
    pub(in crate::replay) deadline: Option<Timestamp>,
    wait: Wait,
    outcome: Option<ChildOutcome>,
}

/// The earlier pass's wait for the child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    Open,
    TimedOut,
    /// The code dropped the operation.
    Left,
}

/// What a later pass does about the child.
pub(in crate::replay) enum Again {
    /// Use the outcome; `None` if the wait timed out.
    Ended(Option<ChildOutcome>),
    Wait,
    StartAnother,
}

impl EarlierChild {
    pub(super) fn new(record: &ChildStarted) -> Self {
        Self {
            run: record.run.clone(),
            deadline: record.deadline,
            wait: Wait::Open,
            outcome: None,
        }
    }

    pub(super) fn finish(&mut self, record: &ChildFinished) {
        if record.run.as_ref().is_none_or(|run| *run == self.run) {
            self.outcome.get_or_insert_with(|| record.outcome.clone());
        }
    }

    pub(super) fn leave(&mut self) {
        if self.wait == Wait::Open {
            self.wait = Wait::Left;
        }
    }

    pub(super) fn time_out(&mut self) {
        if self.wait == Wait::Open && self.outcome.is_none() {
            self.wait = Wait::TimedOut;
        }
    }

    /// Decides what a later pass does. A pass that gave a child up left it to its parent-close
    /// policy. Another one is started, unless the child completed anyway or the code insists on its
    /// id.
    pub(in crate::replay) fn again(&mut self, id: Option<&RunId>, has_timeout: bool) -> Again {
        if self.wait == Wait::TimedOut && has_timeout {
            return Again::Ended(None);
        }
        let is_completed = matches!(self.outcome, Some(ChildOutcome::Completed(_)));
        let is_given_up = self.wait != Wait::Open && !is_completed;
        if is_given_up && id != Some(&self.run) {
            return Again::StartAnother;
        }
        match self.outcome.take() {
            Some(outcome) => Again::Ended(Some(outcome)),
            None => Again::Wait,
        }
    }
}
