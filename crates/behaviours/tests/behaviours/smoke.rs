use std::sync::Arc;

use everstep::schemars::{self, JsonSchema};
use everstep::testing::{VirtualRuntime, virtual_time};
use everstep::{Ctx, Engine, Event, Result, Workflow, Workflows, days, hours, interface};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Approval {
    approved: bool,
}
impl Event for Approval {
    const NAME: &'static str = "approval";
}

struct Payment;
interface!(PaymentInterface { events: Approval; });

impl Workflow for Payment {
    const NAME: &'static str = "payment";
    type Input = u32;
    type Output = String;
    type Interface = PaymentInterface;

    async fn run(&self, ctx: Ctx<Self>, amount: u32) -> Result<String> {
        let charged: u32 = ctx
            .step("charge", || async { Ok::<_, everstep::Error>(amount + 1) })
            .await?;
        ctx.sleep("cool-off", hours(24)).await?;
        let approval = ctx.event::<Approval>().timeout(days(7)).await?;
        let (a, b) = tokio::join!(
            ctx.step("a", || async { Ok::<_, everstep::Error>(1) }),
            ctx.step("b", || async { Ok::<_, everstep::Error>(2) }),
        );
        Ok(format!(
            "{charged} {:?} {}",
            approval.map(|a| a.approved),
            a? + b?
        ))
    }
}

#[test]
fn a_payment_passes_through_all_its_stages() {
    virtual_time(async {
        let runtime = Arc::new(VirtualRuntime::new(1));
        let engine = Engine::in_memory()
            .runtime(runtime)
            .workflows(Workflows::new().workflow(Payment))
            .development(true)
            .start()
            .await
            .unwrap();
        let run = engine.start::<Payment>(&41).id("p1").await.unwrap();
        assert!(run.created());
        tokio::time::sleep(hours(25)).await;
        println!(
            "{:?} {}",
            run.status().await.unwrap(),
            run.why().await.unwrap()
        );
        run.send(&Approval { approved: true }).await.unwrap();
        assert_eq!(run.wait().await.unwrap(), "42 Some(true) 3");
        for entry in run.journal().await.unwrap() {
            println!("{}", everstep::journal::entry_to_json(&entry).unwrap());
        }
        engine.shutdown().await;
    });
}
