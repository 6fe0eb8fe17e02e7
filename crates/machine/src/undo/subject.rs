//! What an undo is for. A location does not identify a child, because a later pass of the function
//! may start another child where an earlier pass abandoned its own.

use everstep_model::{Body, Location, RunId};

/// A step, or one of the children that passes of the function started at a location.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Subject {
    /// The operation.
    pub location: Location,
    /// The child's run; `None` for a step.
    pub child: Option<RunId>,
}

impl Subject {
    /// Returns the step at a location.
    #[must_use]
    pub fn step(location: &Location) -> Self {
        Self {
            location: location.clone(),
            child: None,
        }
    }

    /// Returns one of the children at a location.
    #[must_use]
    pub fn child(location: &Location, run: &RunId) -> Self {
        Self {
            location: location.clone(),
            child: Some(run.clone()),
        }
    }

    /// Returns the subject that an undo record names; `None` for records of other kinds.
    #[must_use]
    pub fn of(body: &Body) -> Option<Self> {
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

    /// Returns the type name of the record with which such an operation begins.
    pub(crate) fn first_record(&self) -> &'static str {
        match self.child {
            None => "step_started",
            Some(_) => "child_started",
        }
    }
}
