//! The in-process worker: finds the definition of a run's workflow and runs its executor.

use std::sync::Arc;
use std::time::Duration;

use everstep_engine::{Activation, Declares, Offer, Worker};
use everstep_model::{Description, Name, Payload};
use everstep_store::BoxFuture;

use super::definition::Definition;
use crate::execution::{Executor, Mocks, SharedParts};

/// The workflows of this process.
pub(crate) struct Registry {
    definitions: Vec<Arc<Definition>>,
    mocks: Option<Arc<dyn Mocks>>,
}

impl Registry {
    pub(crate) fn new(definitions: Vec<Definition>, mocks: Option<Arc<dyn Mocks>>) -> Self {
        Self {
            definitions: definitions.into_iter().map(Arc::new).collect(),
            mocks,
        }
    }

    pub(crate) fn find(&self, workflow: &Name) -> Option<&Arc<Definition>> {
        self.definitions
            .iter()
            .find(|definition| definition.name == *workflow)
    }
}

impl Declares for Definition {
    fn accepts(&self) -> Option<Vec<String>> {
        let events = self.declaration.events()?;
        Some(events.into_iter().map(str::to_owned).collect())
    }

    fn is_accepted(&self, event: &str) -> bool {
        self.declaration.is_accepted(event)
    }

    fn makes_rpc(&self, method: &str) -> bool {
        self.declaration.makes_rpc(method)
    }

    fn check_input(&self, input: &Payload) -> Result<(), String> {
        self.declaration.input.check(input)
    }

    fn check_event(&self, name: &str, payload: &Payload) -> Result<(), String> {
        self.declaration.check_event(name, payload)
    }

    fn check_answer(&self, method: &str, answer: &Payload) -> Option<Result<(), String>> {
        self.declaration.check_answer(method, answer)
    }

    fn deadline(&self) -> Option<Duration> {
        self.options.deadline
    }

    fn description(&self) -> Option<Description> {
        Some(self.describe())
    }
}

impl Worker for Registry {
    fn offers(&self) -> Vec<Offer> {
        let offers = self.definitions.iter().map(|definition| Offer {
            workflow: definition.name.clone(),
            versions: definition.versions.clone(),
        });
        offers.collect()
    }

    fn declares(&self, workflow: &Name) -> Option<Arc<dyn Declares>> {
        Some(self.find(workflow)?.clone())
    }

    fn execute(&self, activation: Activation) -> BoxFuture<'static, ()> {
        let Some(definition) = self.find(&activation.workflow) else {
            return Box::pin(std::future::ready(()));
        };
        let parts = SharedParts {
            run: activation.run.clone(),
            generation: activation.generation,
            workflow: definition.name.clone(),
            runtime: activation.seat.runtime().clone(),
            defaults: definition.options,
            declaration: definition.declaration.clone(),
            mocks: self.mocks.clone(),
        };
        Box::pin(Executor::new(activation, definition.code.clone(), parts))
    }
}
