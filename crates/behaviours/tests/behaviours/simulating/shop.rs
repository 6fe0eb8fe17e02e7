//! The world and the workflows of these tests: a shop, its bank, and mistakes that can be made with
//! them.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use everstep::schemars::{self, JsonSchema};
use everstep::testing::{Simulation, simulate_in};
use everstep::{Ctx, Error, Event, Result, Rpc, Workflow, days, hours, interface};
use serde::{Deserialize, Serialize};

/// The external world: which effects happened, and how often. Clones share the state.
#[derive(Clone, Default)]
pub(super) struct Bank(Arc<Mutex<BTreeMap<String, u32>>>);

impl Bank {
    /// Performs an effect and counts it.
    pub(super) fn act(&self, what: &str) -> u32 {
        let mut done = self.0.lock().unwrap();
        let times = done.entry(what.to_owned()).or_default();
        *times += 1;
        *times
    }

    /// Performs an effect unless it was performed before.
    pub(super) fn act_once(&self, key: &str) {
        self.0.lock().unwrap().insert(key.to_owned(), 1);
    }

    pub(super) fn undo(&self, key: &str) {
        self.0.lock().unwrap().remove(key);
    }

    pub(super) fn times(&self, what: &str) -> u32 {
        self.0
            .lock()
            .unwrap()
            .get(what)
            .copied()
            .unwrap_or_default()
    }

    /// Returns the number of distinct effects.
    pub(super) fn things(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Approval(pub(super) bool);
impl Event for Approval {
    const NAME: &'static str = "approval";
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Item(pub(super) u32);
impl Event for Item {
    const NAME: &'static str = "item";
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Address;
impl Rpc for Address {
    const METHOD: &'static str = "address";
    type Answer = String;
}

/// Charges with an idempotency key, waits for a day and for an approval, asks for the address, and
/// lets a child ship.
pub(super) struct Order {
    pub(super) bank: Bank,
}

interface! {
    pub(super) OrderInterface {
        events: Approval;
        rpcs: Address;
    }
}

impl Workflow for Order {
    const NAME: &'static str = "order";
    type Input = u32;
    type Output = String;
    type Interface = OrderInterface;

    async fn run(&self, ctx: Ctx<Self>, amount: u32) -> Result<String> {
        ctx.step_with("charge", |step| async move {
            self.bank.act_once(&step.idempotency_key());
            Ok::<_, Error>(amount)
        })
        .await?;
        ctx.sleep("cool-off", days(1)).await?;
        let approval = ctx.event::<Approval>().timeout(days(7)).await?;
        if approval != Some(Approval(true)) {
            return Ok("refused".to_owned());
        }
        let address = ctx.rpc(Address).await?;
        ctx.child::<Parcel>(&address).await
    }
}

pub(super) struct Parcel;

impl Workflow for Parcel {
    const NAME: &'static str = "parcel";
    type Input = String;
    type Output = String;
    type Interface = ();

    async fn run(&self, ctx: Ctx<Self>, address: String) -> Result<String> {
        let label = ctx.uuid();
        ctx.step("ship", || async { Ok::<_, Error>(label.len()) })
            .await?;
        ctx.sleep("way", hours(5)).await?;
        Ok(format!("at {address}"))
    }
}

type Running = Pin<Box<dyn Future<Output = Result<u32>> + Send>>;

/// A workflow that is a function of its context and the bank.
#[derive(Clone)]
pub(super) struct Code {
    bank: Bank,
    run: Arc<dyn Fn(Ctx<Code>, Bank) -> Running + Send + Sync>,
}

interface!(pub(super) CodeInterface { events: Approval, Item; });

impl Workflow for Code {
    const NAME: &'static str = "code";
    type Input = ();
    type Output = u32;
    type Interface = CodeInterface;

    async fn run(&self, ctx: Ctx<Self>, (): ()) -> Result<u32> {
        (self.run)(ctx, self.bank.clone()).await
    }
}

/// Simulates a [`Code`].
pub(super) fn code<F, Fut>(run: F) -> Simulation<Code, Bank>
where
    F: Fn(Ctx<Code>, Bank) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<u32>> + Send + 'static,
{
    let run: Arc<dyn Fn(Ctx<Code>, Bank) -> Running + Send + Sync> =
        Arc::new(move |ctx, bank| Box::pin(run(ctx, bank)));
    let make = move |bank: &Bank| Code {
        bank: bank.clone(),
        run: run.clone(),
    };
    simulate_in(Bank::default, make, 0..200)
}

/// The message a simulation panics with.
pub(super) fn failure<T>(simulation: impl FnOnce() -> T) -> String {
    let panic = match catch_unwind(AssertUnwindSafe(simulation)) {
        Ok(_) => panic!("the simulation found nothing"),
        Err(panic) => panic,
    };
    panic.downcast_ref::<String>().cloned().unwrap_or_default()
}
