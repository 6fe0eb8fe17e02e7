//! The part all operations share: called once, resolved once, dropped properly.

use std::sync::Arc;
use std::task::{Context, Poll};

use everstep_machine::{OpId, Replay, Resolution};

use crate::error::{Error, Result};
use crate::execution::Shared;

/// One operation of one execution.
pub(super) struct Handle {
    shared: Arc<Shared>,
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
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
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

    /// Calls the operation on the first poll; later ones wait for its resolution.
    pub(super) fn poll(
        &mut self,
        context: &mut Context<'_>,
        call: impl FnOnce(&mut Replay) -> Result<Option<OpId>>,
    ) -> Poll<Result<Resolution>> {
        let Self { shared, state } = self;
        let polled = shared.with(|execution| match *state {
            State::New => match call(&mut execution.replay) {
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
