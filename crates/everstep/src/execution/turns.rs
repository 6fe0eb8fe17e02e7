//! The turns of an execution: the machine resolves one operation, the code is polled once, and steps that may go on do.

use std::task::Poll;

use everstep_machine::Turn;
#[cfg(feature = "planted-bugs")]
use everstep_model::planted::{self, Bug};
use everstep_model::{Payload, Record, Timestamp};

use super::conclusion::Conclusion;
use super::executor::{Executor, Leave, Next};
use super::root::RunningRoot;
use crate::error::Error;

impl Executor {
    /// Does everything that can be done before something comes: a step that ends may let the code go on at once. Code that never
    /// waits for anything never gives way, as in any async function.
    pub(super) fn go_on(&mut self) -> Next {
        self.now = self.activation.now();
        loop {
            if self.advance() == Next::Exit {
                return Next::Exit;
            }
            if !self.work_on_steps() {
                return Next::GoOn;
            }
        }
    }

    /// Lets the machine take its turns until it waits for something.
    fn advance(&mut self) -> Next {
        while self.conclusion.is_none() {
            let mut state = self.shared.state();
            match state.replay.turn(self.now) {
                Turn::Start => {
                    drop(state);
                    self.start_code();
                }
                Turn::Resolved(op, resolution) => {
                    let waker = state.resolve(op, resolution);
                    drop(state);
                    if let Some(waker) = waker {
                        waker.wake();
                    }
                    #[cfg(feature = "planted-bugs")]
                    if planted::is(Bug::TwoResolvedPerPoll) {
                        self.shared.resolve_another();
                    }
                    self.poll_code();
                    self.end_defiant_code();
                }
                Turn::Idle => {
                    let has_said = state.replay.has_outgoing();
                    let is_cancelled = state.replay.cancellation().is_some();
                    drop(state);
                    if has_said {
                        self.collect(self.now);
                    }
                    if is_cancelled {
                        self.shared.announce_cancellation();
                    }
                    break;
                }
                Turn::Broken(failure) => {
                    drop(state);
                    self.drop_code();
                    self.broken = Some(*failure);
                    self.collect(self.now);
                    break;
                }
                Turn::Ended(_) => return Next::Exit,
                Turn::Pausing => break,
                Turn::Paused => self.conclusion = Some(Conclusion::Paused),
                Turn::Halted(halt) => self.conclusion = Some(Conclusion::Halted(halt)),
            }
        }
        Next::GoOn
    }

    /// Code that goes on and on after its run was cancelled is ended without its consent.
    fn end_defiant_code(&mut self) {
        if self.root.is_none() || !self.shared.state().replay.defies_cancellation() {
            return;
        }
        self.root = None;
        let error = Error::fatal("the code went on after its run was cancelled");
        self.shared.state().replay.returned(None);
        self.returned = Some(Err(error));
        self.collect(self.now);
    }

    fn start_code(&mut self) {
        let input = self
            .shared
            .state()
            .replay
            .facts()
            .map(|facts| facts.input.clone());
        let input = input.unwrap_or_else(Payload::null);
        self.root = Some(RunningRoot::new(
            self.definition.begin(self.shared.clone(), input),
        ));
        self.poll_code();
    }

    /// Polls the code once. What it says is of the moment before: it may take its time, and so the clock is looked at anew.
    fn poll_code(&mut self) {
        let Some(root) = &mut self.root else { return };
        if let Poll::Ready(returned) = root.poll() {
            // Dropping the function drops what it left open, which is part of what it said.
            self.root = None;
            let error = returned.as_ref().err().map(ToString::to_string);
            self.returned = Some(returned);
            self.shared.state().replay.returned(error.as_deref());
        }
        self.collect(self.now);
        self.now = self.activation.now();
    }

    /// Takes what the machine wants written.
    pub(super) fn collect(&mut self, now: Timestamp) {
        let mut state = self.shared.state();
        let (bodies, strict) = state.replay.take_outgoing();
        self.strict |= strict;
        self.unsent
            .extend(bodies.map(|body| Record { time: now, body }));
    }

    /// Lets steps begin and go on. A step may end at once, so this is repeated until nothing moves. Code that called a step
    /// and does not poll it holds it up, not the executor. Says whether the code was polled.
    fn work_on_steps(&mut self) -> bool {
        let mut was_polled = false;
        while self.conclusion.is_none() && self.root.is_some() {
            let mut is_woken = self.root.as_ref().is_some_and(RunningRoot::is_woken);
            if self.leave != Leave::Soon {
                let state = self.shared.state();
                let startable = state.replay.startable();
                let wakers: Vec<_> = startable.iter().filter_map(|op| state.waker(*op)).collect();
                drop(state);
                if startable != self.offered {
                    is_woken |= !wakers.is_empty();
                    wakers.into_iter().for_each(|waker| waker.wake());
                    self.offered = startable;
                }
            }
            if !is_woken {
                break;
            }
            self.poll_code();
            was_polled = true;
            // A halt found while polling ends the execution.
            let halted = self.shared.state().replay.halted().cloned();
            self.conclusion = halted.map(Conclusion::Halted);
        }
        was_polled
    }

    pub(super) fn drop_code(&mut self) {
        self.shared.state().replay.detach();
        self.root = None;
    }
}
