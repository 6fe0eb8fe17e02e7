//! The run that the throughput workloads execute: ten steps, and the records that each of them
//! writes.

use everstep::Payload;
use everstep::journal::record::{StepCompleted, StepStarted};
use everstep::journal::{Body, Location, Record};
use everstep_model::StepOptions;
use everstep_store::Clock;

use crate::payload::RandomTexts;
use crate::store_location::SystemClock;

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
    };
    Ok([Body::from(started), Body::from(completed)].map(|body| Record { time, body }))
}

#[cfg(test)]
mod tests {
    use everstep::{Engine, Error, Name, Workflows};
    use everstep_model::{Frame, FrameHeader};

    use super::*;

    #[tokio::test]
    async fn a_step_has_the_bytes_that_an_executor_writes() {
        let workflow = |ctx: everstep::Ctx, (): ()| async move {
            let work = || async { Ok::<_, Error>("x".repeat(98)) };
            ctx.step("step-0", work).await.map(|_| ())
        };
        let engine = Engine::in_memory().workflows(Workflows::new().function("one-step", workflow));
        let engine = engine.start().await.unwrap();
        let run = engine.start_by_name("one-step", Payload::null());
        let run = run.await.unwrap();
        run.wait_json().await.unwrap();
        let journal = run.journal().await.unwrap();
        let records = journal.into_iter().map(|entry| entry.record);
        let is_of_step = |record: &Record| record.body.location().is_some();
        let written: Vec<Record> = records.filter(is_of_step).collect();

        let location = Location::root(Name::new("step-0").unwrap(), 0);
        let driven = step_records(location, &RandomTexts::of_json_bytes(100)).unwrap();
        let bytes = |records: &[Record]| Frame::encode(&FrameHeader::default(), records).len();
        assert_eq!(bytes(&driven), bytes(&written));
        engine.shutdown().await;
    }
}
