//! The records equal those of an executor.

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
