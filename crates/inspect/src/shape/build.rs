//! Builds the shape of a run from its journal.

use everstep_model::{Body, Entry};

use super::draft::Draft;
use super::node::Shape;
use super::status;
use crate::overview::Overview;

/// Returns the shape of the run with this journal, or with a prefix of it.
#[must_use]
pub fn shape(entries: &[Entry]) -> Shape {
    let mut overview = Overview::new();
    let mut draft = Draft::default();
    for entry in kept(entries) {
        // Records after the end change nothing.
        if overview.end.is_none() {
            draft.add(&entry.record.body);
        }
        overview.fold(entry);
    }
    Shape {
        workflow: overview.workflow.clone(),
        status: overview.status(),
        nodes: status::nodes(&draft, &overview),
        truncated_at: None,
    }
}

/// Returns the entries that no later record drops. Readers may still have those that compaction
/// dropped.
fn kept(entries: &[Entry]) -> impl Iterator<Item = &Entry> {
    let mut is_dropped = vec![false; entries.len()];
    for (position, entry) in entries.iter().enumerate() {
        let Body::LoopAdvanced(advanced) = &entry.record.body else {
            continue;
        };
        let before = entries.get(..position).unwrap_or_default();
        for range in &advanced.dropped {
            // Usually they are gone already, so look them up instead of comparing every record.
            let first = before.partition_point(|entry| entry.number < range.first);
            let end = before.partition_point(|entry| entry.number <= range.last);
            if let Some(gone) = is_dropped.get_mut(first..end) {
                gone.fill(true);
            }
        }
    }
    let entries = entries.iter().zip(is_dropped);
    entries.filter_map(|(entry, is_dropped)| (!is_dropped).then_some(entry))
}
