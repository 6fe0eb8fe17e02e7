//! Configures and runs a simulation.

use std::marker::PhantomData;
use std::time::Duration;

use everstep_engine::simulation::catch_panic;
use serde::Serialize;

use super::campaign::Campaign;
use super::case::play;
use super::case_failure::CaseFailure;
use super::intervention::Intervention;
use super::journal_check::check_journals;
use super::plan::Plan;
use super::run::SimulatedRun;
use super::scenario::{Failing, PlannedAnswer, Scenario};
use super::subject::Simulated;
use super::summary::SimulationSummary;
use crate::declaration::{Accepts, Event, Rpc};
use crate::options::Options;
use crate::testing::mock::Mock;
use crate::workflow::{Workflow, Workflows};

/// Names the only case to simulate.
const SEED_VARIABLE: &str = "EVERSTEP_SEED";

/// Creates the workflows of a process.
type Make<World> = Box<dyn Fn(&World) -> Workflows>;

/// A workflow and what happens to it. Created by [`simulate`](super::simulate),
/// [`simulate_in`](super::simulate_in) and [`simulate_function`](super::simulate_function).
#[must_use = "nothing is simulated until it is checked"]
pub struct Simulation<W, World = ()> {
    scenario: Scenario,
    world: Box<dyn Fn() -> World>,
    workflows: Vec<Make<World>>,
    seeds: Box<dyn Iterator<Item = u64>>,
    only: Option<String>,
    workflow: PhantomData<fn() -> W>,
}

impl<W: Simulated, World: 'static> Simulation<W, World> {
    pub(super) fn new(
        workflow_name: &str,
        world: Box<dyn Fn() -> World>,
        workflow: Make<World>,
        seeds: impl IntoIterator<Item = u64, IntoIter: 'static>,
    ) -> Self {
        Self {
            scenario: Scenario::new(workflow_name),
            world,
            workflows: vec![workflow],
            seeds: Box::new(seeds.into_iter()),
            only: std::env::var(SEED_VARIABLE).ok(),
            workflow: PhantomData,
        }
    }

    /// Sets the input of the run. The default is null.
    pub fn input(mut self, input: &W::Input) -> Self {
        self.scenario.input = self.scenario.payload(input);
        self
    }

    /// Sets the id of the run. The default is `simulated`.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.scenario.id = id.into();
        self
    }

    /// Sends an event after this time. Depending on the seed it is late, and thereby possibly
    /// reordered, and sent again under the same dedup id, so that it takes effect once.
    pub fn event<E: Event>(mut self, at: Duration, event: &E) -> Self
    where
        W: Accepts<E>,
    {
        self.scenario.add_event(at, event, true);
        self
    }

    /// As [`Self::event`], without a dedup id: if the event is sent again, the run receives two
    /// events.
    pub fn event_at_least_once<E: Event>(mut self, at: Duration, event: &E) -> Self
    where
        W: Accepts<E>,
    {
        self.scenario.add_event(at, event, false);
        self
    }

    /// Answers every rpc of this kind that the run or one of its children makes. Depending on the
    /// seed the answer is late and given twice; the first one counts.
    pub fn answer<R: Rpc>(mut self, answer: &R::Answer) -> Self
    where
        R::Answer: Serialize,
    {
        let (method, payload) = (R::METHOD, self.scenario.payload(answer));
        self.scenario
            .answers
            .push(PlannedAnswer { method, payload });
        self
    }

    /// Sets the result of a step, as
    /// [`TestEngineBuilder::mock_step`](crate::testing::TestEngineBuilder::mock_step) does. Each
    /// case begins with all mocks.
    pub fn mock_step(mut self, step: &str, mock: Mock) -> Self {
        self.scenario.mocks.push((step.to_owned(), mock));
        self
    }

    /// Registers another workflow, for example that of a child.
    pub fn also<C: Workflow>(mut self, workflow: C) -> Self {
        let list = Workflows::new().workflow(workflow);
        self.workflows.push(Box::new(move |_| list.clone()));
        self
    }

    /// Sets the defaults of all steps and runs.
    pub fn defaults(mut self, defaults: Options) -> Self {
        self.scenario.defaults = defaults;
        self
    }

    /// Sets the time by which faults may move things. The default is ten minutes. The delay of an
    /// event or an answer, all downtime, and the error of the clock get a third of it each: events
    /// whose times are further apart keep their order, and a timeout that is further away is not
    /// reached.
    pub fn slack(mut self, slack: Duration) -> Self {
        self.scenario.slack = slack;
        self
    }

    /// Ends the observation of the run after this time, for workflows that never end.
    pub fn lasting(mut self, lasting: Duration) -> Self {
        self.scenario.lasting = Some(lasting);
        self
    }

    /// Lets steps fail: each one for good, one after the other, and depending on the seed any of
    /// them, for good or once. Attempts fail before they do anything. The assertions must then
    /// allow for a failed run.
    pub fn failing_steps(mut self) -> Self {
        self.scenario.failing = Failing::All;
        self
    }

    /// As [`Self::failing_steps`], for one step, named as in [`Self::mock_step`].
    pub fn failing_step(mut self, step: &str) -> Self {
        if let Failing::Named(names) = &mut self.scenario.failing {
            names.push(step.to_owned());
        }
        self
    }

    /// Starts the run with a deadline. Faults move things, so some runs may exceed it; the
    /// assertions must allow for that.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.scenario.deadline = Some(deadline);
        self
    }

    /// Lets operators intervene, depending on the seed: any of these actions, at random moments
    /// during the run and after its end. The assertions must allow for the ends to which they lead.
    /// Journals are those of the latest generation.
    pub fn interventions(mut self, what: impl IntoIterator<Item = Intervention>) -> Self {
        self.scenario.interventions.extend(what);
        self
    }

    /// Simulates only the case without faults and this one, named as in the report of a failed
    /// simulation. The environment variable `EVERSTEP_SEED` does the same.
    pub fn only(mut self, case: impl ToString) -> Self {
        self.only = Some(case.to_string());
        self
    }

    /// Simulates every case and calls `check` at the end of each: once without faults, with a crash
    /// before and after every commit, one after the other, and with the faults of each seed. In
    /// addition, each run must end, its journals must replay against the code, and a single crash
    /// must not change how it ends.
    ///
    /// With `EVERSTEP_SEED` in the environment only the case without faults and that case are
    /// simulated.
    ///
    /// # Panics
    /// In the first case that fails. The message contains its timeline and how to reproduce it.
    /// Also if nothing was tested: a workflow without durable operations, an event that is never
    /// accepted, an rpc that is never made.
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
            let made = || workflows.iter().map(|make| make(&world));
            let define = || made().fold(Workflows::new(), Workflows::and);
            let mut case_result = play(&scenario, &define, plan);
            if let Some(final_state) = &case_result.final_state {
                let run = SimulatedRun {
                    case_result: &case_result,
                    final_state,
                    scenario: &scenario,
                    plan,
                    world: &world,
                    workflow: PhantomData,
                };
                // A replay executes code, which may change the world if it is wrong. Therefore the
                // assertions of the test come first.
                let failure = catch_panic(|| check(&run)).err().map(CaseFailure::Check);
                case_result.failure = failure.or_else(|| check_journals(final_state, &define));
            }
            case_result
        };
        let only = only.map(|case| case.parse()).transpose();
        let outcome = only.and_then(|only| Campaign::new(&scenario, &attempt).run(seeds, only));
        match outcome {
            Ok(summary) => summary,
            Err(report) => panic!("{report}"),
        }
    }
}

debug_by_name!(impl<W, World> Simulation<W, World>: scenario.workflow);
