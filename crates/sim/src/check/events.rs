//! Invariants 14, 15 and 16: an acknowledged event is in the journal once, and is consumed once or
//! stays visible, in the order in which it was sent.

use std::collections::{BTreeMap, BTreeSet};

use everstep_model::{Body, Name, RecordNumber};

use crate::observed::{Journals, Ledger, SendOutcome, Stream, Violation};
use crate::workload::COLLECTOR;

/// Within one journal, events are consumed once, after they arrived, and in the order of their
/// arrival.
pub(super) fn check(stream: &Stream) -> Vec<Violation> {
    let mut arrived: BTreeMap<RecordNumber, &Name> = BTreeMap::new();
    let mut last: BTreeMap<&Name, RecordNumber> = BTreeMap::new();
    let mut taken_before: BTreeSet<RecordNumber> = BTreeSet::new();
    let mut found = Vec::new();
    for entry in &stream.entries {
        match &entry.record.body {
            Body::Event(event) => drop(arrived.insert(entry.number, &event.name)),
            Body::WaitCompleted(done) => {
                for taken in &done.events {
                    let Some(name) = arrived.get(taken) else {
                        found.push(stream.violation(
                            14,
                            format!("record {} was taken and is not an event", taken.0),
                        ));
                        continue;
                    };
                    if !taken_before.insert(*taken) {
                        found.push(
                            stream.violation(14, format!("event {} was taken twice", taken.0)),
                        );
                        continue;
                    }
                    let before = last.insert(name, *taken);
                    if before.is_some_and(|before| before >= *taken) {
                        found.push(stream.violation(
                            15,
                            format!("event {} was taken after a later one", taken.0),
                        ));
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// Whether an event ends the collector.
fn is_enough(body: &Body) -> bool {
    matches!(body, Body::Event(event) if event.payload.as_str() == "null")
}

/// Returns the tokens of the events that were sent to a journal, with their record numbers.
fn tokens(stream: &Stream) -> impl Iterator<Item = (u64, RecordNumber)> {
    let own = stream.entries.iter().skip(stream.copied);
    own.filter_map(|entry| match &entry.record.body {
        Body::Event(event) => {
            let token: Option<Option<u64>> = event.payload.decode().ok();
            Some((token.flatten()?, entry.number))
        }
        _ => None,
    })
}

/// Compares the acknowledgements of clients with the journals and with the result of the collector.
pub(super) fn check_sent(journals: &Journals, ledger: &Ledger) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut found_at: BTreeMap<u64, Vec<(u64, RecordNumber)>> = BTreeMap::new();
    for stream in journals.streams() {
        for (token, number) in tokens(stream) {
            found_at
                .entry(token)
                .or_default()
                .push((stream.number.0, number));
        }
    }
    let mut last: BTreeMap<(usize, u64), RecordNumber> = BTreeMap::new();
    for sent in &ledger.sends {
        let known = found_at
            .get(&sent.token)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let mut report = |invariant, what: &str| {
            let what = format!("event {} to {}: {what}", sent.token, sent.run);
            found.push(Violation::of(invariant, what));
        };
        if known.len() > 1 {
            report(14, "it is in a journal twice");
        }
        let SendOutcome::Acked(at) = sent.outcome else {
            continue;
        };
        let Some((stream, number)) = known.first() else {
            report(16, "it was acknowledged and is in no journal");
            continue;
        };
        if number.0 != at {
            report(14, "it has another record number than in the answer");
        }
        let before = last.insert((sent.client, *stream), *number);
        if sent.dedup.is_none() && before.is_some_and(|before| before >= *number) {
            report(15, "it precedes an event that was sent earlier");
        }
    }
    found.extend(check_collected(journals));
    found
}

/// Checks that the collector returns every item that it received, once and in order. Items of other
/// runs appear as often as in the journals of those runs.
fn check_collected(journals: &Journals) -> Vec<Violation> {
    let mut found = Vec::new();
    let Some(collector) = journals.generations(COLLECTOR).last() else {
        return found;
    };
    // Later items stay visible and unconsumed.
    let mut records = collector.entries.iter();
    let enough = records.find(|entry| is_enough(&entry.record.body));
    let is_before = |number| enough.is_none_or(|enough| number < enough.number);
    let received = tokens(collector).filter(|(_, number)| is_before(*number));
    let received: Vec<u64> = received.map(|(token, _)| token).collect();
    if let Some(Body::Completed(end)) = collector.end() {
        let returned: Option<Vec<u64>> = end.result.decode().ok();
        if returned.as_ref() != Some(&received) {
            let what = format!("the collector received {received:?} and returned {returned:?}");
            found.push(Violation::of(14, what));
        }
    }
    let mut sent: BTreeMap<u64, usize> = BTreeMap::new();
    for stream in journals.streams() {
        for entry in stream.entries.iter().skip(stream.copied) {
            if let Body::Sent(message) = &entry.record.body {
                let token: Option<Option<u64>> = message.payload.decode().ok();
                let token = token.flatten().unwrap_or_default();
                *sent.entry(token).or_default() += 1;
            }
        }
    }
    for (token, times) in sent {
        let arrived = received
            .iter()
            .filter(|received| **received == token)
            .count();
        if arrived != times {
            let what = format!("a run sent {token} {times} times, and it arrived {arrived} times");
            found.push(Violation::of(14, what));
        }
    }
    let mut known = BTreeSet::new();
    found.retain(|violation| known.insert(violation.what.clone()));
    found
}

#[cfg(test)]
mod tests {
    use everstep_model::record::{Completed, Event};
    use everstep_model::{Payload, Record};
    use everstep_store_testkit::sample::{event, name, wait_completed};

    use super::*;
    use crate::observed::SendTry;
    use crate::observed::samples::{FINE, broken, record, stream};

    fn item(token: u64) -> Record {
        record(Event {
            name: name("item"),
            payload: Payload::from_value(&token).unwrap(),
            dedup_id: None,
            reply_to: None,
            by: None,
        })
    }

    #[test]
    fn an_event_taken_twice_or_out_of_order_is_found() {
        let taken = |takes: &[&[u64]]| {
            let waits = takes.iter().map(|events| wait_completed(events));
            let records = [event("e"), event("e")].into_iter().chain(waits);
            broken(&check(&stream("a", records.collect())))
        };
        assert_eq!(taken(&[&[1], &[2]]), FINE);
        assert_eq!(taken(&[&[1], &[1]]), [14]);
        assert_eq!(taken(&[&[2], &[1]]), [15]);
        assert_eq!(taken(&[&[0]]), [14]);
    }

    #[test]
    fn an_acknowledged_event_that_is_missing_or_repeated_is_found() {
        let found = |records: Vec<Record>| {
            let ledger = Ledger {
                sends: vec![SendTry {
                    run: "a".to_owned(),
                    token: 7,
                    dedup: None,
                    client: 0,
                    outcome: SendOutcome::Acked(1),
                }],
                ..Ledger::default()
            };
            broken(&check_sent(&Journals::of([stream("a", records)]), &ledger))
        };
        assert_eq!(found(vec![item(7)]), FINE);
        assert_eq!(found(vec![item(8)]), [16]);
        assert_eq!(found(vec![item(7), item(7)]), [14]);
    }

    #[test]
    fn a_collector_that_forgets_or_repeats_is_found() {
        let found = |returned: &[u64]| {
            let end = record(Completed {
                result: Payload::from_value(returned).unwrap(),
                abandoned: Vec::new(),
            });
            let collector = stream(COLLECTOR, vec![item(7), item(8), end]);
            broken(&check_sent(&Journals::of([collector]), &Ledger::default()))
        };
        assert_eq!(found(&[7, 8]), FINE);
        assert_eq!(found(&[7]), [14]);
        assert_eq!(found(&[7, 8, 8]), [14]);
    }
}
