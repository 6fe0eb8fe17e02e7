//! The next commit of an execution: records, rows to delete, and children that it no longer waits
//! for.

use everstep_model::record::ParentClose;
use everstep_model::{Body, Location, RunId};

use super::operations::Obsolete;

/// A child that the run no longer waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub struct LeftChild {
    /// The operation that started it.
    pub location: Location,
    pub run: RunId,
    pub on_close: ParentClose,
}

impl LeftChild {
    /// Returns `None` if the child simply continues.
    pub(super) fn new(location: &Location, run: &RunId, on_close: ParentClose) -> Option<Self> {
        match on_close {
            ParentClose::Abandon => None,
            ParentClose::Cancel | ParentClose::Terminate => Some(Self {
                location: location.clone(),
                run: run.clone(),
                on_close,
            }),
        }
    }
}

/// What the next commit contains.
#[derive(Debug, Default)]
pub struct Outgoing {
    records: Vec<Body>,
    /// Whether the code continues only when the records are durable.
    strict: bool,
    pub(super) obsolete: Vec<Obsolete>,
    pub(super) left: Vec<LeftChild>,
}

impl Outgoing {
    pub(super) fn push(&mut self, body: impl Into<Body>) {
        self.records.push(body.into());
    }

    pub(super) fn push_strict(&mut self, body: impl Into<Body>) {
        self.push(body);
        self.strict = true;
    }

    /// Requires everything outgoing to be durable before the code continues.
    pub(super) fn require_durable(&mut self) {
        self.strict = true;
    }

    /// Returns whether there are records to write, or records that were taken must be durable now.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.strict || !self.records.is_empty()
    }

    /// Takes the records to write, and whether they must be written now.
    pub fn take_records(&mut self) -> (impl ExactSizeIterator<Item = Body>, bool) {
        let strict = std::mem::take(&mut self.strict);
        (self.records.drain(..), strict)
    }

    /// Takes the rows that are no longer needed.
    pub fn take_obsolete(&mut self) -> Vec<Obsolete> {
        std::mem::take(&mut self.obsolete)
    }

    /// Takes the children that the run no longer waits for. They belong to the commit of the record
    /// that says so.
    pub fn take_left_children(&mut self) -> Vec<LeftChild> {
        std::mem::take(&mut self.left)
    }

    /// Puts back the rows and children of a commit that was refused.
    pub fn put_back(&mut self, obsolete: Vec<Obsolete>, mut left: Vec<LeftChild>) {
        self.obsolete.extend(obsolete);
        left.append(&mut self.left);
        self.left = left;
    }
}
