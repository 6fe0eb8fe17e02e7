//! Canonical workflows with events, rpcs and messages between runs.

use everstep::schemars::{self, JsonSchema};
use everstep::{AnyEvent, Ctx, Engine, Event, Payload, Request, Result, Rpc, hours};
use serde::{Deserialize, Serialize};

use crate::assertions::{AssertionFailed, returns, same};
use crate::clients::{Patience, Ping, run, send};
use crate::outside::Outside;
use crate::scenario::{Canonical, Registry, WORKFLOW};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Add(u32);

impl Event for Add {
    const NAME: &'static str = "add";
}

impl Request for Add {
    type Reply = u32;
}

pub(crate) struct EventsThatComeEarlyInBatchesAndWithAnAnswer;

impl Canonical for EventsThatComeEarlyInBatchesAndWithAnAnswer {
    const NAME: &'static str = "events_that_come_early_in_batches_and_with_an_answer";
    type Output = (u32, bool);

    async fn run(ctx: Ctx<AnyEvent>, outside: Outside) -> Result<(u32, bool)> {
        outside.step(&ctx, "a", 0).await?;
        let mut sum = 0;
        while sum < 6 {
            let batch = ctx.events::<Ping>(2).await?;
            sum += batch.iter().map(|Ping(n)| n).sum::<u32>();
        }
        let add = ctx.event::<Add>().received().await?;
        let total = outside.step(&ctx, "b", sum + add.event.0).await?;
        ctx.reply(&add, &total)?;
        let none = ctx.try_event::<Ping>().await?;
        Ok((total, none.is_none()))
    }

    async fn drive(engine: Engine, outside: Outside) -> std::result::Result<(), AssertionFailed> {
        let run = run(&engine).await?;
        for n in 1..=3 {
            send(&run, &Ping(n), &format!("ping {n}")).await?;
        }
        send(&run, &Add(10), "add").await?;
        returns(&run, (16, true)).await?;
        outside.holds(&["a", "b"], 1)
    }
}

#[derive(Serialize, JsonSchema)]
struct HowMany;

impl Rpc for HowMany {
    const METHOD: &'static str = "how many";
    type Answer = u32;
}

pub(crate) struct AQuestionThatIsAnsweredTwice;

impl Canonical for AQuestionThatIsAnsweredTwice {
    const NAME: &'static str = "a_question_that_is_answered_twice";
    type Output = u32;

    async fn run(ctx: Ctx<AnyEvent>, outside: Outside) -> Result<u32> {
        outside.step(&ctx, "a", 0).await?;
        let many = ctx.rpc(HowMany).timeout(hours(5)).await?.unwrap_or(0);
        outside.step(&ctx, "b", many).await
    }

    async fn drive(engine: Engine, outside: Outside) -> std::result::Result<(), AssertionFailed> {
        let run = run(&engine).await?;
        let mut patience = Patience::default();
        while !run.status().await?.is_terminal() {
            if let Some(question) = run.inspect().await?.overview.rpcs.first() {
                run.answer::<HowMany>(&question.rpc_id, &7).await?;
                // Only the first answer counts. Others are rejected because the rpc is closed.
                let _ = run.answer::<HowMany>(&question.rpc_id, &8).await;
                break;
            }
            patience.wait(&run, &outside).await?;
        }
        returns(&run, 7).await?;
        outside.holds_in_order(&["a", "b"])
    }
}

pub(crate) struct AMessageToAnotherRun;

impl Canonical for AMessageToAnotherRun {
    const NAME: &'static str = "a_message_to_another_run";
    type Output = u32;

    async fn run(ctx: Ctx<AnyEvent>, outside: Outside) -> Result<u32> {
        for n in 1..=2 {
            let n = outside.step(&ctx, &format!("s{n}"), n).await?;
            ctx.send_by_name("to", Ping::NAME, Payload::from_value(&Ping(n))?)?;
        }
        Ok(0)
    }

    fn define<R: Registry>(registry: R, outside: &Outside) -> R {
        let outside = outside.clone();
        registry
            .function("listener", |ctx: Ctx<AnyEvent>, (): ()| async move {
                let Ping(first) = ctx.event::<Ping>().await?;
                let Ping(second) = ctx.event::<Ping>().await?;
                let none = ctx.try_event::<Ping>().await?;
                Ok((first, second, none.is_none()))
            })
            .function(WORKFLOW, move |ctx, (): ()| Self::run(ctx, outside.clone()))
    }

    async fn drive(engine: Engine, outside: Outside) -> std::result::Result<(), AssertionFailed> {
        let listener = engine
            .start_by_name("listener", Payload::null())
            .id("to")
            .await?;
        returns(&run(&engine).await?, 0).await?;
        returns(&listener, (1, 2, true)).await?;
        let journal = listener.journal().await?;
        let is_event = |entry: &&everstep::journal::Entry| {
            matches!(entry.record.body, everstep::journal::Body::Event(_))
        };
        same("messages", journal.iter().filter(is_event).count(), 2)?;
        outside.holds_in_order(&["s1", "s2"])
    }
}
