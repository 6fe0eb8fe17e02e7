//! The part that all operations share: an operation is called once, resolved once, and reported as
//! dropped.

use std::sync::Arc;
use std::task::{Context, Poll};

use everstep_machine::{Call, CallSite, OpId, Replay, Resolution};
use everstep_model::Scope;

use crate::ctx::Ctx;
use crate::error::{Error, Result};
use crate::execution::Shared;

/// One operation of one execution.
pub(super) struct Handle {
    shared: Arc<Shared>,
    scope: Scope,
    site: CallSite,
    state: State,
}

enum State {
    /// Not polled yet.
    New,
    /// Waiting for its record.
    Open(OpId),
    /// Resolved, or refused by the machine: nothing more to do.
    Done,
}

impl Handle {
    pub(super) fn new<W>(ctx: &Ctx<W>, site: CallSite) -> Self {
        Self {
            shared: ctx.shared().clone(),
            scope: ctx.scope().clone(),
            site,
            state: State::New,
        }
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(super) fn op(&self) -> Option<OpId> {
        match self.state {
            State::Open(op) => Some(op),
            State::New | State::Done => None,
        }
    }

    /// Calls the operation on the first poll, and then waits for its resolution.
    pub(super) fn poll<C: Call<Output = OpId>>(
        &mut self,
        context: &mut Context<'_>,
        name: &str,
        call: impl FnOnce(&mut Replay) -> Result<C>,
    ) -> Poll<Result<Resolution>> {
        self.poll_with(context, |replay, scope, site| {
            let name = replay.name(name)?;
            let call = call(replay)?;
            Ok(replay.call(scope, &name, call, site))
        })
    }

    /// Like [`Self::poll`], for operations that are not called by name alone.
    pub(super) fn poll_with(
        &mut self,
        context: &mut Context<'_>,
        call: impl FnOnce(&mut Replay, &Scope, CallSite) -> Result<Option<OpId>>,
    ) -> Poll<Result<Resolution>> {
        let Self {
            shared,
            scope,
            site,
            state,
        } = self;
        let polled = shared.with(|execution| match *state {
            State::New => match call(&mut execution.replay, scope, *site) {
                Ok(Some(op)) => {
                    *state = State::Open(op);
                    execution.host.wait(op, context.waker());
                    Poll::Pending
                }
                // The run is halted: the code stops here.
                Ok(None) => {
                    *state = State::Done;
                    Poll::Pending
                }
                Err(error) => {
                    *state = State::Done;
                    Poll::Ready(Err(error))
                }
            },
            State::Open(op) => match execution.host.take_resolution(op) {
                Some(Resolution::Refused(failure)) => {
                    *state = State::Done;
                    Poll::Ready(Err(Error::from_failure(*failure).non_retryable()))
                }
                Some(Resolution::Forced(forced)) => {
                    *state = State::Done;
                    let (location, failure) = *forced;
                    Poll::Ready(Err(Error::forced(location, failure)))
                }
                Some(resolution) => {
                    *state = State::Done;
                    Poll::Ready(Ok(resolution))
                }
                None => {
                    execution.host.wait(op, context.waker());
                    Poll::Pending
                }
            },
            State::Done => Poll::Pending,
        });
        polled.unwrap_or(Poll::Pending)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if let State::Open(op) = self.state {
            self.shared.with(|execution| {
                execution.host.forget(op);
                execution.replay.drop_operation(op);
            });
        }
    }
}

/// The error of an operation that was resolved by the result of another kind of operation.
pub(super) fn unexpected(operation: &str, resolution: &Resolution) -> Error {
    Error::fatal(format!("{operation} was resolved by {resolution:?}"))
}
