//! Running undos: when the code asks for it, and when a run ends with an error.
//!
//! The machine says which undo is next and when it may begin; its work is polled here, beside the code. A run that ends
//! first has everything in its journal that happened, then a record that begins the rollback (guarded: nothing came that
//! was not folded), then one undo after the other, then its end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Context, Poll};
use std::time::Duration;

use everstep_machine::{FailureClass, Halt, StepStart, UndoStart, UndoState};
use everstep_model::{Body, Entry, Failure, RetryPolicy, RunStatus};
use everstep_store::{BoxFuture, StoreError};

use super::conclusion::Conclusion;
use super::executor::{Executor, Leave};
use super::undos::UndoInput;
use super::verify::undos_given;
use crate::error::Result;
use crate::operation::{UndoSlot, undo_panicked, undo_timed_out};

/// The executor's part in rolling back.
#[derive(Default)]
pub(super) struct Undoing {
    attempt: Option<Attempt>,
    earlier: EarlierPasses,
}

/// An attempt to undo a step.
struct Attempt {
    start: UndoStart,
    work: BoxFuture<'static, Result<()>>,
    timeout: Option<(BoxFuture<'static, ()>, Duration)>,
    retry: RetryPolicy,
}

/// The undos of steps that only earlier passes of the function called are found by replaying those.
#[derive(Default)]
enum EarlierPasses {
    #[default]
    NotNeeded,
    Reading(BoxFuture<'static, Result<Vec<Entry>, StoreError>>),
    Known,
}

impl Undoing {
    /// Whether no undo is under way here.
    pub(super) fn is_quiet(&self) -> bool {
        self.attempt.is_none()
    }
}

impl Executor {
    /// What the run comes to, if its code is done.
    fn ending(&self) -> Option<Conclusion> {
        if let Some(failure) = &self.broken {
            return Some(Conclusion::Broken(failure.clone()));
        }
        let returned = self.returned.as_ref()?;
        let retries = self.shared.defaults().execution_retries;
        let state = self.shared.state();
        let now = self.activation.now();
        Some(Conclusion::of_return(returned, &state.replay, retries, now))
    }

    /// Whether the code is done, and if so the next thing to conclude on the way to the end.
    pub(super) fn conclude_ending(&mut self) -> Option<Option<Conclusion>> {
        let ending = self.ending()?;
        Some(self.end_in_order(ending))
    }

    fn end_in_order(&mut self, ending: Conclusion) -> Option<Conclusion> {
        let mut state = self.shared.state();
        let reason = ending.rollback_reason();
        let rolls_back = reason.is_some();
        if rolls_back && !self.unsent.is_empty() {
            // A result on its way to the journal may have to be undone too.
            self.strict = true;
            return None;
        }
        state.replay.end_with_rollback(reason);
        let (progress, failure) = (state.replay.undo_state(), state.replay.rollback_failure());
        let failure = failure.filter(|_| rolls_back).cloned();
        drop(state);
        match progress {
            UndoState::Over => {
                let ending = match failure {
                    Some(rollback_error) => ending.with_failed_rollback(rollback_error),
                    None => ending,
                };
                Some(self.look_again(ending))
            }
            UndoState::InFlight => None,
            // The code was looked at when the rollback began.
            UndoState::Waiting => Some(Conclusion::Suspended(RunStatus::RollingBack)),
            UndoState::Due if self.leave == Leave::Soon => Some(Conclusion::Released),
            UndoState::Due if self.shared.state().replay.next_undo_is_own() => None,
            UndoState::Due => self.begin_rollback(ending),
        }
    }

    /// The first record of the rollback decides as what the run ends, and is durable before any undo begins.
    fn begin_rollback(&mut self, ending: Conclusion) -> Option<Conclusion> {
        if !self.knows_undos() {
            return self.conclusion.take();
        }
        if self.shared.state().replay.ending_is_decided() {
            return None;
        }
        if let halted @ Conclusion::Halted(_) = self.look_again(ending) {
            return Some(halted);
        }
        let first = self.shared.state().replay.announce_rollback()?;
        Some(Conclusion::RollBack(Box::new(first)))
    }

    /// Begins the next undo when it is due, and polls the one under way.
    pub(super) fn work_on_undos(&mut self, context: &mut Context<'_>) {
        if self.undoing.attempt.is_none() && self.undo_is_due() {
            self.undoing.attempt = self.begin_undo();
            self.collect(self.activation.now());
        }
        self.read_earlier_passes(context);
        let Some(attempt) = &mut self.undoing.attempt else {
            return;
        };
        if let Poll::Ready(ended) = attempt.poll(context)
            && let Some(attempt) = self.undoing.attempt.take()
        {
            self.record_undo(&attempt, ended);
        }
    }

    fn undo_is_due(&self) -> bool {
        self.conclusion.is_none() && self.shared.state().replay.undo_state() == UndoState::Due
    }

    fn begin_undo(&mut self) -> Option<Attempt> {
        if !self.knows_undos() {
            return None;
        }
        let start = self.shared.state().replay.begin_undo()?;
        let undo = self.shared.state().undos.take(&start.location)?;
        let timeout = undo.timeout.or(start.options.timeout);
        let retry = undo.retry.unwrap_or(start.options.retry);
        let work = match self.shared.mocked_undo(&start) {
            Some(mocked) => Box::pin(std::future::ready(mocked)),
            None => undo.begin(UndoInput {
                context: self
                    .shared
                    .step_context(&step_of(&start), UndoSlot::default()),
                start: start.clone(),
            }),
        };
        let mut state = self.shared.state();
        state.undos.give(start.location.clone(), undo);
        drop(state);
        Some(Attempt {
            timeout: timeout.map(|timeout| (self.shared.runtime().sleep(timeout), timeout)),
            start,
            work,
            retry,
        })
    }

