//! One case: the workflow on a virtual clock, in one process after the other, with the faults of
//! one plan.
#![allow(clippy::disallowed_methods, reason = "tokio's clock is paused here")]

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use everstep_engine::Settings;
use everstep_engine::simulation::{Timeline, VirtualRuntime};
use everstep_model::{Entry, Payload, RunId, RunStatus};
use everstep_store::MemoryStore;
use futures_util::future::{Either, select};

use super::agenda::Agenda;
use super::case_failure::CaseFailure;
use super::observer::Observer;
use super::plan::{Fault, Plan};
use super::scenario::Scenario;
use super::summary::SimulationSummary;
use crate::client::WaitError;
use crate::engine::Engine;
use crate::testing::builder::quiet;
use crate::testing::mock::MockedSteps;
use crate::testing::plug::Plug;
use crate::testing::virtual_time::virtual_time;
use crate::workflow::Workflows;

/// Creates the workflows of a process.
pub(super) type Define<'a> = &'a dyn Fn() -> Workflows;

/// The state of the runs at the end of a case.
pub(super) struct FinalState {
    pub(super) result: Result<Payload, WaitError>,
    pub(super) status: RunStatus,
    pub(super) journals: BTreeMap<RunId, Vec<Entry>>,
}

/// The result of a case.
pub(super) struct CaseResult {
    /// `None` if the case failed before its end.
    pub(super) final_state: Option<FinalState>,
    /// `None` if the case passed.
    pub(super) failure: Option<CaseFailure>,
    pub(super) timeline: Timeline,
    pub(super) summary: SimulationSummary,
    pub(super) mocks: Arc<MockedSteps>,
    /// The indexes of the events that the run accepted.
    pub(super) events_accepted: BTreeSet<usize>,
    /// The indexes of the answers that were given.
    pub(super) answers_given: BTreeSet<usize>,
}

/// Simulates a case and judges it.
pub(super) type Try<'a> = &'a dyn Fn(&Plan) -> CaseResult;

pub(super) fn play(scenario: &Scenario, define: Define<'_>, plan: &Plan) -> CaseResult {
    virtual_time(async { Case::new(scenario, define, plan).play().await })
}

pub(super) struct Case<'a> {
    pub(super) scenario: &'a Scenario,
    define: Define<'a>,
    plan: &'a Plan,
    pub(super) observer: Arc<Observer>,
    pub(super) store: Arc<MemoryStore>,
    mocks: Arc<MockedSteps>,
    pub(super) process: Arc<VirtualRuntime>,
}

/// What has happened to the runs so far.
pub(super) struct Progress {
    pub(super) agenda: Agenda,
    pub(super) events_accepted: BTreeSet<usize>,
    pub(super) answers_given: BTreeSet<usize>,
}

/// How a process ended.
pub(super) enum ProcessEnd {
    Over(Box<FinalState>),
    Crashed(Duration),
}

impl<'a> Case<'a> {
    fn new(scenario: &'a Scenario, define: Define<'a>, plan: &'a Plan) -> Self {
        let process = Arc::new(VirtualRuntime::new(plan.randomness));
        Self {
            scenario,
            define,
            plan,
            observer: Arc::new(Observer::new(plan)),
            store: Arc::new(MemoryStore::new(process.clone())),
            mocks: Arc::new(plan.mocks(scenario)),
            process,
        }
    }

    /// Runs one process after the other, until all runs have ended.
    async fn play(mut self) -> CaseResult {
        let mut progress = Progress {
            agenda: Agenda::new(self.scenario, self.plan),
            events_accepted: BTreeSet::new(),
            answers_given: BTreeSet::new(),
        };
        let (final_state, failure) = loop {
            let plug = Plug::new(self.store.clone()).observed_by(self.observer.clone());
            let plug = Arc::new(plug);
            let end = {
                let process = Box::pin(self.run_process(plug.clone(), &mut progress));
                match select(process, pin!(self.observer.crashed())).await {
                    Either::Left((end, _)) => end,
                    Either::Right((down, _)) => Ok(ProcessEnd::Crashed(down)),
                }
            };
            self.process.crash().await;
            plug.unplug().await;
            match end {
                Ok(ProcessEnd::Over(final_state)) => break (Some(*final_state), None),
                Err(failure) => break (None, Some(failure)),
                Ok(ProcessEnd::Crashed(down)) => {
                    tokio::time::sleep(down).await;
                    self.process = Arc::new(self.process.successor());
                    self.observer.write("a process starts");
                }
            }
        };
        CaseResult {
            final_state,
            failure,
            timeline: self.observer.timeline(),
            summary: self.summary(),
            mocks: self.mocks,
            events_accepted: progress.events_accepted,
            answers_given: progress.answers_given,
        }
    }

    fn summary(&self) -> SimulationSummary {
        let mut summary = self.observer.summary();
        for fault in &self.plan.faults {
            match fault {
                Fault::LateEvent { .. } => summary.events_delayed += 1,
                Fault::Eviction => summary.evictions += 1,
                Fault::StepFails { place, .. } if self.mocks.calls(place) > 0 => {
                    summary.step_failures += 1;
                }
                _ => {}
            }
        }
        summary
    }

    /// Runs a process until it ends or crashes.
    async fn run_process(
        &self,
        plug: Arc<Plug>,
        progress: &mut Progress,
    ) -> Result<ProcessEnd, CaseFailure> {
        let engine = self.open(plug).await?;
        self.drive(&engine, progress).await
    }

    async fn open(&self, plug: Arc<Plug>) -> Result<Engine, CaseFailure> {
        let mut settings: Settings = quiet();
        if self.plan.faults.contains(&Fault::Eviction) {
            settings.hot_runs_max = 0;
        }
        let opened = Engine::on_store(plug)
            .runtime(self.process.clone())
            .settings(settings)
            .defaults(self.scenario.defaults)
            .workflows((self.define)())
            .mocks(self.mocks.clone())
            .start();
        opened
            .await
            .map_err(|error| CaseFailure::Refused(error.to_string()))
    }
}
