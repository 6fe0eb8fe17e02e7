//! What an executor is told by a server far away, in the order in which the server said it.
//!
//! Answers to appends and news of the run come by different requests, so one may overtake the other. News says how many
//! appends were answered before it, and is held back until the executor has those answers.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use everstep_engine::Message;

#[derive(Default)]
pub(super) struct Inbox(Mutex<State>);

#[derive(Default)]
struct State {
    answers: VecDeque<Message>,
    /// Answers the executor has taken.
    taken: u64,
    /// News, each with the number of answers it comes after.
    news: VecDeque<(u64, Message)>,
    lost: bool,
    waker: Option<Waker>,
}

impl Inbox {
    /// The answer to the executor's append.
    pub(super) fn answer(&self, message: Message) {
        self.change(|state| state.answers.push_back(message));
    }

    /// News that was said after so many answers.
    pub(super) fn news(&self, after: u64, message: Message) {
        self.change(|state| match message {
            Message::Lost => state.lost = true,
            message => state.news.push_back((after, message)),
        });
    }

    /// The run is lost, whatever was said before.
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
mod tests {
    use everstep_model::RecordNumber;

    use super::*;

    fn next(inbox: &Inbox) -> Option<Message> {
        match inbox.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(message) => Some(message),
            Poll::Pending => None,
        }
    }

    #[test]
    fn news_waits_for_the_answers_that_were_given_before_it() {
        let inbox = Inbox::default();
        inbox.news(1, Message::Resumed);
        assert_eq!(next(&inbox), None);
        let answer = Message::Appended {
            first: RecordNumber(1),
            before: Vec::new(),
            records: Vec::new(),
        };
        inbox.answer(answer.clone());
        assert_eq!(next(&inbox), Some(answer));
        assert_eq!(next(&inbox), Some(Message::Resumed));
        assert_eq!(next(&inbox), None);
    }

    #[test]
    fn a_lost_run_is_lost_whatever_came_before() {
        let inbox = Inbox::default();
        inbox.news(5, Message::Grew);
        inbox.news(7, Message::Lost);
        assert_eq!(next(&inbox), Some(Message::Lost));
    }
}
