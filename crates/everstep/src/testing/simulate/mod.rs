//! Simulates a user's workflow with a crash at every commit, late, repeated and reordered events,
//! and clock jumps, and checks the user's assertions.
//!
//! ```text
//!  simulate(..).event(..)  ─▶ Scenario ┐
//!                                      ├─▶ case: processes on a virtual clock ─▶ CaseResult ─▶ failure? ─▶ minimise, report
//!  seed ─▶ draw ─▶ Plan (faults) ──────┘      (agenda, observer, drive)
//! ```

mod agenda;
mod campaign;
mod case;
mod case_failure;
mod drive;
mod intervention;
mod journal_check;
mod minimise;
mod observer;
mod operate;
mod plan;
mod report;
mod run;
mod scenario;
mod simulation;
mod subject;
mod summary;
mod timeline;

use std::future::Future;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use self::intervention::Intervention;
pub use self::run::SimulatedRun;
pub use self::simulation::Simulation;
pub use self::subject::{PlainFunction, Simulated};
pub use self::summary::SimulationSummary;
use crate::ctx::Ctx;
use crate::declaration::Interface;
use crate::error::Result;
use crate::workflow::{Workflow, Workflows};

/// Simulates a workflow: describe what happens to it, then [`check`](Simulation::check) the result.
///
/// ```
/// use everstep::testing::simulate;
/// use everstep::{Ctx, Error, Result, Workflow, days};
///
/// struct Trial;
/// impl Workflow for Trial {
///     const NAME: &'static str = "trial";
///     type Input = u32;
///     type Output = u32;
///     type Interface = ();
///
///     async fn run(&self, ctx: Ctx<Self>, price: u32) -> Result<u32> {
///         ctx.sleep("trial", days(30)).await?;
///         ctx.step("charge", || async { Ok::<_, Error>(price) }).await
///     }
/// }
///
/// let summary = simulate(Trial, 0..20).input(&12).check(|run| {
///     assert_eq!(run.output().unwrap(), 12);
///     assert_eq!(run.recorded("charge"), 1);
///     assert!(run.calls("charge") <= 1 + run.crashes());
/// });
/// assert!(summary.crashes > 20);
/// ```
pub fn simulate<W: Workflow>(
    workflow: W,
    seeds: impl IntoIterator<Item = u64, IntoIter: 'static>,
) -> Simulation<W> {
    let list = Workflows::new().workflow(workflow);
    let make = move |(): &()| list.clone();
    Simulation::new(W::NAME, Box::new(|| ()), Box::new(make), seeds)
}

/// Simulates a workflow with external effects. `world` creates the external world of each case,
/// which survives its processes; `workflow` creates the workflow again for each process, so that
/// its memory is lost in a crash.
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use everstep::testing::simulate_in;
/// use everstep::{Ctx, Error, Result, Workflow};
///
/// /// Charges once per key, as real payment providers do.
/// #[derive(Clone, Default)]
/// struct Bank(Arc<Mutex<Vec<String>>>);
///
/// struct Payment {
///     bank: Bank,
/// }
/// impl Workflow for Payment {
///     const NAME: &'static str = "payment";
///     type Input = ();
///     type Output = ();
///     type Interface = ();
///
///     async fn run(&self, ctx: Ctx<Self>, _: ()) -> Result<()> {
///         ctx.step_with("charge", |step| async move {
///             let mut charges = self.bank.0.lock().unwrap();
///             if !charges.contains(&step.idempotency_key()) {
///                 charges.push(step.idempotency_key());
///             }
///             Ok::<_, Error>(())
///         })
///         .await
///     }
/// }
///
/// simulate_in(Bank::default, |bank| Payment { bank: bank.clone() }, 0..20)
///     .check(|run| assert_eq!(run.world().0.lock().unwrap().len(), 1));
/// ```
pub fn simulate_in<W: Workflow, World: 'static>(
    world: impl Fn() -> World + 'static,
    workflow: impl Fn(&World) -> W + 'static,
    seeds: impl IntoIterator<Item = u64, IntoIter: 'static>,
) -> Simulation<W, World> {
    let make = move |world: &World| Workflows::new().workflow(workflow(world));
    Simulation::new(W::NAME, Box::new(world), Box::new(make), seeds)
}

/// Simulates a plain function; see [`simulate`].
///
/// ```
/// use everstep::testing::simulate_function;
/// use everstep::{Ctx, Error, Result};
///
/// async fn greet(ctx: Ctx, name: String) -> Result<String> {
///     ctx.step("greeting", || async { Ok::<_, Error>(format!("hello {name}")) }).await
/// }
///
/// simulate_function("greet", greet, 0..10)
///     .input(&"ada".to_owned())
///     .check(|run| assert_eq!(run.output().unwrap(), "hello ada"));
/// ```
pub fn simulate_function<F, C, I, O, Fut>(
    name: &str,
    function: F,
    seeds: impl IntoIterator<Item = u64, IntoIter: 'static>,
) -> Simulation<PlainFunction<C, I, O>>
where
    F: Fn(Ctx<C>, I) -> Fut + Send + Sync + 'static,
    C: Interface,
    Fut: Future<Output = Result<O>> + Send + 'static,
    I: Serialize + DeserializeOwned + JsonSchema + Send + 'static,
    O: Serialize + DeserializeOwned + JsonSchema + Send + 'static,
{
    let list = Workflows::new().function(name, function);
    let make = move |(): &()| list.clone();
    Simulation::new(name, Box::new(|| ()), Box::new(make), seeds)
}
