//! The code of one execution: the workflow function as a future, and what it shares with `Ctx`.

use std::sync::Arc;
use std::task::Poll;

use everstep_driver::{CodeFailure, Execution, Returned};
use everstep_model::{ErrorCode, Payload};

use super::current::{OwnedDriver, lend};
use super::root::{RunningRoot, WorkflowCode};
use super::shared::{Shared, SharedParts};
use super::slots::Slots;
use crate::error::{Error, Result};

/// Code that was started.
pub(super) struct StartedCode {
    pub(super) shared: Arc<Shared>,
    /// `None` once the function has returned or was dropped.
    root: Option<RunningRoot>,
}

impl StartedCode {
    /// Starts the code of the driver's current execution.
    pub(super) fn new(
        code: &WorkflowCode,
        parts: &Arc<SharedParts>,
        driver: &mut OwnedDriver,
        input: Payload,
    ) -> Self {
        let (execution, _) = driver.current();
        let shared = Arc::new(Shared::new(parts.clone(), &execution.replay));
        execution.host.key = shared.key;
        let root = RunningRoot::new(code(shared.clone(), input));
        Self {
            shared,
            root: Some(root),
        }
    }

    pub(super) fn root(&self) -> Option<&RunningRoot> {
        self.root.as_ref()
    }

    pub(super) fn is_woken(&self) -> bool {
        self.root.as_ref().is_some_and(RunningRoot::is_woken)
    }

    /// Polls the code once and reports the result to the driver.
    pub(super) fn poll(&mut self, mut driver: OwnedDriver) -> Option<OwnedDriver> {
        if self.root.is_none() {
            return Some(driver);
        }
        self.shared
            .set_now(driver.current().0.replay.position().now);
        let slot = &mut self.root;
        let (driver, polled) = lend(driver, || {
            let polled = slot.as_mut().map_or(Poll::Pending, RunningRoot::poll);
            if polled.is_ready() {
                // Dropping the function drops what it left open, which is part of its script.
                *slot = None;
            }
            polled
        });
        let mut driver = driver?;
        self.halt_if_misused(driver.current().0);
        match polled {
            Poll::Ready(result) => driver.returned(returned(result)),
            Poll::Pending => driver.settled(),
        }
        Some(driver)
    }

    /// Fails the run if the code used a handle where it is not being polled. An execution that has
    /// replaced that of this code is not affected.
    pub(super) fn halt_if_misused(&self, execution: &mut Execution<Slots>) {
        if execution.host.key == self.shared.key
            && let Some(why) = self.shared.misused()
        {
            execution.replay.halt_not_durable(why.to_owned());
        }
    }

    /// Drops the function.
    pub(super) fn drop_root(&mut self, driver: OwnedDriver) -> Option<OwnedDriver> {
        let root = self.root.take();
        lend(driver, || drop(root)).0
    }
}

fn returned(result: Result<Payload>) -> Returned {
    match result {
        Ok(result) => Returned::Completed(result),
        Err(error) => Returned::Failed(Box::new(CodeFailure {
            text: error.to_string(),
            causes: error.causes(),
            is_worth_another_pass: error.is_worth_another_pass(),
            failure: run_failure(error),
        })),
    }
}

/// The failure of a step keeps its code. Any other error is the workflow's.
fn run_failure(error: Error) -> everstep_model::Failure {
    let is_of_step = error.step_failure().is_some();
    let mut failure = error.into_failure();
    if !is_of_step && failure.is(ErrorCode::StepFailed) {
        failure.code = ErrorCode::WorkflowFailed.as_str().to_owned();
    }
    failure
}
