//! The list of workflows that an engine or a worker executes, and the checks of this list.

use std::collections::HashSet;
use std::future::Future;

use everstep_model::{ErrorCode, InvalidName, Name};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::definition::Definition;
use super::workflow_trait::Workflow;
use crate::ctx::Ctx;
use crate::declaration::Interface;
use crate::error::Result;
use crate::options::Options;

/// Why workflows cannot be executed together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages explain the variants")]
pub enum RegisterError {
    #[error(transparent)]
    Name(#[from] InvalidName),
    #[error("two workflows are registered under the name `{0}`; names must differ")]
    NameTaken(Name),
    #[error("workflow `{workflow}`: {message}")]
    Options {
        /// The workflow, or `engine` for the defaults of all workflows.
        workflow: String,
        message: String,
    },
}

impl RegisterError {
    /// Returns the stable code of the error.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Name(_) => ErrorCode::InvalidName,
            Self::NameTaken(_) | Self::Options { .. } => ErrorCode::InvalidOptions,
        }
    }
}

/// A list of workflows for an engine, a worker or a test engine.
///
/// ```
/// use everstep::{Ctx, Engine, Error, Result, Worker, Workflows};
///
/// async fn greet(ctx: Ctx, name: String) -> Result<String> {
///     ctx.step("greeting", || async { Ok::<_, Error>(format!("hello {name}")) }).await
/// }
///
/// fn ours() -> Workflows {
///     Workflows::new().function("greet", greet)
/// }
///
/// let here = Engine::in_memory().workflows(ours());
/// let elsewhere = Worker::connect("http://localhost:4437").workflows(ours());
/// ```
#[derive(Clone, Default)]
#[must_use = "a list is registered with an engine or a worker"]
pub struct Workflows {
    // An invalid name is reported when the engine or worker starts, where errors are expected.
    definitions: Vec<std::result::Result<Definition, InvalidName>>,
}

impl Workflows {
    /// Creates an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a workflow.
    pub fn workflow<W: Workflow>(mut self, workflow: W) -> Self {
        self.definitions.push(Definition::of_workflow(workflow));
        self
    }

    /// Adds a plain async function as a workflow. The parameter of its [`Ctx`] is its interface:
    /// `Ctx` alone accepts no events and makes no rpcs, `Ctx<Payments>` those of
    /// [`interface!`](crate::interface) `Payments`, and `Ctx<`[`AnyEvent`](crate::AnyEvent)`>` all.
    pub fn function<F, C, I, O, Fut>(self, name: &str, function: F) -> Self
    where
        F: Fn(Ctx<C>, I) -> Fut + Send + Sync + 'static,
        C: Interface,
        Fut: Future<Output = Result<O>> + Send + 'static,
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
    {
        self.function_with(name, Options::new(), function)
    }

    /// Adds a plain async function as a workflow with options.
    pub fn function_with<F, C, I, O, Fut>(
        mut self,
        name: &str,
        options: Options,
        function: F,
    ) -> Self
    where
        F: Fn(Ctx<C>, I) -> Fut + Send + Sync + 'static,
        C: Interface,
        Fut: Future<Output = Result<O>> + Send + 'static,
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
    {
        self.definitions
            .push(Definition::of_function(name, options, function));
        self
    }

    /// Adds all workflows of another list.
    pub fn and(mut self, others: Self) -> Self {
        self.definitions.extend(others.definitions);
        self
    }

    #[must_use]
    #[allow(missing_docs, reason = "the name explains it")]
    pub fn len(&self) -> usize {
        self.definitions.len()
    }

    #[must_use]
    #[allow(missing_docs, reason = "the name explains it")]
    pub fn is_empty(&self) -> bool {
        self.definitions.is_empty()
    }

    /// The workflows with valid names.
    #[cfg(feature = "testing")]
    pub(crate) fn into_named(self) -> impl Iterator<Item = Definition> {
        self.definitions.into_iter().flatten()
    }

    /// Checks that the workflows can be executed together, and adds these defaults to their
    /// options.
    pub(crate) fn check(
        self,
        defaults: Options,
    ) -> std::result::Result<Vec<Definition>, RegisterError> {
        check_options("engine", &defaults)?;
        let mut names = HashSet::new();
        let mut definitions = Vec::new();
        for definition in self.definitions {
            let mut definition = definition?;
            if !names.insert(definition.name.clone()) {
                return Err(RegisterError::NameTaken(definition.name));
            }
            let name = definition.name.as_str();
            check_options(name, &definition.options)?;
            if definition.versions.is_empty() || *definition.versions.start() == 0 {
                return Err(RegisterError::Options {
                    workflow: name.to_owned(),
                    message: "versions count from 1, and the last must not be before the first"
                        .to_owned(),
                });
            }
            definition.options = definition.options.over(defaults);
            definitions.push(definition);
        }
        Ok(definitions)
    }
}

fn check_options(workflow: &str, options: &Options) -> std::result::Result<(), RegisterError> {
    options.check().map_err(|error| RegisterError::Options {
        workflow: workflow.to_owned(),
        message: error.to_string(),
    })
}

impl std::fmt::Debug for Workflows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.definitions.iter().map(|definition| match definition {
            Ok(definition) => definition.name.to_string(),
            Err(error) => error.to_string(),
        });
        f.debug_list().entries(names).finish()
    }
}
