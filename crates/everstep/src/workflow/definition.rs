//! A registered workflow with its types erased.

use std::future::Future;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use everstep_model::{Description, ErrorCode, InvalidName, Name};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::workflow_trait::Workflow;
use crate::ctx::Ctx;
use crate::declaration::{Declaration, Interface, declared};
use crate::error::{Error, Result, encode};
use crate::execution::WorkflowCode;
use crate::options::Options;

/// A registered workflow. Clones share the code.
#[derive(Clone)]
pub(crate) struct Definition {
    pub(crate) name: Name,
    pub(crate) versions: RangeInclusive<u32>,
    pub(crate) options: Options,
    pub(crate) declaration: Arc<Declaration>,
    pub(crate) code: WorkflowCode,
}

impl Definition {
    pub(crate) fn of_workflow<W: Workflow>(workflow: W) -> std::result::Result<Self, InvalidName> {
        let workflow = Arc::new(workflow);
        Ok(Self {
            name: Name::new(W::NAME)?,
            versions: W::VERSIONS,
            options: W::options(),
            declaration: Arc::new(Declaration::of::<W::Input, W::Output>(declared::<
                W::Interface,
            >())),
            code: erase_types(move |ctx, input| {
                let workflow = workflow.clone();
                async move { workflow.run(ctx, input).await }
            }),
        })
    }

    pub(crate) fn of_function<F, C, I, O, Fut>(
        name: &str,
        options: Options,
        function: F,
    ) -> std::result::Result<Self, InvalidName>
    where
        F: Fn(Ctx<C>, I) -> Fut + Send + Sync + 'static,
        C: Interface,
        Fut: Future<Output = Result<O>> + Send + 'static,
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
    {
        Ok(Self {
            name: Name::new(name)?,
            versions: 1..=1,
            options,
            declaration: Arc::new(Declaration::of::<I, O>(declared::<C>())),
            code: erase_types(function),
        })
    }

    pub(crate) fn describe(&self) -> Description {
        let in_millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Description {
            deadline: self.options.deadline.map(in_millis),
            ..self.declaration.describe()
        }
    }
}

/// Decodes the input and encodes the output of workflow code.
fn erase_types<F, W, I, O, Fut>(run: F) -> WorkflowCode
where
    F: Fn(Ctx<W>, I) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O>> + Send + 'static,
    W: 'static,
    I: DeserializeOwned + Send + 'static,
    O: Serialize + Send + 'static,
{
    let run = Arc::new(run);
    Arc::new(move |shared, input| {
        let run = run.clone();
        Box::pin(async move {
            let input = input.decode().map_err(|error| {
                let message = format!("the input does not fit the workflow: {error}");
                Error::permanent(ErrorCode::Undecodable, message)
            })?;
            let output = run(Ctx::new(shared), input).await?;
            encode(&output, || "the workflow's result".to_owned())
        })
    })
}
