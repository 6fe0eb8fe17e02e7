//! Simulating a user's own workflow: under a crash at every commit, events that come late, twice and in another order,
//! and clocks that jump, against the user's own assertions.
//!
//! ```text
//!  simulate(..).event(..)  ─▶ Scenario ┐
//!                                      ├─▶ case: processes on a virtual clock ─▶ Played ─▶ complaint? ─▶ minimise, report
//!  seed ─▶ draw ─▶ Plan (faults) ──────┘      (agenda, book, drive)
//! ```

mod agenda;
mod book;
mod campaign;
mod case;
mod caught;
mod complaint;
mod draw;
mod drive;
mod minimise;
mod plan;
mod report;
mod run;
mod scenario;
mod summary;
mod timeline;

use std::marker::PhantomData;
use std::time::Duration;

use everstep_model::InvalidName;
use serde::Serialize;

use self::campaign::{Campaign, Tried};
use self::case::{Played, play};
use self::complaint::{Complaint, look_at_journals};
use self::plan::Plan;
pub use self::run::SimulatedRun;
use self::scenario::Scenario;
pub use self::summary::SimulationSummary;
use super::mock::Mock;
use crate::definition::Definition;
use crate::event::{Accepts, Event};
use crate::options::Options;
use crate::rpc::Rpc;
use crate::workflow::Workflow;

/// Names the only case to play.
const SEED_VARIABLE: &str = "EVERSTEP_SEED";

type Make<World> = Box<dyn Fn(&World) -> Result<Definition, InvalidName>>;

/// Simulates a workflow: describe what happens to it, then [`check`](Simulation::check) what must be true of it.
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
    let definition = Definition::of_workflow(workflow);
    let make = move |(): &()| definition.clone();
    Simulation::new(Box::new(|| ()), Box::new(make), seeds)
}

/// Simulates a workflow that does things outside. `world` makes a new outside for each case, which outlives its
/// processes; `workflow` makes the workflow anew for each process, so that what it keeps in memory dies with it.
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
    let make = move |world: &World| Definition::of_workflow(workflow(world));
    Simulation::new(Box::new(world), Box::new(make), seeds)
}

/// A workflow and what happens to it, to be simulated. Made by [`simulate`] and [`simulate_in`].
#[must_use = "nothing is simulated until it is checked"]
pub struct Simulation<W, World = ()> {
    scenario: Scenario,
    world: Box<dyn Fn() -> World>,
    workflows: Vec<Make<World>>,
    seeds: Box<dyn Iterator<Item = u64>>,
    only: Option<String>,
    workflow: PhantomData<fn() -> W>,
}

