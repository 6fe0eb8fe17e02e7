//! Events in a copy: no accepted event is lost, and none is delivered twice.
//!
//! An event is accepted once, so its sender does not repeat it, however the run continues. The copy
//! therefore also keeps events that arrived after the records that it keeps. An event that the run
//! sent to itself follows its `sent` record, or the iteration whose records a loop has dropped: the
//! copy keeps both, or neither, because the code then sends it again.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use everstep_model::record::{Event, Sent};
use everstep_model::{Body, Entry, Generation, Link, Location, RecordNumber, RunId};

use super::compacted;
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

/// Where an event of a run to itself was sent.
enum Origin {
    /// The number of its `sent` record.
    Sent(RecordNumber),
    /// Its location; a loop has dropped the record.
    Dropped(Location),
}

/// Adds later events to the records of a copy, and removes events that its code sends again. The last record of each loop
/// names the iterations that the copy does not repeat.
pub(super) fn keep(
    journal: &[Entry],
    later: LaterEvents,
    source: &(RunId, Generation),
    kept: &mut Vec<Kept>,
) {
    let numbers: BTreeSet<RecordNumber> = kept.iter().filter_map(|kept| kept.number).collect();
    let own = sent_to_itself(journal, source);
    let taken = match later {
        LaterEvents::NotTaken => taken(journal),
        LaterEvents::None | LaterEvents::All => BTreeSet::new(),
    };
    for entry in events(journal).map(|(entry, _)| entry) {
        let number = Some(entry.number);
        let is_kept = numbers.contains(&entry.number);
        let is_wanted = match own.get(&entry.number) {
            Some(Origin::Sent(sent)) => is_kept || numbers.contains(sent),
            Some(Origin::Dropped(location)) => compacted::is_gone(location, kept),
            None => is_kept || !taken.contains(&entry.number),
        };
        let index = kept.partition_point(|kept| kept.number < number);
        match (is_kept, is_wanted) {
            (true, false) => drop(kept.remove(index)),
            (false, true) if later != LaterEvents::None => kept.insert(index, Kept::of(entry)),
            _ => {}
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

/// Returns the events that the run sent to itself.
///
/// The dedup id of an event names its sender exactly. A copied event has none, so it belongs to the
/// latest equal record that is left: a run receives its own events in the order in which it sent
/// them, and loops drop the oldest records.
fn sent_to_itself(
    journal: &[Entry],
    (run, generation): &(RunId, Generation),
) -> BTreeMap<RecordNumber, Origin> {
    let identity = match journal.first().map(|first| &first.record.body) {
        Some(Body::Created(created)) => Some(created.identity()),
        _ => None,
    };
    let id_of = |location: &Location| {
        let link = Link {
            run: run.clone(),
            generation: *generation,
            location: location.clone(),
            identity,
        };
        link.sent_dedup_id(run)
    };
    let mut sent: Vec<(RecordNumber, &Sent, String)> = Vec::new();
    for entry in journal {
        if let Body::Sent(record) = &entry.record.body
            && record.to == *run
        {
            sent.push((entry.number, record, id_of(&record.location)));
        }
    }
    let mut own = BTreeMap::new();
    for (entry, event) in events(journal).rev() {
        if event.by.as_ref() != Some(&run.as_author()) {
            continue;
        }
        let belongs = |(number, sent, id): &(RecordNumber, &Sent, String)| match &event.dedup_id {
            Some(known) => known == id,
            None => {
                *number < entry.number && sent.event == event.name && sent.payload == event.payload
            }
        };
        let origin = match (sent.iter().rposition(belongs), &event.dedup_id) {
            (Some(index), _) => Some(Origin::Sent(sent.remove(index).0)),
            (None, Some(id)) => Link::sent_location(id)
                .filter(|location| id_of(location) == *id)
                .map(Origin::Dropped),
            (None, None) => None,
        };
        own.extend(origin.map(|origin| (entry.number, origin)));
    }
    own
}
