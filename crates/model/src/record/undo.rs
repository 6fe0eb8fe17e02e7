//! Undos of steps and children.

use crate::codec::records;
use crate::failure::Failure;
use crate::id::RunId;
use crate::location::Location;
use crate::time::Timestamp;

records! {
    /// The code passed the point of no return: from now on only undos marked internal run.
    pub struct NoReturn {
        #[serde(rename = "id")]
        pub location: Location,
    }

    /// An attempt to undo a step or child began.
    pub struct UndoStarted {
        #[serde(rename = "stepId")]
        pub location: Location,
        /// Counted from 1.
        pub attempt: u32,
    } + {
        /// The run, for a child. A location may have several children, one per pass of the
        /// function.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub run: Option<RunId>,
        /// Whether the rollback that begins with this record ends the run, so that its final status
        /// is fixed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub ends_run: bool,
    }

    /// A step or child is undone.
    pub struct UndoCompleted {
        #[serde(rename = "stepId")]
        pub location: Location,
        /// The attempt that succeeded.
        pub attempt: u32,
    } + {
        /// The run, for a child. A location may have several children, one per pass of the
        /// function.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub run: Option<RunId>,
    }

    /// An attempt to undo a step or child failed.
    pub struct UndoFailed {
        #[serde(rename = "stepId")]
        pub location: Location,
        /// The attempt that failed.
        pub attempt: u32,
        pub error: Failure,
        /// The time of the next attempt, if there is one.
        pub retry_at: Option<Timestamp>,
    } + {
        /// The run, for a child. A location may have several children, one per pass of the
        /// function.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub run: Option<RunId>,
    }

    /// An undo was skipped because the point of no return was passed.
    pub struct UndoSkipped {
        #[serde(rename = "stepId")]
        pub location: Location,
    } + {
        /// The run, for a child. A location may have several children, one per pass of the
        /// function.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub run: Option<RunId>,
        /// Whether the rollback that begins with this record ends the run, so that its final status
        /// is fixed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub ends_run: bool,
    }
}
