//! Properties that hold for any sequence of records, valid or not.

use super::*;

/// Everything but the length of the journal.
fn without_length(mut overview: Overview) -> Overview {
    overview.records = 0;
    overview
}

proptest! {
    #[test]
    fn any_sequence_of_records_can_be_folded(journal in any_journal(), numbers in any::<[u64; 4]>()) {
        // Numbers are never out of order, but the fold must not panic if they are.
        let mut entries = journal.0;
        for (entry, number) in entries.iter_mut().rev().zip(numbers) {
            entry.number = RecordNumber(number);
        }
        let overview = Overview::of(&entries);
        let _ = overview.status();
    }

    #[test]
    fn folding_in_parts_equals_folding_at_once(journal in any_journal(), cut in any::<prop::sample::Index>()) {
        let (before, after) = journal.0.split_at(cut.index(journal.0.len() + 1));
        let mut overview = Overview::of(before);
        for entry in after {
            overview.fold(entry);
        }
        prop_assert_eq!(overview, journal.overview());
    }

    #[test]
    fn after_the_end_nothing_changes(journal in any_journal(), more in proptest::collection::vec(any_body(), 0..10)) {
        let ended = journal.with(completed());
        let before = ended.overview();
        prop_assert!(before.status().is_terminal());
        prop_assert!(before.waits.is_empty() && before.sleeps.is_empty() && before.rpcs.is_empty());
        let after = ended.with_all(more).overview();
        prop_assert_eq!(without_length(before), without_length(after));
    }

    #[test]
    fn a_step_with_an_outcome_keeps_it(journal in any_open_journal(), later in any_body()) {
        let before = journal.overview();
        let after = journal.with(later.clone()).overview();
        for step in &before.steps {
            let is_settled = matches!(step.status, StepStatus::Completed | StepStatus::Skipped);
            let (true, Some(now)) = (is_settled, after.step(&step.location)) else { continue };
            prop_assert_eq!(&now.result, &step.result);
            prop_assert_eq!(now.completed_at, step.completed_at);
            let is_undone = matches!(&later, Body::UndoCompleted(_)) && now.status == StepStatus::Undone;
            prop_assert!(now.status == step.status || is_undone);
        }
    }

    #[test]
    fn of_two_records_that_end_a_step_the_first_wins(first in 0..7usize, second in 0..7usize) {
        let before = Journal::created().with(started("a:0", 1)).with(settling(first));
        let after = before.clone().with(settling(second));
        prop_assert_eq!(before.overview().steps, after.overview().steps);
    }

    #[test]
    fn of_two_records_that_end_a_run_the_first_wins(first in 0..8usize, second in 0..8usize) {
        let before = Journal::created().with(ending(first));
        let after = before.clone().with(ending(second)).overview();
        let before = before.overview();
        // Only the end of a run replaces what is about to end it.
        prop_assert_eq!(&before.ending, &after.ending);
        prop_assert!(before.end.is_none() || before.end == after.end);
    }

    #[test]
    fn every_step_is_found_by_its_location_and_counted(journal in any_journal()) {
        let overview = journal.overview();
        for step in &overview.steps {
            prop_assert_eq!(overview.step(&step.location), Some(step));
        }
        let count = |status| overview.steps.iter().filter(|step| step.status == status).count();
        prop_assert_eq!(overview.in_flight, count(StepStatus::Running));
        prop_assert_eq!(overview.in_backoff, count(StepStatus::Retrying));
    }

    #[test]
    fn at_most_one_operation_is_open_at_a_location(journal in any_journal()) {
        let overview = journal.overview();
        let mut open: Vec<_> = overview.waits.iter().map(|wait| &wait.location)
            .chain(overview.sleeps.iter().map(|sleep| &sleep.location))
            .chain(overview.rpcs.iter().map(|rpc| &rpc.location))
            .chain(overview.children.iter().map(|child| &child.location))
            .chain(overview.steps.iter().map(|step| &step.location))
            .collect();
        let all = open.len();
        open.sort();
        open.dedup();
        prop_assert_eq!(open.len(), all);
    }

    // B69
    #[test]
    fn events_stay_in_order_until_a_wait_takes_them(journal in any_journal()) {
        let overview = journal.overview();
        let numbers: Vec<_> = overview.events.iter().map(|event| event.number).collect();
        prop_assert!(numbers.is_sorted());
        for entry in &journal.0 {
            if let Body::WaitCompleted(taken) = &entry.record.body {
                let is_left = |number| numbers.contains(number) && *number < entry.number;
                prop_assert!(overview.end.is_some() || !taken.events.iter().any(is_left));
            }
        }
    }

    #[test]
    fn no_sensitive_result_is_shown(journal in any_journal()) {
        let overview = journal.overview();
        prop_assert!(overview.steps.iter().all(|step| !step.sensitive || step.result.is_none()));
    }

    #[test]
    fn readers_agree_whether_or_not_they_saw_dropped_iterations(rounds in 1u64..6, kept in 0u64..3) {
        let (journal, dropped) = compacted_loop(rounds, kept);
        let is_dropped = |entry: &Entry| {
            dropped.iter().any(|(first, last)| (*first..=*last).contains(&entry.number.0))
        };
        let mut later = journal.clone();
        later.0.retain(|entry| !is_dropped(entry));
        prop_assert_eq!(journal.overview(), later.overview());
    }
}

