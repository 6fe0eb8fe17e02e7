//! A run's mailbox: what the engine tells the task that executes it. One lock, one waker, no allocation when empty.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::activation::Message;

#[derive(Debug, Default)]
pub(crate) struct Mailbox(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    messages: VecDeque<Message>,
    waker: Option<Waker>,
}

impl Mailbox {
    pub(crate) fn push(&self, message: Message) {
        let mut state = self.state();
        state.messages.push_back(message);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(crate) fn poll(&self, context: &mut Context<'_>) -> Poll<Message> {
        let mut state = self.state();
        match state.messages.pop_front() {
            Some(message) => Poll::Ready(message),
            None => {
                match &mut state.waker {
                    Some(waker) => waker.clone_from(context.waker()),
                    empty => *empty = Some(context.waker().clone()),
                }
                Poll::Pending
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
