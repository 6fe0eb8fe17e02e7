//! The in-process worker: finds the definition of a run's workflow and runs its executor.

use std::sync::Arc;

use everstep_engine::{Activation, Offer, Worker};
use everstep_model::Name;
use everstep_store::BoxFuture;

use crate::definition::Definition;
use crate::execution::{Executor, Mocks, SharedParts};
use crate::options::Options;

/// The workflows of this process.
pub(crate) struct Registry {
    definitions: Vec<Arc<Definition>>,
    defaults: Options,
    mocks: Option<Arc<dyn Mocks>>,
}

impl Registry {
    pub(crate) fn new(
        definitions: Vec<Definition>,
        defaults: Options,
        mocks: Option<Arc<dyn Mocks>>,
    ) -> Self {
        Self {
            definitions: definitions.into_iter().map(Arc::new).collect(),
            defaults,
            mocks,
        }
    }

    /// How long runs of this workflow may take.
    pub(crate) fn deadline(&self, definition: &Definition) -> Option<std::time::Duration> {
        definition.options.over(self.defaults).deadline
    }

    pub(crate) fn find(&self, workflow: &Name) -> Option<&Arc<Definition>> {
        self.definitions
            .iter()
            .find(|definition| definition.name == *workflow)
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

    fn deadline(&self, workflow: &Name) -> Option<std::time::Duration> {
        let definition = self.find(workflow)?;
        definition.options.over(self.defaults).deadline
    }

    fn execute(&self, activation: Activation) -> BoxFuture<'static, ()> {
        let Some(definition) = self.find(&activation.workflow).cloned() else {
            return Box::pin(std::future::ready(()));
        };
        let parts = SharedParts {
            run: activation.run.clone(),
            generation: activation.generation,
            workflow: definition.name.clone(),
            runtime: activation.runtime(),
            defaults: definition.options.over(self.defaults),
            declaration: definition.declaration.clone(),
            mocks: self.mocks.clone(),
        };
        Box::pin(Executor::new(activation, definition, parts))
    }
}
