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
        let mut state = self.shared.state();
        match self.state {
            State::New => match call(&mut state.replay) {
                Ok(Some(op)) => {
                    self.state = State::Open(op);
                    state.wait(op, context.waker());
                    Poll::Pending
                }
                // The machine halted the run: the code stops here.
                Ok(None) => {
                    self.state = State::Done;
                    Poll::Pending
                }
                Err(error) => {
                    self.state = State::Done;
                    Poll::Ready(Err(error))
                }
            },
            State::Open(op) => match state.take_resolution(op) {
                Some(Resolution::Refused(failure)) => {
                    self.state = State::Done;
                    Poll::Ready(Err(Error::from_failure(*failure).non_retryable()))
                }
                Some(resolution) => {
                    self.state = State::Done;
                    Poll::Ready(Ok(resolution))
                }
                None => {
                    state.wait(op, context.waker());
                    Poll::Pending
                }
            },
            State::Done => Poll::Pending,
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if let State::Open(op) = self.state {
            let mut state = self.shared.state();
            state.forget(op);
            state.replay.drop_operation(op);
        }
    }
}
