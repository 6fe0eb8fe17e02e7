//! What is done and undone: a step, or a child. A place is not enough to name a child, because a later pass of the function
//! may start another where an earlier one gave its own up.

use everstep_model::{Body, Location, RunId};

/// What an undo is of: a step, or one of the children that passes of the function started in a place.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Subject {
    pub(crate) location: Location,
    /// The run, if it is a child.
    pub(crate) child: Option<RunId>,
}

impl Subject {
    pub(crate) fn step(location: &Location) -> Self {
        Self {
            location: location.clone(),
            child: None,
        }
    }

    pub(crate) fn child(location: &Location, run: &RunId) -> Self {
        Self {
            location: location.clone(),
            child: Some(run.clone()),
        }
    }

    /// What a record about an undo is about.
    pub(crate) fn of(body: &Body) -> Option<Self> {
        let (location, run) = match body {
            Body::UndoStarted(record) => (&record.location, &record.run),
            Body::UndoCompleted(record) => (&record.location, &record.run),
            Body::UndoFailed(record) => (&record.location, &record.run),
            Body::UndoSkipped(record) => (&record.location, &record.run),
            _ => return None,
        };
        Some(Self {
            location: location.clone(),
            child: run.clone(),
        })
    }

    pub(crate) fn word(&self) -> &'static str {
        match self.child {
            None => "step",
            Some(_) => "child",
        }
    }

    /// The type name of the record that it began with.
    pub(crate) fn beginning(&self) -> &'static str {
        match self.child {
            None => "step_started",
            Some(_) => "child_started",
        }
    }
}
