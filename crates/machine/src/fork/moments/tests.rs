//! Moments of a copy: results and iterations that took effect before they were durable.

use everstep_model::record::{LoopAdvanced, StepCompleted, TookEffect};
use everstep_model::{Body, RecordNumber};

use super::super::kept::{Kept, Numbers};
use super::Moments;
use crate::moment::Moment;
use everstep_samples::*;

fn iteration(folded: u64, moment: u32) -> LoopAdvanced {
    LoopAdvanced {
        folded: RecordNumber(folded),
        moment,
        ..advanced("l:0", 9, false, &[])
    }
}

fn early(folded: u64, moment: u32) -> StepCompleted {
    let effect = TookEffect {
        folded: RecordNumber(folded),
        now: time(0),
        moment,
    };
    StepCompleted {
        early: Some(Box::new(effect)),
        ..completed_step("s:0", 1, "1")
    }
}

/// Returns the moments of a copy that lacks records, each as position and number.
fn copied(journal: Journal, missing: &[u64]) -> Vec<(u64, u32)> {
    let entries = journal.0.iter();
    let entries = entries.filter(|entry| !missing.contains(&entry.number.0));
    let mut kept: Vec<Kept> = entries.map(Kept::of).collect();
    let moments = Moments::of(&kept, &Numbers::of(&kept));
    let moment = |kept: &mut Kept| {
        let body: &mut Body = &mut kept.record.body;
        moments.keep(body);
        Moment::before(body).map(|new| (new.folded.0, new.number))
    };
    kept.iter_mut().filter_map(moment).collect()
}

fn four_sleeps() -> Journal {
    let names = ["a:0", "b:0", "c:0", "d:0"];
    let begin = Journal::created();
    names
        .iter()
        .fold(begin, |journal, name| journal.with(sleeping(name)))
}

#[test]
fn a_moment_right_after_a_copied_record_keeps_its_position() {
    let journal = four_sleeps().with(iteration(4, 0)).with(early(5, 0));
    assert_eq!(copied(journal, &[2]), [(3, 0), (4, 0)]);
}

#[test]
fn moments_between_records_that_are_not_copied_keep_their_order() {
    let journal = four_sleeps()
        .with(iteration(2, 0))
        .with(iteration(4, 0))
        .with(early(3, 0))
        .with(iteration(3, 0));
    assert_eq!(copied(journal, &[2, 3]), [(2, 0), (2, 2), (2, 1), (2, 1)]);
}

#[test]
fn moments_of_a_copy_keep_their_order_in_its_own_copy() {
    let journal = four_sleeps()
        .with(iteration(3, 1))
        .with(iteration(3, 2))
        .with(iteration(4, 1));
    assert_eq!(copied(journal, &[3]), [(3, 1), (3, 2), (3, 3)]);
}
