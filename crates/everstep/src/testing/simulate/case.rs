//! One case: the workflow on a virtual clock, in one process after the other, under the faults of one plan.
#![allow(clippy::disallowed_methods, reason = "tokio's clock is paused here")]

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use everstep_engine::Settings;
use everstep_engine::simulation::{Timeline, VirtualRuntime};
use everstep_model::{Entry, Payload, RunId, RunStatus};
use everstep_store::MemoryStore;
use futures_util::future::{Either, select};

use super::agenda::Agenda;
use super::book::Book;
use super::complaint::Complaint;
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

/// The workflows of a process that starts.
pub(super) type Define<'a> = &'a dyn Fn() -> Workflows;

/// What is left of the runs when they are over.
pub(super) struct Remains {
    pub(super) result: Result<Payload, WaitError>,
    pub(super) status: RunStatus,
    pub(super) journals: BTreeMap<RunId, Vec<Entry>>,
}

/// What became of a case.
pub(super) struct Played {
    pub(super) ended: Result<Remains, Complaint>,
    pub(super) timeline: Timeline,
    pub(super) summary: SimulationSummary,
    pub(super) mocks: Arc<MockedSteps>,
    /// Which events the run took.
    pub(super) events_taken: Vec<bool>,
    /// Which answers were given.
    pub(super) answers_given: Vec<bool>,
}

/// Plays a case.
pub(super) fn play(scenario: &Scenario, define: Define<'_>, plan: &Plan) -> Played {
    virtual_time(async {
        let case = Case::new(scenario, define, plan);
        case.play().await
    })
}

pub(super) struct Case<'a> {
    pub(super) scenario: &'a Scenario,
    define: Define<'a>,
    plan: &'a Plan,
    pub(super) book: Arc<Book>,
    pub(super) store: Arc<MemoryStore>,
    mocks: Arc<MockedSteps>,
    pub(super) process: Arc<VirtualRuntime>,
}

/// What was done to the runs so far.
pub(super) struct Doings {
    pub(super) agenda: Agenda,
    pub(super) events_taken: Vec<bool>,
    pub(super) answers_given: Vec<bool>,
}

/// How a process ended.
pub(super) enum Life {
    Over(Box<Remains>),
    Crashed(Duration),
    Failed(Complaint),
}

impl<'a> Case<'a> {
    fn new(scenario: &'a Scenario, define: Define<'a>, plan: &'a Plan) -> Self {
        let process = Arc::new(VirtualRuntime::new(plan.randomness));
        Self {
            scenario,
            define,
            plan,
            book: Arc::new(Book::new(plan)),
            store: Arc::new(MemoryStore::new(process.clone())),
            mocks: Arc::new(plan.mocks(scenario)),
            process,
        }
    }

    /// One process after the other, until the runs are over.
    async fn play(mut self) -> Played {
        let mut doings = Doings {
            agenda: Agenda::new(self.scenario, self.plan),
            events_taken: vec![false; self.scenario.events.len()],
            answers_given: vec![false; self.scenario.answers.len()],
        };
        let ended = loop {
            let plug = Plug::new(self.store.clone()).observed_by(self.book.clone());
            let plug = Arc::new(plug);
            let life = {
                let life = Box::pin(self.live(plug.clone(), &mut doings));
                match select(life, pin!(self.book.died())).await {
                    Either::Left((life, _)) => life,
                    Either::Right((down, _)) => Life::Crashed(down),
                }
            };
            self.process.crash().await;
            plug.unplug().await;
            match life {
                Life::Over(remains) => break Ok(*remains),
                Life::Failed(complaint) => break Err(complaint),
                Life::Crashed(down) => {
                    tokio::time::sleep(down).await;
                    self.process = Arc::new(self.process.successor());
                    self.book.write("a process starts");
                }
            }
        };
        Played {
            ended,
            timeline: self.book.timeline(),
            summary: self.summary(),
            mocks: self.mocks,
            events_taken: doings.events_taken,
            answers_given: doings.answers_given,
        }
    }

    fn summary(&self) -> SimulationSummary {
        let mut summary = self.book.summary();
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

    /// The life of a process, unless it dies before.
    async fn live(&self, plug: Arc<Plug>, doings: &mut Doings) -> Life {
        let lived = async {
            let engine = self.open(plug).await?;
            self.drive(&engine, doings).await
        };
        lived.await.unwrap_or_else(Life::Failed)
    }

    async fn open(&self, plug: Arc<Plug>) -> Result<Engine, Complaint> {
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
            .map_err(|error| Complaint::Refused(error.to_string()))
    }
}
