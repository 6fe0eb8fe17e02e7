//! Filters records that compaction dropped, for readers that still have them.

use everstep_model::{Body, Entry};

/// The entries that no later record drops.
pub(super) fn kept(entries: &[Entry]) -> impl Iterator<Item = &Entry> {
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
