//! The parts of a shape.

#![allow(
    missing_docs,
    reason = "plain data; fields are explained where their names do not"
)]

use everstep_model::{Location, Name, RecordNumber, RunId, RunStatus};
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Shape {
    /// `None` before `created`.
    pub workflow: Option<Name>,
    pub status: RunStatus,
    /// The operations that the workflow function called, in the order of first appearance.
    pub nodes: Vec<Node>,
    /// The record at which the shape of a very long journal ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated_at: Option<RecordNumber>,
}

/// An operation or a branch.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// Inside a loop, the location in the iteration whose state is shown.
    pub location: Location,
    #[serde(flatten)]
    pub kind: NodeKind,
    pub status: NodeStatus,
    /// The progress of its undo, if one began or was skipped.
    pub undo: Option<NodeStatus>,
    /// The parts inside, in the order of first appearance.
    pub children: Vec<Node>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum NodeKind {
    Step,
    Sleep,
    /// A wait for an event.
    Wait {
        names: Vec<Name>,
    },
    Rpc {
        method: Name,
    },
    Child {
        run: RunId,
        workflow: Name,
        /// Whether the run does not wait for it.
        detached: bool,
    },
    /// An event to another run.
    Send {
        event: Name,
        to: RunId,
    },
    /// The reply to a request.
    Reply,
    /// The point of no return, after which only undos marked internal run.
    NoReturn,
    /// Branches that must all succeed.
    Join,
    /// Branches of which the first success wins.
    Race,
    /// One branch of a join, race or switch.
    Branch {
        /// Whether it won its race; in a loop, in any iteration.
        won: bool,
    },
    /// A choice between branches. Its children are the branches that were chosen.
    Switch,
    /// A loop. Its children are its body.
    Loop {
        /// The number of iterations that began, as far as recorded.
        iterations: u64,
    },
    /// A scope whose kind no record names.
    Scope,
}

/// The status of a part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NodeStatus {
    Completed,
    TimedOut,
    /// Given a result, or passed over, without running.
    Skipped,
    Undone,
    /// Dropped before it ended.
    Abandoned,
    Failed,
    /// Waits for an event, an answer, a child or a time.
    Waiting,
    /// Waits for its next attempt.
    Retrying,
    Running,
}

impl NodeStatus {
    pub const ALL: &'static [Self] = &[
        Self::Completed,
        Self::TimedOut,
        Self::Skipped,
        Self::Undone,
        Self::Abandoned,
        Self::Failed,
        Self::Waiting,
        Self::Retrying,
        Self::Running,
    ];

    /// Returns the permanent name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::TimedOut => "timed_out",
            Self::Skipped => "skipped",
            Self::Undone => "undone",
            Self::Abandoned => "abandoned",
            Self::Failed => "failed",
            Self::Waiting => "waiting",
            Self::Retrying => "retrying",
            Self::Running => "running",
        }
    }

    /// Returns whether the part can still change.
    #[must_use]
    pub fn is_open(self) -> bool {
        match self {
            Self::Waiting | Self::Retrying | Self::Running => true,
            Self::Completed
            | Self::TimedOut
            | Self::Skipped
            | Self::Undone
            | Self::Abandoned
            | Self::Failed => false,
        }
    }
}
