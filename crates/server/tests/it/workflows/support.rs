//! A server with workflows, and helpers for requests.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use everstep::schemars::{self, JsonSchema};
use everstep::testing::{TestEngine, virtual_time};
use everstep::{
    AnyEvent, Ctx, Error, Event, Request, Result, Retry, Rpc, Workflow, Workflows, interface, secs,
};
use everstep_server::router;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::support::{JSON, Response, open, send};

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Approval {
    pub(crate) by: String,
}

impl Event for Approval {
    const NAME: &'static str = "approval";
}

#[derive(Serialize, JsonSchema)]
struct Confirm {
    amount: u32,
}

impl Rpc for Confirm {
    const METHOD: &'static str = "confirm";
    type Answer = bool;
}

/// Reserves, waits for an approval, asks for a confirmation.
struct Order;

interface! {
    OrderInterface {
        events: Approval;
        rpcs: Confirm;
    }
}

impl Workflow for Order {
    const NAME: &'static str = "order";
    type Input = u32;
    type Output = (String, bool);
    type Interface = OrderInterface;

    async fn run(&self, ctx: Ctx<Self>, amount: u32) -> Result<(String, bool)> {
        ctx.step("reserve", || async move { Ok::<_, Error>(amount) })
            .await?;
        let approval = ctx.event::<Approval>().await?;
        ctx.set_row("orders", "current", &serde_json::json!({"approved": true}))?;
        let confirmed = ctx.rpc(Confirm { amount }).await?;
        Ok((approval.by, confirmed))
    }
}

async fn nap(ctx: Ctx<AnyEvent>, seconds: u64) -> Result<u64> {
    ctx.sleep("nap", secs(seconds)).await?;
    Ok(seconds)
}

/// Asks for at most a minute, then waits for an approval.
async fn impatient(ctx: Ctx<AnyEvent>, (): ()) -> Result<()> {
    let asked = ctx.race("first");
    let asked = asked.branch("ask", |ctx| async move {
        ctx.rpc(Confirm { amount: 1 }).await.map(|_| ())
    });
    let late = asked.branch(
        "late",
        |ctx| async move { ctx.sleep("minute", secs(60)).await },
    );
    late.await?;
    ctx.event::<Approval>().await?;
    Ok(())
}

/// Executes this many steps, one after the other.
async fn stepwise(ctx: Ctx<AnyEvent>, steps: u32) -> Result<u32> {
    for step in 0..steps {
        ctx.step("step", || async move { Ok::<_, Error>(step) })
            .await?;
    }
    Ok(steps)
}

/// Has a step inside a branch that never ends.
async fn slow(ctx: Ctx<AnyEvent>, (): ()) -> Result<Option<String>> {
    let work = async |ctx: Ctx<AnyEvent>, _| {
        let work = || async {
            std::future::pending::<()>().await;
            Ok::<_, Error>(Some("worked".to_owned()))
        };
        ctx.step("work", work).await
    };
    ctx.switch("way", "long").case("long", work).await
}

/// Has a step that can be undone, and sleeps.
async fn booked(ctx: Ctx<AnyEvent>, (): ()) -> Result<()> {
    ctx.step("book", || async { Ok::<_, Error>(1) })
        .undo(|_: u32| async { Ok::<_, Error>(()) })
        .await?;
    ctx.sleep("stay", secs(9_000)).await
}

/// Has a step whose undo fails again and again, and one whose undo succeeds.
async fn voyage(ctx: Ctx<AnyEvent>, (): ()) -> Result<()> {
    ctx.step("ship", || async { Ok::<_, Error>(1) })
        .undo(|_: u32| async { Err::<(), _>(Error::new("the ship has left")) })
        .undo_retry(Retry::constant(1_000, secs(3_600)))
        .await?;
    ctx.step("cabin", || async { Ok::<_, Error>(2) })
        .undo(|_: u32| async { Ok::<_, Error>(()) })
        .await?;
    ctx.sleep("stay", secs(9_000)).await
}

/// Has a step that fails once, passes the point of no return, and fails as a whole once.
async fn unsteady(broken: Arc<Broken>, ctx: Ctx<AnyEvent>, (): ()) -> Result<()> {
    ctx.step("work", || async { repair(&broken.transfer) })
        .await?;
    ctx.no_return();
    ctx.sleep("rest", secs(60)).await?;
    repair(&broken.release)?;
    ctx.sleep("stay", secs(9_000)).await
}

/// Works that fail once and succeed from then on.
#[derive(Default)]
struct Broken {
    transfer: AtomicBool,
    release: AtomicBool,
}

