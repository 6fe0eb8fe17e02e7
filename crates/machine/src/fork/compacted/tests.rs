//! Copies of compacted journals: where they end, which iterations they list as gone, and their
//! times.

use everstep_model::record::{ForkReason, ForkedFrom, Gap, IterationRange, LoopAdvanced};
use everstep_model::{Body, Entry, Generation, Location, RecordNumber, RunId};

use super::super::tests::samples::{before, forked};
use super::{last_whole, oldest_beginning};
use everstep_samples::*;

/// A loop that continues with an iteration after all earlier ones were dropped.
fn lossy(location: &str, began: u64, iteration: u64, done: bool) -> LoopAdvanced {
    let last = iteration - u64::from(!done);
    LoopAdvanced {
        began: RecordNumber(began),
        gone: vec![IterationRange { first: 0, last }],
        ..advanced(location, iteration, done, &[])
    }
}

fn without(journal: Journal, missing: &[u64]) -> Vec<Entry> {
    let mut entries = journal.0;
    entries.retain(|entry| !missing.contains(&entry.number.0));
    entries
}

fn copy_of(journal: Journal) -> Vec<Entry> {
    let mut entries = journal.0;
    let Body::Created(created) = &mut entries[0].record.body else {
        panic!();
    };
    created.forked_from = Some(ForkedFrom {
        run: RunId::new("r").unwrap(),
        generation: Generation::FIRST,
        reason: ForkReason::Recover,
        keys_of: None,
        at: None,
        edited: None,
    });
    entries
}

/// Returns the last record of a copy that was to end before an operation.
fn last_before(journal: &[Entry], location: &str) -> String {
    let location: Location = at(location);
    let is_it = |entry: &Entry| entry.record.body.location() == Some(&location);
    let cut = journal.iter().position(is_it).unwrap();
    let last = &journal[last_whole(journal, cut) - 1].record.body;
    let location = last.location().map(ToString::to_string);
    format!("{} {}", last.type_name(), location.unwrap_or_default())
}

// B151
#[test]
fn a_loop_that_began_later_does_not_shorten_a_copy() {
    let journal = Journal::created()
        .with(started("early/~0/s:0", 1))
        .with(lossy("early:0", 1, 1, true))
        .with(started("a:0", 1))
        .with(completed_step("a:0", 1, "1"))
        .with(started("b:0", 1))
        .with(started("late/~0/s:0", 1))
        .with(lossy("late:0", 6, 1, false));
    let journal = without(journal, &[1, 6]);
    assert_eq!(last_before(&journal, "b:0"), "step_completed a:0");
}

#[test]
fn a_copy_ends_before_the_dropped_iterations_of_an_open_loop() {
    let journal = Journal::created()
        .with(started("a:0", 1))
        .with(completed_step("a:0", 1, "1"))
        .with(started("l/~0/s:0", 1))
        .with(started("b:0", 1))
        .with(lossy("l:0", 3, 1, false));
    let journal = without(journal, &[3]);
    assert_eq!(last_before(&journal, "b:0"), "step_completed a:0");
}

#[test]
fn a_copy_ends_where_a_dropped_iteration_follows_a_kept_one() {
    let journal = Journal::created()
        .with(started("l/~0/s:0", 1))
        .with(completed_step("l/~0/s:0", 1, "1"))
        .with(started("l/~1/s:0", 1))
        .with(started("a:0", 1))
        .with(started("b:0", 1))
        .with(LoopAdvanced {
            gone: vec![IterationRange { first: 1, last: 1 }],
            ..lossy("l:0", 1, 2, false)
        });
    let journal = without(journal, &[3]);
    assert_eq!(last_before(&journal, "b:0"), "step_completed l/~0/s:0");
}

// B47
#[test]
fn a_copy_of_a_copy_ends_before_a_loop_whose_gaps_are_not_visible() {
    let journal = Journal::created()
        .with(sleeping("n:0"))
        .with(started("a:0", 1))
        .with(completed_step("a:0", 1, "1"))
        .with(started("b:0", 1))
        .with(lossy("l:0", 2, 2, false));
    assert_eq!(last_before(&copy_of(journal), "b:0"), "sleeping n:0");
}

#[test]
fn iterations_dropped_after_the_cut_are_listed_as_gone() {
    let gone = vec![IterationRange { first: 0, last: 8 }];
    let mut journal = Journal::created()
        .with(started("l/~0/s:0", 1))
        .with(advanced("l:0", 5, false, &[]))
        .with(sleeping("other:0"))
        .with(LoopAdvanced {
            gone,
            ..advanced("l:0", 20, false, &[(1, 1)])
        });
    journal.0.remove(1);
    let records = forked(&journal, before("other:0")).unwrap().records;
    let Some(Body::LoopAdvanced(last)) = records.last().map(|record| &record.body) else {
        panic!("{records:?}");
    };
    assert_eq!(last.gone, [IterationRange { first: 0, last: 4 }]);
}

// B151
#[test]
fn a_loop_whose_beginning_is_gone_begins_again_with_what_is_left_of_it() {
    let journal = Journal::created()
        .with(started("l/~0/s:0", 1))
        .with(sleeping("n:0"))
        .with(lossy("l:0", 1, 1, false))
        .with(started("l/~1/s:0", 1))
        .with(advanced("l:0", 2, false, &[]));
    let journal = without(journal, &[1]);
    assert_eq!(oldest_beginning(&journal, &at("l:0")), Some(3));
    assert_eq!(oldest_beginning(&journal, &at("n:0")), None);
}

#[test]
fn a_copied_record_after_a_gap_is_not_earlier_than_the_dropped_ones() {
    let gap = Gap {
        first: RecordNumber(1),
        last: RecordNumber(2),
        time: time(500),
    };
    let mut journal = Journal::created()
        .with(started("l/~0/s:0", 1))
        .with(completed_step("l/~0/s:0", 1, "1"))
        .with(sleeping("n:0"))
        .with(LoopAdvanced {
            gaps: vec![gap],
            ..lossy("l:0", 1, 1, false)
        })
        .with(started("b:0", 1));
    journal.0.retain(|entry| !matches!(entry.number.0, 1 | 2));
    let records = forked(&journal, before("b:0")).unwrap().records;
    assert_eq!(records[1].body.type_name(), "sleeping");
    assert_eq!(records[1].time, time(500));
}
