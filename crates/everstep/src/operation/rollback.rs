//! Rollbacks that the code calls: completed steps are undone, and then the code continues.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use everstep_machine::{CallSite, Resolution};
use everstep_model::{ErrorCode, Failure};

use super::handle::{Handle, unexpected};
use crate::ctx::Ctx;
use crate::error::{Error, Result};

impl<W> Ctx<W> {
    /// Undoes all completed steps and children that have an undo, the latest first, and then
    /// continues. If an undo fails for good, the rest is not undone, and this is an error.
    #[track_caller]
    pub fn rollback(&self) -> Rollback {
        let message = "the workflow asked to roll back";
        Rollback {
            handle: Handle::new(self, CallSite::caller()),
            reason: Failure::new(ErrorCode::WorkflowFailed, message).named("rollback"),
        }
    }
}

/// A rollback. Await it.
#[must_use = "a rollback does nothing until it is awaited"]
pub struct Rollback {
    handle: Handle,
    reason: Failure,
}

impl Rollback {
    /// Sets the reason that the undos receive.
    pub fn because(mut self, error: &Error) -> Self {
        self.reason = error.failure().clone();
        self
    }
}

impl Future for Rollback {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { handle, reason } = &mut *self;
        let resolved = handle.poll_with(context, |replay, scope, site| {
            Ok(replay.call_rollback(scope, reason.clone(), site))
        });
        resolved.map(|resolution| match resolution? {
            Resolution::RolledBack(None) => Ok(()),
            Resolution::RolledBack(Some(failure)) => {
                Err(Error::from_failure(*failure).non_retryable())
            }
            other => Err(unexpected("a rollback", &other)),
        })
    }
}

impl std::fmt::Debug for Rollback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Rollback")
    }
}
