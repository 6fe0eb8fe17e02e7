//! Records that compaction dropped, in the hands of a reader who still has them.

use everstep_model::{Body, Entry};

/// The entries that no later record says were dropped.
pub(super) fn kept(entries: &[Entry]) -> impl Iterator<Item = &Entry> {
    let mut is_dropped = vec![false; entries.len()];
    for (position, entry) in entries.iter().enumerate() {
        let Body::LoopAdvanced(advanced) = &entry.record.body else {
            continue;
        };
        let before = entries.get(..position).unwrap_or_default();
        for range in &advanced.dropped {
            // Mostly they are gone, so they are looked up rather than compared with every record.
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
