//! Displays reasons as plain sentences.

use std::fmt;

use everstep_model::Location;

use super::{Reason, Why};
use crate::phrase::{Listed, because, by, located, part};

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
        part("; it must be over by ", self.deadline).fmt(f)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoWorker { workflow, version } => write!(
                f,
                "finds no live worker that offers workflow `{workflow}` in version {version}"
            ),
            Self::Diverged { location, error } => {
                let at = located(" in `", location.as_ref());
                write!(
                    f,
                    "is parked{at} because its code no longer fits its journal: {error}"
                )
            }
            Self::Paused { by: author, reason } => {
                write!(f, "is paused{}{}", by(author), because(reason))
            }
            Self::PauseRequested { by: author, reason } => {
                write!(f, "was asked to pause{}{}", by(author), because(reason))
            }
            Self::CancelRequested {
                by: author,
                reason,
                rollback,
            } => {
                let how = if *rollback { " and roll back" } else { "" };
                write!(f, "was asked to end{how}{}{}", by(author), because(reason))
            }
            Self::DeadlinePassed { deadline } => write!(f, "passed its deadline, {deadline}"),
            Self::ForcedFailure { by: author, error } => {
                write!(f, "was made to fail{}: {error}", by(author))
            }
            Self::Finished {
                status,
                error,
                caused_by,
                rollback_error,
                reason,
            } => {
                write!(f, "is over ({status}){}", because(reason))?;
                let (places, error) = (Locations(caused_by), because(error));
                write!(f, "{places}{error}")?;
                part("; its rollback failed: ", rollback_error.as_ref()).fmt(f)
            }
            Self::Queued => f.write_str("waits for its turn"),
            Self::StoreUnavailable { detail } => {
                write!(f, "cannot be read from the store: {detail}")
            }
            operation => operation.write_operation(f),
        }
    }
}

/// ` in `a:0` and `b:0``, or nothing if there is no location.
struct Locations<'a>(&'a [Location]);

impl fmt::Display for Locations<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, location) in self.0.iter().enumerate() {
            let between = if index == 0 { "in" } else { "and" };
            write!(f, " {between} `{location}`")?;
        }
        Ok(())
    }
}

impl Reason {
    /// Writes what the run executes or waits for.
    fn write_operation(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimerAt { location, due } => write!(f, "sleeps in `{location}` until {due}"),
            Self::Event {
                location,
                names,
                since,
                deadline,
                batch,
            } => {
                let (names, until) = (Listed(names, " or "), part(" until ", *deadline));
                let most = match batch {
                    0 | 1 => String::new(),
                    batch => format!(" ({batch} at once at most)"),
                };
                write!(
                    f,
                    "waits for event {names}{most} since {since}{until} in `{location}`"
                )
            }
            Self::Answer {
                location,
                method,
                rpc_id,
                since,
                deadline,
            } => {
                let until = part(" until ", *deadline);
                write!(f, "waits for an answer to `{method}` ({rpc_id})")?;
                write!(f, " since {since}{until} in `{location}`")
            }
            Self::Child {
                location,
                run,
                workflow,
                since,
            } => {
                write!(f, "waits for its child `{run}` of workflow `{workflow}`")?;
                write!(f, " since {since} in `{location}`")
            }
            Self::RetryAt {
                step,
                attempt,
                at,
                last_error,
            } => {
                let (at, error) = (part(" at ", *at), part(" after: ", last_error.as_ref()));
                write!(f, "retries step `{step}` (attempt {attempt}){at}{error}")
            }
            Self::ExecutionRetry {
                at,
                attempt,
                last_error,
            } => write!(
                f,
                "runs again (attempt {attempt}) at {at} after: {last_error}"
            ),
            Self::StepRunning {
                step,
                attempt,
                since,
                lacks_timeout,
            } => {
                let since = part(" since ", *since);
                write!(f, "executes step `{step}` (attempt {attempt}){since}")?;
                match lacks_timeout {
                    true => f.write_str(", for more than a minute and without a timeout"),
                    false => Ok(()),
                }
            }
            Self::UndoRunning {
                step,
                attempt,
                since,
            } => write!(f, "undoes step `{step}` (attempt {attempt}) since {since}"),
            Self::UndoRetryAt {
                step,
                attempt,
                at,
                last_error,
            } => {
                write!(f, "retries undoing step `{step}` (attempt {attempt})")?;
                write!(f, " at {at} after: {last_error}")
            }
            // `fmt` writes these.
            Self::NoWorker { .. }
            | Self::Diverged { .. }
            | Self::Paused { .. }
            | Self::PauseRequested { .. }
            | Self::CancelRequested { .. }
            | Self::DeadlinePassed { .. }
            | Self::ForcedFailure { .. }
            | Self::Finished { .. }
            | Self::Queued
            | Self::StoreUnavailable { .. } => Ok(()),
        }
    }
}
