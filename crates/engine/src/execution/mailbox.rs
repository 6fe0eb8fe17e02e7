//! The mailbox of an executor: messages from the engine to the task that executes a run. One lock,
//! one waker, no allocation when empty.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use everstep_store::Fence;

use crate::lock::lock;
use crate::workers::Message;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Letter {
    Message(Message),
    /// The run is ready, and this is the claim under which the executor resumes.
    Claim(Fence),
}

impl From<Message> for Letter {
    fn from(message: Message) -> Self {
        Self::Message(message)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Mailbox(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    messages: VecDeque<Letter>,
    waker: Option<Waker>,
}

impl Mailbox {
    pub(crate) fn push(&self, letter: impl Into<Letter>) {
        let mut state = lock(&self.0);
        state.messages.push_back(letter.into());
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(crate) fn poll(&self, context: &mut Context<'_>) -> Poll<Letter> {
        let mut state = lock(&self.0);
        match state.messages.pop_front() {
            Some(letter) => Poll::Ready(letter),
            None => {
                match &mut state.waker {
                    Some(waker) => waker.clone_from(context.waker()),
                    empty => *empty = Some(context.waker().clone()),
                }
                Poll::Pending
            }
        }
    }
}
