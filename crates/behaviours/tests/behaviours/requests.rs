//! Requests whose sender reads late: the reply is still in the journal.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::pin::pin;

use everstep::errors::RequestError;
use everstep::journal::{Body, Generation};
use everstep::schemars::{self, JsonSchema};
use everstep::{
    AnyEvent, Ctx, Error, Event, Request, Result, Workflows, hours, millis, minutes, secs,
};
use serde::{Deserialize, Serialize};

use crate::support::{Ping, for_each_store, ping, start};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Double(u32);

impl Event for Double {
    const NAME: &'static str = "double";
}

impl Request for Double {
    type Reply = u32;
}

/// Answers one request after the other, each after three seconds.
async fn answers(ctx: Ctx<AnyEvent>, (): ()) -> Result<()> {
    let body = |ctx: Ctx<AnyEvent>, ()| async move {
        let double = ctx.event::<Double>().received().await?;
        ctx.sleep("think", secs(3)).await?;
        ctx.reply(&double, &(double.event.0 * 2))?;
        Ok::<_, Error>(ControlFlow::<(), ()>::Continue(()))
    };
    ctx.repeat("answer", (), body).keep(1).await
}

// B84
#[test]
fn a_reply_survives_the_iteration_that_wrote_it() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", answers))
            .start()
            .await;
        let run = start(&test).await;
        let mut late = pin!(run.request(&Double(21)));
        let unanswered = tokio::time::timeout(secs(1), &mut late).await;
        assert!(unanswered.is_err());
        // The first reply is not read while many more are written.
        for n in 0..15 {
            assert_eq!(run.request(&Double(n)).await.unwrap(), n * 2);
        }
        let answer = tokio::time::timeout(minutes(1), late).await;
        assert_eq!(answer.expect("the answer is gone").unwrap(), 42);

        // Later requests are answered as usual.
        test.advance(hours(1)).await;
        for n in 0..4 {
            assert_eq!(run.request(&Double(n)).await.unwrap(), n * 2);
        }
        let journal = run.journal().await.unwrap();
        let replies = journal.iter().filter_map(|entry| match &entry.record.body {
            Body::Replied(reply) => Some(reply.event),
            _ => None,
        });
        assert!(replies.collect::<BTreeSet<_>>().len() <= 4);
    });
}

/// Answers a request when it gets a ping.
async fn asks_back(ctx: Ctx<AnyEvent>, (): ()) -> Result<()> {
    let double = ctx.event::<Double>().received().await?;
    ctx.event::<Ping>().await?;
    ctx.reply(&double, &(double.event.0 * 2))?;
    ctx.event::<Ping>().await?;
    Ok(())
}

// B84
#[test]
fn a_reply_of_the_next_generation_reaches_the_sender_to_the_previous_one() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", asks_back))
            .start()
            .await;
        let run = start(&test).await;
        // Numbers differ between the generations.
        run.send_by_name("other", crate::support::json(&1), None)
            .await
            .unwrap();
        let mut late = pin!(run.request(&Double(21)));
        let unanswered = tokio::time::timeout(millis(100), &mut late).await;
        assert!(unanswered.is_err());
        run.terminate().await.unwrap();
        let revived = run.recover().await.unwrap();
        assert_eq!(revived.generation, Generation(2));
        ping(&run, 0).await;
        let answer = tokio::time::timeout(minutes(1), late).await;
        assert_eq!(answer.expect("it waits for ever").unwrap(), 42);
    });
}

// B84
#[test]
fn a_generation_without_the_request_does_not_reply() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", asks_back))
            .start()
            .await;
        let run = start(&test).await;
        let mut late = pin!(run.request(&Double(21)));
        let unanswered = tokio::time::timeout(millis(100), &mut late).await;
        assert!(unanswered.is_err());
        run.restart().await.unwrap();
        // Another request has the record number of the first one, and is answered.
        let mut other = pin!(run.request(&Double(1)));
        assert!(tokio::time::timeout(millis(100), &mut other).await.is_err());
        ping(&run, 0).await;
        assert_eq!(other.await.unwrap(), 2);
        let ended = tokio::time::timeout(minutes(1), late).await;
        let ended = ended.expect("it waits for ever");
        assert!(matches!(ended, Err(RequestError::RunEnded(_))), "{ended:?}");
    });
}
