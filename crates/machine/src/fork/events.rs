//! Events in a copy: no accepted event is lost, and none is delivered twice.
//!
//! An event is accepted once, so its sender does not repeat it, however the run continues. The copy
//! therefore also keeps events that arrived after the records that it keeps. An event that the run
//! sent to itself follows its `sent` record: the copy keeps both, or neither, because the code then
//! sends it again.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use everstep_model::record::{Event, Sent};
use everstep_model::{Body, Entry, Generation, Link, RecordNumber, RunId};

use super::kept::Kept;

/// Which events a copy keeps that arrived after its last operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LaterEvents {
    /// No later events; they stay with the original.
    None,
    /// Those that no wait has taken. The operations that took the others are repeated, with new
    /// events.
    NotTaken,
    /// All later events: the waits that took them are removed or repeated.
    All,
}

/// Adds later events to the records of a copy.
pub(super) fn keep(
    journal: &[Entry],
    later: LaterEvents,
    (run, generation): &(RunId, Generation),
    kept: &mut Vec<Kept>,
) {
    if later == LaterEvents::None {
        return;
    }
    let numbers: BTreeSet<RecordNumber> = kept.iter().filter_map(|kept| kept.number).collect();
    let own = sent_to_itself(journal, run, *generation);
    let taken = match later {
        LaterEvents::NotTaken => taken(journal),
        LaterEvents::None | LaterEvents::All => BTreeSet::new(),
    };
    for entry in events(journal).map(|(entry, _)| entry) {
        let is_wanted = match own.get(&entry.number) {
            Some(sent) => numbers.contains(sent),
            None => !taken.contains(&entry.number),
        };
        if is_wanted && !numbers.contains(&entry.number) {
            let index = kept.partition_point(|kept| kept.number < Some(entry.number));
            kept.insert(index, Kept::of(entry));
        }
    }
}

fn events(journal: &[Entry]) -> impl DoubleEndedIterator<Item = (&Entry, &Event)> {
    journal.iter().filter_map(|entry| match &entry.record.body {
        Body::Event(event) => Some((entry, event)),
        _ => None,
    })
}

/// Returns the events that waits took.
fn taken(journal: &[Entry]) -> BTreeSet<RecordNumber> {
    let waits = journal.iter().filter_map(|entry| match &entry.record.body {
        Body::WaitCompleted(wait) => Some(&wait.events),
        _ => None,
    });
    waits.flatten().copied().collect()
}

/// Returns the events that the run sent to itself, each with the number of its `sent` record.
///
/// The dedup id of an event names its sender exactly. A copied event has none, so it belongs to the
/// latest equal record that is left: a run receives its own events in the order in which it sent
/// them, and loops drop the oldest records.
fn sent_to_itself(
    journal: &[Entry],
    run: &RunId,
    generation: Generation,
) -> BTreeMap<RecordNumber, RecordNumber> {
    let identity = match journal.first().map(|first| &first.record.body) {
        Some(Body::Created(created)) => Some(created.identity()),
        _ => None,
    };
    let mut sent: Vec<(RecordNumber, &Sent, String)> = Vec::new();
    for entry in journal {
        if let Body::Sent(record) = &entry.record.body
            && record.to == *run
        {
            let link = Link {
                run: run.clone(),
                generation,
                location: record.location.clone(),
                identity,
            };
            sent.push((entry.number, record, link.sent_dedup_id()));
        }
    }
    let mut own = BTreeMap::new();
    for (entry, event) in events(journal).rev() {
        if sent.is_empty() {
            break;
        }
        let belongs = |(number, sent, id): &(RecordNumber, &Sent, String)| match &event.dedup_id {
            Some(known) => known == id,
            None => {
                *number < entry.number && sent.event == event.name && sent.payload == event.payload
            }
        };
        let is_from_a_run = event.by.as_ref() == Some(&run.as_author());
        if is_from_a_run && let Some(index) = sent.iter().rposition(belongs) {
            own.insert(entry.number, sent.remove(index).0);
        }
    }
    own
}
