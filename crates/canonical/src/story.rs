//! A story as those who tell it see it, and how its code meets an engine or a recorded journal.

use std::fmt;
use std::pin::Pin;

use everstep::testing::{Recording, ReplayError, replay_check_function};
use everstep::{Ctx, Engine, EngineBuilder, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::claims::Broken;
use crate::outside::Outside;

/// The workflow of a story's own run.
pub(crate) const WORKFLOW: &str = "w";

type Told = Pin<Box<dyn Future<Output = std::result::Result<(), Broken>> + Send>>;

/// One canonical workflow with its clients.
#[derive(Clone, Copy)]
pub struct Story {
    /// What it is about.
    pub name: &'static str,
    define: fn(EngineBuilder, &Outside) -> EngineBuilder,
    replay: fn(Replaying, &Outside) -> Replaying,
    tell: fn(Engine, Outside) -> Told,
}

impl fmt::Debug for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// What a story consists of.
pub(crate) trait Canonical: 'static {
    const NAME: &'static str;
    type Output: Serialize + Send + 'static;

    /// The workflow.
    fn run(ctx: Ctx, outside: Outside) -> impl Future<Output = Result<Self::Output>> + Send;

    /// Registers the workflow, and those it needs.
    fn define<R: Registry>(registry: R, outside: &Outside) -> R {
        let outside = outside.clone();
        registry.function(WORKFLOW, move |ctx, (): ()| Self::run(ctx, outside.clone()))
    }

    /// Drives the run to its end and compares. It is told again from the beginning after its process died.
    fn tell(
        engine: Engine,
        outside: Outside,
    ) -> impl Future<Output = std::result::Result<(), Broken>> + Send;
}

impl Story {
    pub(crate) const fn of<C: Canonical>() -> Self {
        Self {
            name: C::NAME,
            define: C::define::<EngineBuilder>,
            replay: C::define::<Replaying>,
            tell: |engine, outside| Box::pin(C::tell(engine, outside)),
        }
    }

    /// Registers its workflows with an engine.
    #[must_use]
    pub fn define(&self, builder: EngineBuilder, outside: &Outside) -> EngineBuilder {
        (self.define)(builder, outside)
    }

    /// Tells it to its end.
    ///
    /// # Errors
    /// If something that must be true is not.
    pub async fn tell(&self, engine: Engine, outside: &Outside) -> std::result::Result<(), Broken> {
        (self.tell)(engine, outside.clone()).await
    }

    /// Replays a journal of one of its workflows against the code.
    ///
    /// # Errors
    /// If the journal does not fit the code.
    pub fn replay(
        &self,
        workflow: &str,
        recording: Recording,
    ) -> std::result::Result<(), ReplayError> {
        let replaying = Replaying {
            workflow: workflow.to_owned(),
            recording,
            outcome: Ok(()),
        };
        (self.replay)(replaying, &Outside::of_replay()).outcome
    }
}

/// Where workflow code is registered.
pub trait Registry: Sized {
    /// Registers a function.
    #[must_use]
    fn function<F, I, O, Fut>(self, name: &str, function: F) -> Self
    where
        F: Fn(Ctx, I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O>> + Send + 'static,
        I: DeserializeOwned + Send + 'static,
        O: Serialize + Send + 'static;
}

impl Registry for EngineBuilder {
    fn function<F, I, O, Fut>(self, name: &str, function: F) -> Self
    where
        F: Fn(Ctx, I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O>> + Send + 'static,
        I: DeserializeOwned + Send + 'static,
        O: Serialize + Send + 'static,
    {
        Self::function(self, name, function)
    }
}

/// Replays a journal against the one function it is of.
pub struct Replaying {
    workflow: String,
    recording: Recording,
    outcome: std::result::Result<(), ReplayError>,
}

impl Registry for Replaying {
    fn function<F, I, O, Fut>(mut self, name: &str, function: F) -> Self
    where
        F: Fn(Ctx, I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O>> + Send + 'static,
        I: DeserializeOwned + Send + 'static,
        O: Serialize + Send + 'static,
    {
        if name == self.workflow {
            let replayed = replay_check_function(name, function, self.recording.clone());
            self.outcome = replayed.map(drop);
        }
        self
    }
}
