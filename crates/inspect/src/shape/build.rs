//! Builds the shape of a run from its journal.

use everstep_model::Entry;

use super::draft::Draft;
use super::node::Shape;
use super::{dropped, settle};
use crate::overview::Overview;

/// The shape of the run with this journal, or with a prefix of it.
#[must_use]
pub fn shape(entries: &[Entry]) -> Shape {
    let mut overview = Overview::new();
    let mut draft = Draft::default();
    for entry in dropped::kept(entries) {
        // Records after the end change nothing.
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
