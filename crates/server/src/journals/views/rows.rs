//! The views `state` and `client`: rows of the run, what it waits for, its open rpcs, and the
//! application's own rows. The state view also has rows of steps and of unconsumed events.

use bytes::Bytes;
use everstep_engine::streams::JournalView;
use everstep_inspect::Overview;
use everstep_model::record::{RowOperation, StateChanged};
use everstep_model::{Body, Entry};
use everstep_store::RunRow;
use serde::Serialize;
use serde_json::value::RawValue;

use super::audience::Audience;
use super::change::{Operation, changed, deleted};
use super::event_rows::events;
use super::open_rows::OpenRows;
use super::step_rows::steps;
use super::workflow_row::WorkflowRow;

/// The number of operations that a reader remembers before it forgets those that are over.
const OPERATIONS_MIN: usize = 256;

/// The state of a reader. Its size follows what is open in the run, not the length of the journal.
pub(super) struct Rows {
    audience: Audience,
    overview: Overview,
    /// The number of operations from which on ended ones are forgotten.
    operations_max: usize,
    workflow: WorkflowRow,
    open: OpenRows,
}

impl Rows {
    pub(super) fn new(audience: Audience, run: RunRow) -> Self {
        Self {
            audience,
            overview: Overview::new(),
            operations_max: OPERATIONS_MIN,
            workflow: WorkflowRow::new(run),
            open: OpenRows::default(),
        }
    }
}

impl JournalView for Rows {
    fn fold(&mut self, entry: &Entry) -> Vec<Bytes> {
        self.overview.fold(entry);
        let Self {
            audience, overview, ..
        } = self;
        let mut rows = Vec::new();
        if !audience.is_client() {
            rows.extend(steps(entry));
            rows.extend(events(entry));
        }
        rows.extend(self.open.changes(entry, overview, audience));
        if let Body::StateChanged(change) = &entry.record.body {
            rows.extend(application(entry, change));
        }
        // Last, so that a client that sees the end of the run has seen all other rows.
        rows.extend(self.workflow.change(entry, overview, audience));
        if overview.operations() > self.operations_max {
            overview.forget_ended_operations();
            self.operations_max = OPERATIONS_MIN.max(2 * overview.operations());
        }
        rows
    }

    fn depends_on_earlier_records(&self) -> bool {
        true
    }
}

/// Wraps an application value that is not an object, because consumers accept objects only.
#[derive(Serialize)]
struct Wrapped<'a> {
    value: &'a RawValue,
}

fn application(entry: &Entry, change: &StateChanged) -> Option<Bytes> {
    let kind = change.collection.as_str();
    if change.operation == RowOperation::Delete {
        return deleted(entry, kind, &change.key);
    }
    let (key, update) = (&change.key, Operation::Update);
    let value: &RawValue = serde_json::from_slice(change.value.as_bytes()).ok()?;
    match value.get().starts_with('{') {
        true => changed(entry, kind, key, update, value),
        false => changed(entry, kind, key, update, Wrapped { value }),
    }
}