impl<W: Workflow, World: 'static> Simulation<W, World> {
    fn new(
        world: Box<dyn Fn() -> World>,
        workflow: Make<World>,
        seeds: impl IntoIterator<Item = u64, IntoIter: 'static>,
    ) -> Self {
        Self {
            scenario: Scenario::new(W::NAME),
            world,
            workflows: vec![workflow],
            seeds: Box::new(seeds.into_iter()),
            only: std::env::var(SEED_VARIABLE).ok(),
            workflow: PhantomData,
        }
    }

    /// What the run is started with; null unless said.
    pub fn input(mut self, input: &W::Input) -> Self {
        self.scenario.input = self.scenario.payload(input);
        self
    }

    /// The id of the run; `simulated` unless said.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.scenario.id = id.into();
        self
    }

    /// Sends an event when so much time has passed. By seed it comes late, and so perhaps after others, and is sent again, under
    /// one dedup id: it takes effect once.
    pub fn event<E: Event>(mut self, at: Duration, event: &E) -> Self
    where
        W: Accepts<E>,
    {
        let payload = self.scenario.payload(event);
        self.scenario.add_event(at, E::NAME, payload, true);
        self
    }

    /// As [`Self::event`], from a sender that gives no dedup id: when it is sent again, the run is sent two events.
    pub fn event_at_least_once<E: Event>(mut self, at: Duration, event: &E) -> Self
    where
        W: Accepts<E>,
    {
        let payload = self.scenario.payload(event);
        self.scenario.add_event(at, E::NAME, payload, false);
        self
    }

    /// Answers every question of this kind that the run or one of its children asks. By seed the answer takes a while,
    /// and is given twice: the first one counts.
    pub fn answer<R: Rpc>(mut self, answer: &R::Answer) -> Self
    where
        R::Answer: Serialize,
    {
        let payload = self.scenario.payload(answer);
        self.scenario.add_answer(R::METHOD, payload);
        self
    }

    /// Gives the result of a step, as [`TestEngineBuilder::mock_step`](super::TestEngineBuilder::mock_step) does. Each case
    /// begins with all mocks.
    pub fn mock_step(mut self, step: &str, mock: Mock) -> Self {
        self.scenario.add_mock(step, mock);
        self
    }

    /// Registers another workflow, for instance that of a child.
    pub fn also<C: Workflow>(mut self, workflow: C) -> Self {
        let definition = Definition::of_workflow(workflow);
        self.workflows.push(Box::new(move |_| definition.clone()));
        self
    }

    /// Registers another workflow, made anew for each process as in [`simulate_in`].
    pub fn also_in<C: Workflow>(mut self, workflow: impl Fn(&World) -> C + 'static) -> Self {
        let make = move |world: &World| Definition::of_workflow(workflow(world));
        self.workflows.push(Box::new(make));
        self
    }

    /// Defaults of all steps and runs.
    pub fn defaults(mut self, defaults: Options) -> Self {
        self.scenario.defaults = defaults;
        self
    }

    /// By how much faults may move things in time; ten minutes unless said. The delay of an event or an answer, all downtime, and
    /// the error of the clock have a third of it each: events whose times are further apart than this keep their
    /// order, and a timeout that is further away than this is not reached.
    pub fn slack(mut self, slack: Duration) -> Self {
        self.scenario.slack = slack;
        self
    }

    /// Looks at the run when so much time has passed, for workflows that never end.
    pub fn lasting(mut self, lasting: Duration) -> Self {
        self.scenario.lasting = Some(lasting);
        self
    }

    /// Lets steps fail too: each one for good, one after the other, and by seed any of them, for good or once. Attempts
    /// fail before they do anything. The assertions then have to allow for a run that fails.
    pub fn failing_steps(mut self) -> Self {
        self.scenario.step_failures = true;
        self
    }

    /// Plays only this case, after the one without faults: what a failed simulation names. The variable `EVERSTEP_SEED` in the
    /// environment does the same.
    pub fn only(mut self, case: impl ToString) -> Self {
        self.only = Some(case.to_string());
        self
    }

    /// Plays every case and calls `check` at the end of each: once without faults, with a crash before and after every commit,
    /// one after the other, and with the faults of each seed. Besides, each run has to come to an end, its
    /// journals have to replay against the code, and one crash alone must not change how it ends.
    ///
    /// With `EVERSTEP_SEED` in the environment only that case is played, after the one without faults.
    ///
    /// # Panics
    /// In the first case that fails, telling what happened in it and how to play it again. Also if nothing was put to the
    /// test: a workflow without durable operations, an event that is never taken, a question that is never asked.
    #[track_caller]
    pub fn check(self, check: impl Fn(&SimulatedRun<'_, W, World>)) -> SimulationSummary {
        let Self {
            scenario,
            world,
            workflows,
            seeds,
            only,
            workflow: _,
        } = self;
        let attempt = |plan: &Plan| {
            let world = world();
            let define = || workflows.iter().map(|make| make(&world)).collect();
            let played = play(&scenario, &define, plan);
            // Replaying runs code, which may touch the world if it is wrong: first what the test says, then that.
            let complaint = complaint_of(&played, &scenario, plan, &world, &check)
                .or_else(|| look_at_journals(&played, &define));
            Tried { played, complaint }
        };
        let only = only.map(|case| case.parse()).transpose();
        let outcome = only.and_then(|only| Campaign::new(&scenario, &attempt).run(seeds, only));
        match outcome {
            Ok(summary) => summary,
            Err(report) => panic!("{report}"),
        }
    }
}

/// What is wrong with how it ended, or with what is left, by the test's own assertions.
fn complaint_of<W, World>(
    played: &Played,
    scenario: &Scenario,
    plan: &Plan,
    world: &World,
    check: &impl Fn(&SimulatedRun<'_, W, World>),
) -> Option<Complaint> {
    let remains = match &played.ended {
        Ok(remains) => remains,
        Err(complaint) => return Some(complaint.clone()),
    };
    let run = SimulatedRun {
        played,
        remains,
        scenario,
        plan,
        world,
        workflow: PhantomData,
    };
    caught::caught(|| check(&run)).err().map(Complaint::Check)
}

impl<W, World> std::fmt::Debug for Simulation<W, World> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Simulation({})", self.scenario.workflow)
    }
}
