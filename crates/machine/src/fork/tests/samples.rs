//! Journals and plans for the tests of this folder.

use everstep_model::record::{
    BranchesKind, BranchesStarted, Failed, FailureOutcome, ForkReason, Note, StepStarted,
};
use everstep_model::{Generation, Record, RunId, Seed, StepOptions};

use super::super::{CannotFork, ForkExtent, ForkPlan, Forked, fork};
use everstep_samples::*;

pub(in crate::fork) fn id(text: &str) -> RunId {
    RunId::new(text).unwrap()
}

pub(in crate::fork) fn plan(extent: ForkExtent) -> ForkPlan {
    ForkPlan {
        source: (id("r"), Generation::FIRST),
        began: time(0),
        target: (id("r"), Generation(2)),
        extent,
        by: Some("alice".to_owned()),
        now: time(1_000),
        mark: Seed(5),
    }
}

pub(in crate::fork) fn before(at_place: &str) -> ForkExtent {
    ForkExtent::Before {
        at: at(at_place),
        edited: None,
    }
}

pub(in crate::fork) fn forked(journal: &Journal, extent: ForkExtent) -> Result<Forked, CannotFork> {
    fork(&journal.0, ForkReason::Restart, &plan(extent))
}

/// Type names and locations, to compare journals.
pub(in crate::fork) fn lines(records: &[Record]) -> Vec<String> {
    let line = |record: &Record| {
        let body = &record.body;
        match body.location() {
            Some(location) => format!("{} {location}", body.type_name()),
            None => body.type_name().to_owned(),
        }
    };
    records.iter().map(line).collect()
}

pub(in crate::fork) fn copied(journal: &Journal, extent: ForkExtent) -> Vec<String> {
    lines(&forked(journal, extent).unwrap().records)
}

pub(in crate::fork) fn failed(causes: &[&str]) -> Failed {
    Failed {
        error: failure("gateway down"),
        rolled_back: false,
        abandoned: Vec::new(),
        caused_by: causes.iter().map(|location| at(location)).collect(),
    }
}

pub(in crate::fork) fn branches(owner: &str, names: &[&str]) -> BranchesStarted {
    BranchesStarted {
        location: at(owner),
        kind: BranchesKind::Join,
        branches: names.iter().map(|text| name(text)).collect(),
    }
}

pub(in crate::fork) fn note(location: &str) -> Note {
    Note {
        location: at(location),
        text: "oops".to_owned(),
    }
}

/// The first attempt of a step that is the point of no return.
pub(in crate::fork) fn no_return(location: &str) -> StepStarted {
    StepStarted {
        options: Some(StepOptions {
            no_return: true,
            ..StepOptions::default()
        }),
        ..started(location, 1)
    }
}

/// `a` completed, `b` failed for good after one retry.
pub(in crate::fork) fn failed_in_b() -> Journal {
    Journal::created()
        .with(started("a:0", 1))
        .with(completed_step("a:0", 1, "1"))
        .with(started("b:0", 1))
        .with(failed_step("b:0", 1, FailureOutcome::Retrying))
        .with(fired(
            everstep_model::record::TimerPurpose::Retry,
            Some("b:0"),
            time(100),
        ))
        .with(started("b:0", 2))
        .with(failed_step("b:0", 2, FailureOutcome::Exhausted))
        .with(failed(&["b:0"]))
}
