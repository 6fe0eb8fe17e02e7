//! The run that the throughput workloads execute: ten steps, and the records that each of them
//! writes.

use everstep::Payload;
use everstep::journal::record::{StepCompleted, StepStarted};
use everstep::journal::{Body, Location, Record};
use everstep_model::StepOptions;
use everstep_store::{Clock, SystemClock};

use crate::payload::RandomTexts;

pub(crate) const STEPS_PER_RUN: u64 = 10;

pub(crate) const STEP_NAMES: [&str; STEPS_PER_RUN as usize] = [
    "step-0", "step-1", "step-2", "step-3", "step-4", "step-5", "step-6", "step-7", "step-8",
    "step-9",
];

/// Returns the records of a step that succeeds on its first attempt, as an executor writes them in
/// one commit.
pub(crate) fn step_records(location: Location, texts: &RandomTexts) -> anyhow::Result<[Record; 2]> {
    let time = SystemClock.now();
    let started = StepStarted {
        location: location.clone(),
        attempt: 1,
        options: Some(StepOptions::default()),
    };
    let completed = StepCompleted {
        location,
        attempt: 1,
        started_at: time,
        result: Payload::from_value(&texts.next())?,
        undo: None,
        sensitive: false,
        early: None,
        no_return: false,
    };
    Ok([Body::from(started), Body::from(completed)].map(|body| Record { time, body }))
}

#[cfg(test)]
mod tests;
