//! The messages of an executor on a worker, in the order in which the server sent them.
//!
//! Responses to appends and notifications arrive by different requests, so one may overtake the
//! other. A notification has the number of appends that were answered before it, and is held back
//! until the executor has those answers.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use everstep_engine::Message;

#[derive(Default)]
pub(super) struct Inbox(Mutex<State>);

#[derive(Default)]
struct State {
    answers: VecDeque<Message>,
    /// Answers that the executor has received.
    taken: u64,
    /// Notifications with the number of answers before them.
    news: VecDeque<(u64, Message)>,
    lost: bool,
    waker: Option<Waker>,
}

impl Inbox {
    /// Adds the answer to an append.
    pub(super) fn answer(&self, message: Message) {
        self.change(|state| state.answers.push_back(message));
    }

    /// Adds a notification that follows this number of answers.
    pub(super) fn news(&self, after: u64, message: Message) {
        self.change(|state| match message {
            Message::Lost => state.lost = true,
            message => state.news.push_back((after, message)),
        });
    }

    /// Reports the run as lost before all other messages.
    pub(super) fn lose(&self) {
        self.change(|state| state.lost = true);
    }

    pub(super) fn poll(&self, context: &mut Context<'_>) -> Poll<Message> {
        let mut state = self.state();
        if state.lost {
            return Poll::Ready(Message::Lost);
        }
        if let Some(answer) = state.answers.pop_front() {
            state.taken += 1;
            return Poll::Ready(answer);
        }
        let taken = state.taken;
        if let Some((_, message)) = state.news.pop_front_if(|(after, _)| *after <= taken) {
            return Poll::Ready(message);
        }
        match &mut state.waker {
            Some(waker) => waker.clone_from(context.waker()),
            empty => *empty = Some(context.waker().clone()),
        }
        Poll::Pending
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state();
        change(&mut state);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