fn repair(part: &AtomicBool) -> Result<()> {
    match part.swap(true, Ordering::Relaxed) {
        true => Ok(()),
        false => Err(Error::new("broken")),
    }
}

/// Has a step that fails once, after a step whose undo fails once.
async fn fragile(broken: Arc<Broken>, ctx: Ctx<AnyEvent>, amount: u32) -> Result<u32> {
    let undo = broken.clone();
    ctx.step("reserve", || async move { Ok::<_, Error>(amount) })
        .undo(move |_: u32| async move { repair(&undo.release) })
        .undo_retry(Retry::none())
        .await?;
    ctx.step("transfer", || async { repair(&broken.transfer) })
        .retry(Retry::none())
        .await?;
    Ok(amount)
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Double(u32);

impl Event for Double {
    const NAME: &'static str = "double";
}

impl Request for Double {
    type Reply = u32;
}

/// Replies to one request, and ends at the next without a reply.
async fn doubler(ctx: Ctx<AnyEvent>, (): ()) -> Result<()> {
    let double = ctx.event::<Double>().received().await?;
    ctx.reply(&double, &(double.event.0 * 2))?;
    ctx.event::<Double>().await?;
    Ok(())
}

/// Runs a sensitive step, a loop of three iterations, emits, and waits.
async fn discreet(ctx: Ctx<AnyEvent>, (): ()) -> Result<()> {
    let secret = || async { Ok::<_, Error>("hunter2".to_owned()) };
    ctx.step("secret", secret).sensitive().await?;
    let body = |ctx: Ctx<AnyEvent>, turn: u32| async move {
        ctx.step("turn", || async move { Ok::<_, Error>(turn) })
            .await?;
        Ok::<_, Error>(match turn {
            2 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(turn + 1),
        })
    };
    ctx.repeat("turns", 0, body).await?;
    ctx.set_row("progress", "turns", &3)?;
    let approval = ctx.event::<Approval>().await?;
    ctx.note(approval.by);
    ctx.event::<Approval>().await?;
    Ok(())
}

pub(crate) struct Served {
    pub(crate) test: TestEngine,
    pub(crate) app: Router,
}

impl Served {
    pub(crate) async fn get(&self, address: &str) -> Response {
        send(&self.app, "GET", address, &[], "").await
    }

    pub(crate) async fn post(&self, address: &str, body: &str) -> Response {
        send(&self.app, "POST", address, &[JSON], body.to_owned()).await
    }

    /// Starts a run and asserts success.
    pub(crate) async fn start(&self, workflow: &str, id: &str, input: &str) {
        let body = format!(r#"{{"type":"{workflow}","id":"{id}","input":{input}}}"#);
        let started = self.post("/workflows", &body).await;
        assert_eq!(started.status, 201, "{started:?}");
    }

    /// Waits for a status and returns the run.
    pub(crate) async fn wait_for_status(&self, id: &str, status: &str) -> Value {
        for _ in 0..100 {
            let run = self.get(&format!("/workflows/{id}")).await.json();
            if run["status"] == status {
                return run;
            }
            self.test.advance(secs(1)).await;
        }
        panic!("run {id} does not become {status}");
    }
}

pub(crate) fn served(test: impl AsyncFnOnce(Served)) {
    served_with(Workflows::new(), test);
}

/// Serves these workflows in addition to those of this file.
pub(crate) fn served_with(workflows: Workflows, test: impl AsyncFnOnce(Served)) {
    virtual_time(async {
        let broken = Arc::new(Broken::default());
        let fragile = move |ctx, amount| fragile(broken.clone(), ctx, amount);
        let broken = Arc::new(Broken::default());
        let unsteady = move |ctx, input| unsteady(broken.clone(), ctx, input);
        let engine = TestEngine::builder()
            .workflows(
                workflows
                    .workflow(Order)
                    .function("nap", nap)
                    .function("slow", slow)
                    .function("stepwise", stepwise)
                    .function("impatient", impatient)
                    .function("fragile", fragile)
                    .function("unsteady", unsteady)
                    .function("voyage", voyage)
                    .function("booked", booked)
                    .function("doubler", doubler)
                    .function("discreet", discreet),
            )
            .start()
            .await;
        let app = router(&*engine, open());
        test(Served { test: engine, app }).await;
    });
}

/// Asserts that a request was rejected with this status and code.
pub(crate) fn assert_rejected(answer: &Response, status: u16, code: &str) {
    assert_eq!(answer.status, status, "{answer:?}");
    assert_eq!(answer.header("content-type"), "application/problem+json");
    let problem = answer.json();
    assert_eq!(problem["code"], code, "{problem}");
    assert_eq!(problem["status"], status);
    assert_ne!(problem["detail"], "");
}
