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

/// What a poll came to.
enum Polled {
    Called(Result<Option<OpId>>),
    Waited(OpId, Option<Resolution>),
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
        let waker = context.waker();
        let polled = match self.state {
            State::New => self.shared.with(|execution| {
                let called = call(&mut execution.replay);
                if let Ok(Some(op)) = called {
                    execution.host.wait(op, waker);
                }
                Polled::Called(called)
            }),
            State::Open(op) => self.shared.with(|execution| {
                let resolution = execution.host.take_resolution(op);
                if resolution.is_none() {
                    execution.host.wait(op, waker);
                }
                Polled::Waited(op, resolution)
            }),
            State::Done => return Poll::Pending,
        };
        let (state, polled) = match polled {
            Some(Polled::Called(Ok(Some(op))) | Polled::Waited(op, None)) => {
                (State::Open(op), Poll::Pending)
            }
            // The run is halted, or its code is not being polled: the code stops here.
            Some(Polled::Called(Ok(None))) | None => (State::Done, Poll::Pending),
            Some(Polled::Called(Err(error))) => (State::Done, Poll::Ready(Err(error))),
            Some(Polled::Waited(_, Some(Resolution::Refused(failure)))) => {
                let error = Error::from_failure(*failure).non_retryable();
                (State::Done, Poll::Ready(Err(error)))
            }
            Some(Polled::Waited(_, Some(resolution))) => (State::Done, Poll::Ready(Ok(resolution))),
        };
        self.state = state;
        polled
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
