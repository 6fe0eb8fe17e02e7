//! Batches of starts, and events with their metadata.

use everstep::journal::Timestamp;
use everstep::{AnyEvent, Ctx, ErrorCode, Result, Workflow, Workflows, hours, secs};

use crate::support::{Ping, for_each_store, ok, output, ping, restart, start};

struct Double;

impl Workflow for Double {
    const NAME: &'static str = "double";
    type Input = u32;
    type Output = u32;
    type Interface = ();

    async fn run(&self, ctx: Ctx<Self>, n: u32) -> Result<u32> {
        ctx.step("double", || ok(n * 2)).await
    }
}

// B162
#[test]
fn a_batch_reports_on_each_id_and_handles_repeated_ones_once() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().workflow(Double))
            .start()
            .await;
        test.start::<Double>(&1).id("there").await.unwrap();
        let ids = ["new", "there", "new", "not/legal"];
        let runs = ids.into_iter().zip(10..).map(|(id, n)| (id.to_owned(), n));
        let reports = test.start_batch::<Double>(runs).await;
        let created: Vec<_> = reports
            .iter()
            .map(|report| {
                report
                    .as_ref()
                    .map(|run| run.created())
                    .map_err(|error| error.code())
            })
            .collect();
        let expected = [Ok(true), Ok(false), Ok(false), Err(ErrorCode::InvalidRunId)];
        assert_eq!(created, expected);
        for (report, result) in reports.iter().zip([20, 2, 20]) {
            let run = report.as_ref().unwrap();
            assert_eq!(run.wait().await.unwrap(), result, "the first input counts");
        }
    });
}

// B98
#[test]
fn a_wait_can_tell_when_its_event_was_sent_the_same_on_every_replay() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            ctx.sleep("nap", hours(2)).await?;
            let received = ctx.event::<Ping>().received().await?;
            ctx.sleep("again", hours(1)).await?;
            Ok((received.event.0, received.sent_at, received.record.0))
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(hours(1)).await;
        let sent_at: Timestamp = test.now();
        ping(&run, 7).await;
        test.advance(hours(1) + secs(1)).await;
        let run = restart(&mut test).await;
        assert_eq!(output::<(u32, Timestamp, u64)>(&run).await, (7, sent_at, 2));
    });
}
