//! Displays reasons as plain sentences.

use std::fmt;

use everstep_model::{Failure, Location, Timestamp};

use super::{Reason, Why};
use crate::phrase::{Because, By, Listed};

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.status)?;
        if self.reasons.is_empty() {
            f.write_str("nothing holds it up")?;
        }
        for (index, reason) in self.reasons.iter().enumerate() {
            let between = if index == 0 { "it" } else { "; it" };
            write!(f, "{between} {reason}")?;
        }
        match self.deadline {
            Some(deadline) => write!(f, "; it must be over by {deadline}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_deed(f)?;
        if let Some(attempt) = self.attempt() {
            write!(f, " (attempt {attempt})")?;
        }
        if let Some(at) = self.at() {
            write!(f, " at {at}")?;
        }
        if let Some(since) = self.since() {
            write!(f, " since {since}")?;
        }
        if let Some(until) = self.until() {
            write!(f, " until {until}")?;
        }
        if let Some(place) = self.place() {
            write!(f, " in `{place}`")?;
        }
        match self.last_error() {
            Some(error) => write!(f, " after: {error}"),
            None => Ok(()),
        }
    }
}

impl Reason {
    fn write_deed(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimerAt { location, .. } => write!(f, "sleeps in `{location}`"),
            Self::Event { names, batch, .. } => {
                write!(f, "waits for event {}", Listed(names, " or "))?;
                match batch {
                    0 | 1 => Ok(()),
                    batch => write!(f, " ({batch} at once at most)"),
                }
            }
            Self::Answer { method, rpc_id, .. } => {
                write!(f, "waits for an answer to `{method}` ({rpc_id})")
            }
            Self::Child { run, workflow, .. } => {
                write!(f, "waits for its child `{run}` of workflow `{workflow}`")
            }
            Self::RetryAt { step, .. } => write!(f, "retries step `{step}`"),
            Self::ExecutionRetry { .. } => f.write_str("runs again"),
            Self::StepRunning { step, .. } => write!(f, "executes step `{step}`"),
            Self::UndoRunning { step, .. } => write!(f, "undoes step `{step}`"),
            Self::UndoRetryAt { step, .. } => write!(f, "retries undoing step `{step}`"),
            Self::NoWorker { workflow, version } => {
                write!(
                    f,
                    "finds no live worker that offers workflow `{workflow}` in version {version}"
                )
            }
            Self::Diverged { location, error } => {
                f.write_str("is parked")?;
                if let Some(location) = location {
                    write!(f, " in `{location}`")?;
                }
                write!(f, " because its code no longer fits its journal: {error}")
            }
            Self::Paused { by, reason } => write!(f, "is paused{}{}", By(by), Because(reason)),
            Self::PauseRequested { by, reason } => {
                write!(f, "was asked to pause{}{}", By(by), Because(reason))
            }
            Self::CancelRequested {
                by,
                reason,
                rollback,
            } => {
                let how = if *rollback { " and roll back" } else { "" };
                write!(f, "was asked to end{how}{}{}", By(by), Because(reason))
            }
            Self::DeadlinePassed { deadline } => write!(f, "passed its deadline, {deadline}"),
            Self::ForcedFailure { by, error } => {
                write!(f, "was made to fail{}: {error}", By(by))
            }
            Self::Finished { status } => write!(f, "is over ({status})"),
            Self::Queued => f.write_str("waits for its turn"),
            Self::StoreUnavailable { detail } => {
                write!(f, "cannot be read from the store: {detail}")
            }
        }
    }

    fn attempt(&self) -> Option<u32> {
        match self {
            Self::RetryAt { attempt, .. }
            | Self::ExecutionRetry { attempt, .. }
            | Self::StepRunning { attempt, .. }
            | Self::UndoRunning { attempt, .. }
            | Self::UndoRetryAt { attempt, .. } => Some(*attempt),
            _ => None,
        }
    }

    fn at(&self) -> Option<Timestamp> {
        match self {
            Self::RetryAt { at, .. } => *at,
            Self::ExecutionRetry { at, .. } | Self::UndoRetryAt { at, .. } => Some(*at),
            _ => None,
        }
    }

    fn since(&self) -> Option<Timestamp> {
        match self {
            Self::Event { since, .. }
            | Self::Answer { since, .. }
            | Self::Child { since, .. }
            | Self::UndoRunning { since, .. } => Some(*since),
            Self::StepRunning { since, .. } => *since,
            _ => None,
        }
    }

    fn until(&self) -> Option<Timestamp> {
        match self {
            Self::TimerAt { due, .. } => Some(*due),
            Self::Event { deadline, .. } | Self::Answer { deadline, .. } => *deadline,
            _ => None,
        }
    }

    /// The location of a wait. The other sentences name theirs themselves.
    fn place(&self) -> Option<&Location> {
        match self {
            Self::Event { location, .. }
            | Self::Answer { location, .. }
            | Self::Child { location, .. } => Some(location),
            _ => None,
        }
    }

    fn last_error(&self) -> Option<&Failure> {
        match self {
            Self::RetryAt { last_error, .. } => last_error.as_ref(),
            Self::ExecutionRetry { last_error, .. } | Self::UndoRetryAt { last_error, .. } => {
                Some(last_error)
            }
            _ => None,
        }
    }
}
