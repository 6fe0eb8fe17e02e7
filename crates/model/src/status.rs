//! Statuses of runs and steps.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

macro_rules! statuses {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $code:literal $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            /// Every status.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The permanent name on the wire.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// The permanent number in stored rows.
            #[must_use]
            pub fn code(self) -> u8 {
                match self { $(Self::$variant => $code,)* }
            }

            /// The status with that number.
            #[must_use]
            pub fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some(Self::$variant),)* _ => None }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl TryFrom<String> for $name {
            type Error = UnknownStatus;
            fn try_from(text: String) -> Result<Self, UnknownStatus> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(status: $name) -> Self {
                status.as_str().to_owned()
            }
        }
    };
}

statuses! {
    /// The status of a run.
    RunStatus {
        /// Created, and not executed yet.
        Queued = 1 "queued",
        /// Being executed.
        Running = 2 "running",
        /// Suspended until a time.
        Sleeping = 3 "sleeping",
        /// Suspended until an event, an answer or the end of a child.
        Waiting = 4 "waiting",
        /// Suspended until the next attempt of a step or of the whole run.
        Retrying = 5 "retrying",
        /// Asked to pause; steps in flight are still finishing.
        Pausing = 6 "pausing",
        /// Paused.
        Paused = 7 "paused",
        /// A cancel request is being carried out.
        Cancelling = 8 "cancelling",
        /// Undoing its completed steps.
        RollingBack = 9 "rolling_back",
        /// Parked, because the code does not match the journal.
        Diverged = 10 "diverged",
        /// Ended with a result.
        Completed = 11 "completed",
        /// Ended with an error.
        Failed = 12 "failed",
        /// Ended with an error, and an undo failed too.
        RollbackFailed = 13 "rollback_failed",
        /// Ended by a cancel request.
        Cancelled = 14 "cancelled",
        /// Ended at once by an operator.
        Terminated = 15 "terminated",
    }
}

statuses! {
    /// The status of a step.
    StepStatus {
        /// An attempt is in flight.
        Running = 1 "running",
        /// Waiting for its next attempt.
        Retrying = 2 "retrying",
        /// Completed with a result.
        Completed = 3 "completed",
        /// Failed with an error that is not retried.
        Failed = 4 "failed",
        /// Failed, and no retries are left.
        Exhausted = 5 "exhausted",
        /// Took longer than its timeout.
        TimedOut = 6 "timed_out",
        /// Given a result by an operator without running.
        Skipped = 7 "skipped",
        /// Dropped before it ended.
        Abandoned = 8 "abandoned",
        /// Its undo has run.
        Undone = 9 "undone",
    }
}

/// Text that is not a status.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown status {0:?}")]
pub struct UnknownStatus(String);

impl RunStatus {
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

    /// Parses a status, or a name that earlier systems used for it.
    fn from_str(text: &str) -> Result<Self, UnknownStatus> {
        let word = match text {
            "created" | "pending" => "queued",
            "errored" => "failed",
            "complete" => "completed",
            "compensating" => "rolling_back",
            "compensation_failed" => "rollback_failed",
            other => other,
        };
        let found = Self::ALL.iter().find(|status| status.as_str() == word);
        found
            .copied()
            .ok_or_else(|| UnknownStatus(text.chars().take(64).collect()))
    }
}

impl FromStr for StepStatus {
    type Err = UnknownStatus;
    fn from_str(text: &str) -> Result<Self, UnknownStatus> {
        let found = Self::ALL.iter().find(|status| status.as_str() == text);
        found
            .copied()
            .ok_or_else(|| UnknownStatus(text.chars().take(64).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers_lead_back() {
        for &status in RunStatus::ALL {
            assert_eq!(status.as_str().parse(), Ok(status));
            assert_eq!(RunStatus::from_code(status.code()), Some(status));
        }
        for &status in StepStatus::ALL {
            assert_eq!(status.as_str().parse(), Ok(status));
            assert_eq!(StepStatus::from_code(status.code()), Some(status));
        }
    }

    #[test]
    fn older_words_are_understood() {
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