    fn record_undo(&mut self, attempt: &Attempt, ended: Ended) {
        let now = self.activation.now();
        let start = &attempt.start;
        let mut state = self.shared.state();
        let (failure, class) = match ended {
            Ended::Returned(Ok(())) => {
                state.replay.complete_undo(start);
                drop(state);
                return self.collect(now);
            }
            Ended::Returned(Err(error)) => {
                let class = error.class();
                (error.into_failure(), class)
            }
            Ended::TimedOut(timeout) => {
                let failure = undo_timed_out(start, timeout);
                (failure, FailureClass::TimedOut)
            }
        };
        let replay = &mut state.replay;
        replay.fail_undo(start, failure, class, attempt.retry, now);
        drop(state);
        self.collect(now);
    }

    /// Whether the code has given every undo that is to run. If one is missing, earlier passes are asked for it, and
    /// without it the run is parked.
    fn knows_undos(&mut self) -> bool {
        let state = self.shared.state();
        let missing = state.replay.undo_missing(|at| state.undos.has(at));
        let Some(missing) = missing else {
            return true;
        };
        let is_first_pass = state.replay.pass() == 1;
        drop(state);
        match &self.undoing.earlier {
            EarlierPasses::NotNeeded if !is_first_pass => {
                let journal = self.activation.read(everstep_model::RecordNumber(0));
                self.undoing.earlier = EarlierPasses::Reading(journal);
            }
            EarlierPasses::Reading(_) => {}
            EarlierPasses::NotNeeded | EarlierPasses::Known => {
                let divergence = Halt::Diverged(Box::new(missing));
                self.conclusion = Some(Conclusion::Halted(divergence));
            }
        }
        false
    }

    fn read_earlier_passes(&mut self, context: &mut Context<'_>) {
        let EarlierPasses::Reading(reading) = &mut self.undoing.earlier else {
            return;
        };
        let Poll::Ready(read) = reading.as_mut().poll(context) else {
            return;
        };
        self.undoing.earlier = EarlierPasses::Known;
        let journal = match read {
            Ok(journal) => journal,
            Err(error) => {
                tracing::error!(%error, run = %self.activation.run, "a journal could not be read");
                self.conclusion = Some(Conclusion::Released);
                return;
            }
        };
        let is_retry = |entry: &Entry| matches!(entry.record.body, Body::ExecutionRetried(_));
        let ends = journal.iter().enumerate().rev();
        for (end, _) in ends.filter(|(_, entry)| is_retry(entry)) {
            let pass = journal.get(..end).unwrap_or_default().to_vec();
            let earlier = undos_given(&self.definition, self.shared.parts().clone(), pass);
            self.shared.state().undos.add_earlier(earlier);
        }
        context.waker().wake_by_ref();
    }
}

/// How an attempt ended.
enum Ended {
    Returned(Result<()>),
    TimedOut(Duration),
}

impl Attempt {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Ended> {
        let work = &mut self.work;
        match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
            Ok(Poll::Ready(returned)) => return Poll::Ready(Ended::Returned(returned)),
            Err(panic) => return Poll::Ready(Ended::Returned(Err(undo_panicked(&*panic)))),
            Ok(Poll::Pending) => {}
        }
        match &mut self.timeout {
            Some((timer, timeout)) => {
                let timeout = *timeout;
                timer
                    .as_mut()
                    .poll(context)
                    .map(|()| Ended::TimedOut(timeout))
            }
            None => Poll::Pending,
        }
    }
}

/// The step as its own work saw it; a child as if it were one.
fn step_of(undo: &UndoStart) -> StepStart {
    StepStart {
        location: undo.location.clone(),
        attempt: undo.step_attempt,
        failures: 0,
        options: undo.options,
        started_at: everstep_model::Timestamp::default(),
        undo: None,
    }
}

impl Conclusion {
    /// Why completed steps are undone before this end, if they are.
    fn rollback_reason(&self) -> Option<Failure> {
        match self {
            Self::Failed(failure, _) | Self::Broken(failure) => Some(failure.clone()),
            Self::Cancelled(request) => request.rollback.then(|| cancellation(request)),
            Self::Completed(_)
            | Self::Retry(_)
            | Self::RollBack(_)
            | Self::RollbackFailed { .. }
            | Self::Suspended(_)
            | Self::Pause
            | Self::Paused
            | Self::Released
            | Self::Halted(_) => None,
        }
    }

    /// The same end, where an undo failed for good.
    fn with_failed_rollback(self, rollback_error: Failure) -> Self {
        match self.rollback_reason() {
            Some(error) => Self::RollbackFailed {
                error,
                rollback_error,
            },
            None => self,
        }
    }
}

/// A cancellation as the reason of a rollback.
fn cancellation(request: &everstep_model::record::CancelRequested) -> Failure {
    let message = match &request.reason {
        Some(reason) => format!("the run was cancelled: {reason}"),
        None => "the run was cancelled".to_owned(),
    };
    Failure::new(everstep_model::ErrorCode::Cancelled, message)
}
