//! Operations that were open when the function failed and was run again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use everstep::schemars::{self, JsonSchema};
use everstep::{AnyEvent, Ctx, Error, Options, Result, Retry, Rpc, Workflows, minutes, secs};
use serde::Serialize;

use crate::support::{Ping, for_each_store, output, start};

#[derive(Serialize, JsonSchema)]
struct Ask;

impl Rpc for Ask {
    const METHOD: &'static str = "ask";
    type Answer = u32;
}

/// Fails in the first pass, a moment after everything else has begun.
async fn fail_once(ctx: &Ctx<AnyEvent>, passes: &AtomicU32) -> Result<u32> {
    ctx.sleep("a moment", secs(1)).await?;
    let pass = passes.load(Ordering::Relaxed);
    ctx.step("fails once", || async move {
        if pass == 1 {
            Err(Error::new("the first pass fails"))
        } else {
            Ok(pass)
        }
    })
    .retry(Retry::none())
    .await
}

// B40, B57, B75
#[test]
fn sleeps_waits_and_rpcs_of_a_failed_pass_end_in_the_next_one() {
    for_each_store(async |store| {
        let passes = Arc::new(AtomicU32::new(0));
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let passes = passes.clone();
            async move {
                passes.fetch_add(1, Ordering::Relaxed);
                let began = ctx.metadata().created_at;
                let slept = async {
                    ctx.sleep("nap", minutes(10)).await?;
                    Ok(began.until(ctx.now()).as_secs())
                };
                let waited = async { ctx.event::<Ping>().timeout(minutes(5)).await };
                let answered = async { ctx.rpc(Ask).timeout(minutes(20)).await };
                let failing = fail_once(&ctx, &passes);
                let (slept, waited, answer, pass) =
                    tokio::try_join!(slept, waited, answered, failing)?;
                Ok((slept, waited.is_none(), answer, pass))
            }
        };
        let options = Options::new().execution_retries(1);
        let test = store
            .engine()
            .workflows(Workflows::new().function_with("w", options, code))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(minutes(7)).await;
        test.answer_next::<Ask>(&run, &9).await;
        let (slept, gave_up, answer, pass): (u64, bool, Option<u32>, u32) = output(&run).await;
        assert_eq!((slept, gave_up, answer, pass), (600, true, Some(9), 2));
    });
}
