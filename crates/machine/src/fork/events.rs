//! Events in a copy: no accepted event is lost, and none is delivered twice.
//!
//! An event is accepted once, so its sender does not repeat it, however the run continues. The copy
//! therefore also keeps events that arrived after the records that it keeps. An event that the run
//! sent to itself follows its `sent` record, or the iteration whose records a loop has dropped: the
//! copy keeps both, or neither, because the code then sends it again.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use everstep_model::record::Event;
use everstep_model::{Body, Entry, Generation, Link, Location, RecordNumber, RunId, Seed};

use super::compacted;
use super::kept::Kept;
use super::plan::ForkPlan;

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
struct Origin {
    location: Location,
    /// The number of the `sent` record. `None` if a loop has dropped it.
    sent: Option<RecordNumber>,
}

/// Adds later events to the records of a copy, and removes events that its code sends again. The
/// last record of each loop names the iterations that the copy does not repeat.
pub(super) fn keep(journal: &[Entry], later: LaterEvents, plan: &ForkPlan, kept: &mut Vec<Kept>) {
    let numbers: BTreeSet<RecordNumber> = kept.iter().filter_map(|kept| kept.number).collect();
    let own = sent_to_itself(journal, &plan.source);
    let taken = match later {
        LaterEvents::NotTaken => taken(journal),
        LaterEvents::None | LaterEvents::All => BTreeSet::new(),
    };
    for entry in events(journal).map(|(entry, _)| entry) {
        let number = Some(entry.number);
        let is_kept = numbers.contains(&entry.number);
        let is_wanted = match own.get(&entry.number) {
            Some(origin) => match origin.sent {
                Some(sent) => is_kept || numbers.contains(&sent),
                None => compacted::is_gone(&origin.location, kept),
            },
            None => is_kept || !taken.contains(&entry.number),
        };
        let index = kept.partition_point(|kept| kept.number < number);
        match (is_kept, is_wanted) {
            (true, false) => drop(kept.remove(index)),
            (false, true) if later != LaterEvents::None => kept.insert(index, Kept::of(entry)),
            _ => {}
        }
    }
    rename(kept, &own, plan);
}

/// Gives the events of the run to itself the dedup ids that they would have if the copy had sent
/// them. Other events lose theirs.
fn rename(kept: &mut [Kept], own: &BTreeMap<RecordNumber, Origin>, plan: &ForkPlan) {
    let (run, generation) = &plan.target;
    for Kept { number, record } in kept {
        if let Body::Event(event) = &mut record.body {
            let origin = number.and_then(|number| own.get(&number));
            let origin = origin.filter(|_| *run == plan.source.0);
            event.dedup_id =
                origin.map(|origin| own_id(run, *generation, &origin.location, plan.mark));
        }
    }
}

/// Returns the dedup id of an event of a run to itself.
fn own_id(run: &RunId, generation: Generation, location: &Location, identity: Seed) -> String {
    let link = Link {
        run: run.clone(),
        generation,
        location: location.clone(),
        identity: Some(identity),
    };
    link.sent_dedup_id(run)
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
fn sent_to_itself(
    journal: &[Entry],
    (run, generation): &(RunId, Generation),
) -> BTreeMap<RecordNumber, Origin> {
    let Some(Body::Created(created)) = journal.first().map(|first| &first.record.body) else {
        return BTreeMap::new();
    };
    let identity = created.identity();
    let sent = journal.iter().filter_map(|entry| match &entry.record.body {
        Body::Sent(sent) if sent.to == *run => Some((&sent.location, entry.number)),
        _ => None,
    });
    let sent: BTreeMap<&Location, RecordNumber> = sent.collect();
    let own = events(journal).filter_map(|(entry, event)| {
        let id = event.dedup_id.as_ref()?;
        let location = Link::sent_location(id)?;
        let is_own = *id == own_id(run, *generation, &location, identity);
        let sent = sent.get(&location).copied();
        is_own.then_some((entry.number, Origin { location, sent }))
    });
    own.collect()
}
