//! Statuses of runs and steps.

use std::str::FromStr;

use crate::text::{excerpt, json_as_text};

crate::words! {
    /// The status of a run. Stored rows contain its position in this list, so add new ones at the
    /// end.
    pub enum RunStatus {
        /// Created, and not executed yet.
        Queued = "queued",
        /// Being executed.
        Running = "running",
        /// Suspended until a time.
        Sleeping = "sleeping",
        /// Suspended until an event, an answer or the end of a child.
        Waiting = "waiting",
        /// Suspended until the next attempt of a step or of the whole run.
        Retrying = "retrying",
        /// Waiting for steps in flight before it pauses.
        Pausing = "pausing",
        /// Paused.
        Paused = "paused",
        /// A cancel request is being carried out.
        Cancelling = "cancelling",
        /// Undoing its completed steps.
        RollingBack = "rolling_back",
        /// Parked, because the code does not match the journal.
        Diverged = "diverged",
        /// Ended with a result.
        Completed = "completed",
        /// Ended with an error.
        Failed = "failed",
        /// Ended with an error, and an undo failed too.
        RollbackFailed = "rollback_failed",
        /// Ended by a cancel request.
        Cancelled = "cancelled",
        /// Ended at once by an operator.
        Terminated = "terminated",
    }
}

crate::words! {
    /// The status of a step.
    pub enum StepStatus {
        /// An attempt is in flight.
        Running = "running",
        /// Waiting for its next attempt.
        Retrying = "retrying",
        /// Completed with a result.
        Completed = "completed",
        /// Failed with an error that is not retried.
        Failed = "failed",
        /// Failed, and no retries are left.
        Exhausted = "exhausted",
        /// Took longer than its timeout.
        TimedOut = "timed_out",
        /// Given a result by an operator without running.
        Skipped = "skipped",
        /// Dropped before it ended.
        Abandoned = "abandoned",
        /// Its undo has run.
        Undone = "undone",
    }
}

json_as_text!(RunStatus, RunStatus::from_str);
json_as_text!(StepStatus, StepStatus::from_str);

/// Text that is not a status.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown status {0:?}")]
pub struct UnknownStatus(String);

impl RunStatus {
    /// Names that earlier systems used for a status.
    pub const ALIASES: &[(&str, Self)] = &[
        ("created", Self::Queued),
        ("pending", Self::Queued),
        ("errored", Self::Failed),
        ("complete", Self::Completed),
        ("compensating", Self::RollingBack),
        ("compensation_failed", Self::RollbackFailed),
    ];

    /// Returns the permanent number in stored rows.
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8 + 1
    }

    /// Returns the status with this number.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        let position = code.checked_sub(1)?;
        Self::ALL.get(usize::from(position)).copied()
    }

    /// Whether the run has ended. Nothing more is appended to its journal.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        match self {
            Self::Completed
            | Self::Failed
            | Self::RollbackFailed
            | Self::Cancelled
            | Self::Terminated => true,
            Self::Queued
            | Self::Running
            | Self::Sleeping
            | Self::Waiting
            | Self::Retrying
            | Self::Pausing
            | Self::Paused
            | Self::Cancelling
            | Self::RollingBack
            | Self::Diverged => false,
        }
    }
}

impl FromStr for RunStatus {
    type Err = UnknownStatus;

    /// Parses a status or an alias, in any case, with `_` or `-` between words.
    fn from_str(text: &str) -> Result<Self, UnknownStatus> {
        let word = text.to_ascii_lowercase().replace('-', "_");
        let alias = Self::ALIASES.iter().find(|(alias, _)| *alias == word);
        let status = alias.map(|(_, status)| *status);
        let status = status.or_else(|| Self::parse(&word));
        status.ok_or_else(|| UnknownStatus(excerpt(text)))
    }
}

impl FromStr for StepStatus {
    type Err = UnknownStatus;

    fn from_str(text: &str) -> Result<Self, UnknownStatus> {
        Self::parse(text).ok_or_else(|| UnknownStatus(excerpt(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_codes_are_unambiguous() {
        for &status in RunStatus::ALL {
            assert_eq!(status.as_str().parse(), Ok(status));
            assert_eq!(RunStatus::from_code(status.code()), Some(status));
        }
        assert_eq!(RunStatus::from_code(0), None);
        assert_eq!(RunStatus::from_code(16), None);
        for &status in StepStatus::ALL {
            assert_eq!(status.as_str().parse(), Ok(status));
        }
    }

    #[test]
    fn codes_in_stored_rows_do_not_change() {
        let in_order = [
            RunStatus::Queued,
            RunStatus::Running,
            RunStatus::Sleeping,
            RunStatus::Waiting,
            RunStatus::Retrying,
            RunStatus::Pausing,
            RunStatus::Paused,
            RunStatus::Cancelling,
            RunStatus::RollingBack,
            RunStatus::Diverged,
            RunStatus::Completed,
            RunStatus::Failed,
            RunStatus::RollbackFailed,
            RunStatus::Cancelled,
            RunStatus::Terminated,
        ];
        assert_eq!(RunStatus::ALL, in_order);
        assert!(in_order.iter().map(|status| status.code()).eq(1..=15));
    }

    #[test]
    fn words_of_earlier_systems_are_accepted() {
        for (word, status) in [
            ("created", RunStatus::Queued),
            ("errored", RunStatus::Failed),
            ("complete", RunStatus::Completed),
            ("compensating", RunStatus::RollingBack),
            ("compensation_failed", RunStatus::RollbackFailed),
        ] {
            assert_eq!(word.parse(), Ok(status));
        }
        assert!("bored".parse::<RunStatus>().is_err());
    }
}
