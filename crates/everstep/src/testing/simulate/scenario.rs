//! What happens to the simulated run without faults: its input, its events, and the answers to its
//! rpcs.

use std::time::Duration;

use everstep_model::{Name, Payload, PayloadError};
use serde::Serialize;

use super::intervention::Intervention;
use crate::declaration::Event;
use crate::options::Options;
use crate::testing::mock::{Mock, MockedSteps};

/// The default of the time by which faults may move things.
const SLACK: Duration = Duration::from_secs(600);

pub(super) struct PlannedEvent {
    pub(super) at: Duration,
    pub(super) name: &'static str,
    pub(super) payload: Payload,
    /// With an id, repeated events take effect once.
    pub(super) dedup_id: Option<String>,
}

/// The answer to every rpc of a method.
pub(super) struct PlannedAnswer {
    pub(super) method: &'static str,
    pub(super) payload: Payload,
}

/// The steps that a simulation lets fail.
pub(super) enum Failing {
    All,
    /// Steps with these names or locations.
    Named(Vec<String>),
}

/// Everything about a simulation that its faults do not decide.
pub(super) struct Scenario {
    pub(super) workflow: String,
    pub(super) id: String,
    pub(super) input: Payload,
    pub(super) events: Vec<PlannedEvent>,
    pub(super) answers: Vec<PlannedAnswer>,
    pub(super) defaults: Options,
    /// All delays of an event, all downtime, and the error of the clock get a third of it each.
    pub(super) slack: Duration,
    /// The observation time. None observes the run until it ends.
    pub(super) lasting: Option<Duration>,
    pub(super) failing: Failing,
    /// The deadline of the run.
    pub(super) deadline: Option<Duration>,
    /// What operators may do.
    pub(super) interventions: Vec<Intervention>,
    pub(super) mocks: Vec<(String, Mock)>,
    /// Why the simulation is invalid.
    pub(super) problem: Option<String>,
}

impl Scenario {
    pub(super) fn new(workflow: &str) -> Self {
        Self {
            workflow: workflow.to_owned(),
            id: "simulated".to_owned(),
            input: Payload::null(),
            events: Vec::new(),
            answers: Vec::new(),
            defaults: Options::new(),
            slack: SLACK,
            lasting: None,
            failing: Failing::Named(Vec::new()),
            deadline: None,
            interventions: Vec::new(),
            mocks: Vec::new(),
            problem: None,
        }
    }

    /// Encodes a value as JSON. An error is reported when the simulation begins.
    pub(super) fn payload<T: Serialize + ?Sized>(&mut self, value: &T) -> Payload {
        let payload = Payload::from_value(value);
        payload.unwrap_or_else(|error: PayloadError| {
            self.problem = Some(error.to_string());
            Payload::null()
        })
    }

    pub(super) fn add_event<E: Event>(&mut self, at: Duration, event: &E, once: bool) {
        let payload = self.payload(event);
        let dedup_id = once.then(|| format!("event-{}", self.events.len() + 1));
        self.events.push(PlannedEvent {
            at,
            name: E::NAME,
            payload,
            dedup_id,
        });
    }

    /// The locations of the given steps (location and name) that may fail.
    pub(super) fn may_fail(&self, steps: Vec<(String, String)>) -> Vec<String> {
        let may_fail = |place: &String, name: &String| match &self.failing {
            Failing::All => true,
            Failing::Named(names) => names.contains(place) || names.contains(name),
        };
        let steps = steps.into_iter();
        let failing = steps.filter(|(place, name)| may_fail(place, name));
        failing.map(|(place, _)| place).collect()
    }

    /// The index of the answer to rpcs of this method.
    pub(super) fn answer_to(&self, method: &Name) -> Option<usize> {
        let mut answers = self.answers.iter();
        answers.position(|answer| answer.method == method.as_str())
    }

    /// The mocks of the test.
    pub(super) fn mocks(&self) -> MockedSteps {
        let mocks = MockedSteps::default();
        for (step, mock) in &self.mocks {
            mocks.add(step.clone(), mock.clone());
        }
        mocks
    }
}
