//! The structure of a run as a tree: what it called, in which order, inside what, and how far each part is.
//!
//! Built from the journal alone, so it shows the way that was taken, not all ways the code has. Places name the
//! structure: `order/~3/ship/charge:0` stands in a branch, in an iteration, in a loop. The iterations of a loop are laid
//! on top of each other, so that a shape grows with the code and not with the age of the run. It is total, and a reader
//! who saw records that compaction dropped and one who did not get the same shape.

mod collapse;
mod draft;
mod dropped;
mod grow;
mod mermaid;
#[cfg(test)]
mod random;
mod settle;
#[cfg(test)]
mod tests;

use everstep_model::{Entry, Location, Name, RunId, RunStatus};
use serde::Serialize;

use crate::overview::Overview;
use draft::Draft;
pub use mermaid::to_mermaid;

/// The structure of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Shape {
    /// Its workflow; none before `created`.
    pub workflow: Option<Name>,
    /// What the run is doing, or how it ended.
    pub status: RunStatus,
    /// What the workflow function called, in the order of first appearance.
    pub nodes: Vec<Node>,
}

/// One operation, or one branch, and what is inside it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// Its place. Inside a loop, that of the iteration whose state is shown.
    pub location: Location,
    /// What it is.
    #[serde(flatten)]
    pub kind: NodeKind,
    /// How far it is.
    pub status: NodeStatus,
    /// How far its undo is, if one was begun or passed over.
    pub undo: Option<NodeStatus>,
    /// What is inside it, in the order of first appearance.
    pub children: Vec<Node>,
}

/// What stands at a place.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum NodeKind {
    /// A step.
    Step,
    /// A sleep.
    Sleep,
    /// A wait for an event.
    Wait {
        /// The names it takes.
        names: Vec<Name>,
    },
    /// A question.
    Rpc {
        /// What is asked.
        method: Name,
    },
    /// Another run.
    Child {
        /// Its id.
        run: RunId,
        /// Its workflow.
        workflow: Name,
        /// Whether nobody waits for it.
        detached: bool,
    },
    /// An event to another run.
    Send {
        /// The event.
        event: Name,
        /// The run.
        to: RunId,
    },
    /// The answer to an event whose sender waits.
    Reply,
    /// The point after which only undos marked internal run.
    NoReturn,
    /// Branches that all count.
    Join,
    /// Branches of which the first success counts.
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
        /// How many iterations began, as far as recorded.
        iterations: u64,
    },
    /// A scope of which no record says what it is.
    Scope,
}

/// How far a part of a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NodeStatus {
    /// Done.
    Completed,
    /// Ended without what it waited for.
    TimedOut,
    /// Satisfied, or passed over, without running.
    Skipped,
    /// Taken back.
    Undone,
    /// Dropped before it ended.
    Abandoned,
    /// Ended with an error.
    Failed,
    /// Rests until something comes.
    Waiting,
    /// Rests until its next attempt.
    Retrying,
    /// Under way.
    Running,
}

impl NodeStatus {
    /// Every status.
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

    /// The permanent word for it.
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

    /// Whether it will change by itself or by what comes.
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

/// The structure of the run that a journal, or its beginning, tells of.
#[must_use]
pub fn shape(entries: &[Entry]) -> Shape {
    let mut overview = Overview::new();
    let mut draft = Draft::default();
    for entry in dropped::kept(entries) {
        // What comes after the end changes nothing.
        if overview.end.is_none() {
            draft.grow(&entry.record.body);
        }
        overview.fold(entry);
    }
    Shape {
        workflow: overview.workflow.clone(),
        status: overview.status(),
        nodes: settle::nodes(&draft, &overview),
    }
}
