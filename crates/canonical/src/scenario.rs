//! The interface of a canonical workflow, and how its code is registered with an engine or
//! replayed.

use std::fmt;
use std::pin::Pin;

use everstep::schemars::JsonSchema;
use everstep::testing::{Recording, ReplayError, replay_check_function};
use everstep::{AnyEvent, Ctx, Engine, EngineBuilder, Result, Workflows};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::assertions::AssertionFailed;
use crate::outside::Outside;

/// The name of a scenario's main workflow.
pub(crate) const WORKFLOW: &str = "w";

type DriveFuture = Pin<Box<dyn Future<Output = std::result::Result<(), AssertionFailed>> + Send>>;

/// A canonical workflow with its clients.
#[derive(Clone, Copy)]
pub struct Scenario {
    /// The name of the scenario.
    pub name: &'static str,
    define: fn(EngineBuilder, &Outside) -> EngineBuilder,
    replay: fn(ReplayRegistry, &Outside) -> ReplayRegistry,
    drive: fn(Engine, Outside) -> DriveFuture,
}

impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The parts of a scenario.
pub(crate) trait Canonical: 'static {
    const NAME: &'static str;
    type Output: Serialize + JsonSchema + Send + 'static;

    fn run(
        ctx: Ctx<AnyEvent>,
        outside: Outside,
    ) -> impl Future<Output = Result<Self::Output>> + Send;

    /// Registers the workflow and those it needs.
    fn define<R: Registry>(registry: R, outside: &Outside) -> R {
        let outside = outside.clone();
        registry.function(WORKFLOW, move |ctx, (): ()| Self::run(ctx, outside.clone()))
    }

    /// Drives the run to its end and checks the assertions. Repeated from the beginning after a
    /// crash.
    fn drive(
        engine: Engine,
        outside: Outside,
    ) -> impl Future<Output = std::result::Result<(), AssertionFailed>> + Send;
}

impl Scenario {
    pub(crate) const fn of<C: Canonical>() -> Self {
        Self {
            name: C::NAME,
            define: C::define::<EngineBuilder>,
            replay: C::define::<ReplayRegistry>,
            drive: |engine, outside| Box::pin(C::drive(engine, outside)),
        }
    }

    /// Registers the workflows with an engine.
    pub fn define(&self, builder: EngineBuilder, outside: &Outside) -> EngineBuilder {
        (self.define)(builder, outside)
    }

    /// Executes the scenario to its end.
    ///
    /// # Errors
    /// Returns the first assertion that failed.
    pub async fn drive(
        &self,
        engine: Engine,
        outside: &Outside,
    ) -> std::result::Result<(), AssertionFailed> {
        (self.drive)(engine, outside.clone()).await
    }

    /// Replays a journal of one of the workflows against the code.
    ///
    /// # Errors
    /// Fails if the journal does not match the code.
    pub fn replay(
        &self,
        workflow: &str,
        recording: Recording,
    ) -> std::result::Result<(), ReplayError> {
        let replaying = ReplayRegistry {
            workflow: workflow.to_owned(),
            recording,
            outcome: Ok(()),
        };
        (self.replay)(replaying, &Outside::of_replay()).outcome
    }
}

/// Accepts registrations of workflow functions.
pub trait Registry: Sized {
    /// Registers a function.
    #[must_use]
    fn function<F, I, O, Fut>(self, name: &str, function: F) -> Self
    where
        F: Fn(Ctx<AnyEvent>, I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O>> + Send + 'static,
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static;
}

impl Registry for EngineBuilder {
    fn function<F, I, O, Fut>(self, name: &str, function: F) -> Self
    where
        F: Fn(Ctx<AnyEvent>, I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O>> + Send + 'static,
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
    {
        self.workflows(Workflows::new().function(name, function))
    }
}

/// Replays a journal against the function it belongs to, and ignores the others.
pub struct ReplayRegistry {
    workflow: String,
    recording: Recording,
    outcome: std::result::Result<(), ReplayError>,
}

impl Registry for ReplayRegistry {
    fn function<F, I, O, Fut>(mut self, name: &str, function: F) -> Self
    where
        F: Fn(Ctx<AnyEvent>, I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O>> + Send + 'static,
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
    {
        if name == self.workflow {
            let replayed = replay_check_function(name, function, self.recording.clone());
            self.outcome = replayed.map(drop);
        }
        self
    }
}
