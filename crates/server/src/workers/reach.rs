//! Checks which other runs a worker may reach through the runs that it executes: a key that cannot
//! read or start runs of a workflow must not do so by a record.
//!
//! Other effects need no check: a run cancels and terminates only children that it has started.

use everstep_engine::{Append, Engine, ReadError};
use everstep_model::{Body, RunId};

use crate::auth::Caller;
use crate::failure::Failure;

/// Checks the targets of all records of an append.
pub(super) async fn check(
    engine: &Engine,
    caller: &Caller,
    append: &Append,
) -> Result<(), Failure> {
    for record in &append.records {
        match &record.body {
            // If the run exists with another workflow, the engine does not adopt it.
            Body::ChildStarted(child) => check_workflow(caller, child.workflow.as_str())?,
            Body::Sent(sent) => check_run(engine, caller, &sent.to).await?,
            _ => {}
        }
    }
    Ok(())
}

/// Checks the workflow of a run. A run that does not exist receives no events, unless this worker
/// has just started it.
async fn check_run(engine: &Engine, caller: &Caller, run: &RunId) -> Result<(), Failure> {
    match engine.row(run).await {
        Ok(row) => check_workflow(caller, row.workflow.as_str()),
        Err(ReadError::UnknownRun(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn check_workflow(caller: &Caller, workflow: &str) -> Result<(), Failure> {
    match caller.may_reach(workflow) {
        true => Ok(()),
        false => Err(Failure::forbidden(format!(
            "this key does not allow runs to start, await or send events to runs of workflow `{workflow}`; \
             create a key that names it in `reaches`"
        ))),
    }
}
