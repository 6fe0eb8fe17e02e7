//! The code's own call to roll back: what is done is undone, and then the code goes on.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use everstep_machine::{CallSite, Resolution};
use everstep_model::{ErrorCode, Failure, Scope};

use super::handle::Handle;
use crate::error::{Error, Result};
use crate::execution::Shared;

/// The code's own call to undo what is done. Await it.
#[must_use = "a rollback does nothing until it is awaited"]
pub struct Rollback {
    handle: Handle,
    scope: Scope,
    reason: Failure,
    site: CallSite,
}

impl Rollback {
    pub(crate) fn new(shared: Arc<Shared>, scope: Scope, site: CallSite) -> Self {
        let message = "the workflow asked to roll back";
        Self {
            handle: Handle::new(shared),
            scope,
            reason: Failure::new(ErrorCode::WorkflowFailed, message).named("rollback"),
            site,
        }
    }

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
