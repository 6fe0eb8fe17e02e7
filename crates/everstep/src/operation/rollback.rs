//! The code's own call to roll back: what is done is undone, and then the code goes on.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use everstep_machine::{CallSite, Resolution};
use everstep_model::{ErrorCode, Failure, Scope};

use super::handle::Handle;
use crate::ctx::Ctx;
use crate::error::{Error, Result};

impl<W> Ctx<W> {
    /// Undoes every step and child that is done and has an undo, the latest first, and then goes on. With nothing to undo it changes
    /// nothing. If an undo fails for good, the rest is not undone and this is an error.
    #[track_caller]
    pub fn rollback(&self) -> Rollback {
        let message = "the workflow asked to roll back";
        Rollback {
            handle: Handle::new(self.shared().clone()),
            scope: self.scope().clone(),
            reason: Failure::new(ErrorCode::WorkflowFailed, message).named("rollback"),
            site: CallSite::caller(),
        }
    }
}

/// The code's own call to undo what is done. Await it.
#[must_use = "a rollback does nothing until it is awaited"]
pub struct Rollback {
    handle: Handle,
    scope: Scope,
    reason: Failure,
    site: CallSite,
}

impl Rollback {
    /// Tells the undos that this is why.
    pub fn because(mut self, error: &Error) -> Self {
        self.reason = error.failure().clone();
        self
    }
}

impl Future for Rollback {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let (scope, reason, site) = (&this.scope, &this.reason, this.site);
        let resolved = this.handle.poll(context, |replay| {
            Ok(replay.call_rollback(scope, reason.clone(), site))
        });
        resolved.map(|resolution| match resolution? {
            Resolution::RolledBack(None) => Ok(()),
            Resolution::RolledBack(Some(failure)) => {
                Err(Error::from_failure(*failure).non_retryable())
            }
            other => Err(Error::fatal(format!(
                "a rollback was resolved by {other:?}"
            ))),
        })
    }
}

impl std::fmt::Debug for Rollback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Rollback")
    }
}