/// Returns the records that give a step its outcome.
fn settling(which: usize) -> Body {
    let location = at("a:0");
    match which {
        0 => completed_step("a:0", 1, "1").into(),
        1 => failed_step("a:0", 1, FailureOutcome::Exhausted).into(),
        2 => failed_step("a:0", 1, FailureOutcome::TimedOut).into(),
        3 => StepAbandoned {
            so_far: None,
            location,
        }
        .into(),
        4 => StepSkipped {
            so_far: None,
            location,
            result: json("4"),
            by: None,
        }
        .into(),
        5 => StepEdited {
            so_far: None,
            location,
            result: json("5"),
            by: None,
        }
        .into(),
        _ => ForcedFailure {
            so_far: None,
            location: Some(location),
            error: failure("forced"),
            by: None,
        }
        .into(),
    }
}

/// Returns the records that end a run, or make sure that it will.
fn ending(which: usize) -> Body {
    match which {
        0 => cancel("no").into(),
        1 => DeadlinePassed { deadline: time(9) }.into(),
        2 => ForcedFailure {
            so_far: None,
            location: None,
            error: failure("forced"),
            by: None,
        }
        .into(),
        3 => completed().into(),
        4 => terminated(&[]).into(),
        5 => Failed {
            error: failure("f"),
            rolled_back: false,
            abandoned: Vec::new(),
            caused_by: Vec::new(),
        }
        .into(),
        6 => RollbackFailed {
            error: failure("f"),
            rollback_error: failure("r"),
            abandoned: Vec::new(),
        }
        .into(),
        _ => Cancelled {
            reason: None,
            rolled_back: false,
            abandoned: Vec::new(),
        }
        .into(),
    }
}

/// A loop whose iterations take an event, sleep and run a step, with all but the last `kept`
/// dropped.
fn compacted_loop(rounds: u64, kept: u64) -> (Journal, Vec<(u64, u64)>) {
    let mut journal = Journal::created().with(started("before:0", 1));
    let (mut ranges, mut dropped) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let first = journal.0.len() as u64;
        let location = |operation: &str| format!("each/~{round}/{operation}:0");
        journal = journal
            .with(event("go"))
            .with(waiting(&location("go"), &["go"]))
            .with(took(&location("go"), &[first]))
            .with(started(&location("work"), 1))
            .with(completed_step(&location("work"), 1, "1"))
            .with(sleeping(&location("rest")))
            .with(fired(
                TimerPurpose::Sleep,
                Some(&location("rest")),
                time(200),
            ));
        ranges.push((first, first + 6));
        let old = ranges.len().saturating_sub(kept as usize);
        let now: Vec<_> = ranges.drain(..old).collect();
        journal = journal.with(advanced("each:0", round + 1, false, &now));
        dropped.extend(now);
    }
    (journal.with(started("after:0", 1)), dropped)
}
