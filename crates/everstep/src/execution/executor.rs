//! The executor of one run: a task that folds the journal, polls the code, and writes what follows.
//!
//! It is one future. Each time it is woken it takes in messages, lets the machine take its turns (at most one
//! operation resolves per poll of the code), lets steps go on, and decides what to write: results at once, the rest with
//! them or a few milliseconds later, and a guarded suspension when nothing is left to do.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use everstep_engine::{Activation, Append, Message, Then};
use everstep_machine::{Halt, LeftChild, Obsolete, OpId, Replay, Turn, UndoState};
use everstep_model::planted::{self, Bug};
use everstep_model::{Body, Entry, Failure, Payload, Record, RecordNumber, Timestamp};
use everstep_store::{BoxFuture, StoreError};

use super::conclusion::{Conclusion, conclude};
use super::rollback::Undoing;
use super::root::RunningRoot;
use super::shared::{Shared, SharedParts};
use super::verify::second_look;
use crate::definition::Definition;
use crate::error::{Error, Result};

/// An append under way. Its records come back with the answer.
struct InFlight {
    /// Whether its last record is a decision, which rests on everything before it.
    decides: bool,
    then: Then,
    /// Rows of dropped operations that go with it.
    obsolete: Vec<Obsolete>,
    /// Children that the code no longer waits for, as its records say.
    left: Vec<LeftChild>,
}

/// Whether the executor's task goes on.
#[derive(PartialEq)]
pub(super) enum Next {
    GoOn,
    Exit,
}

pub(crate) struct Executor {
    pub(super) activation: Activation,
    pub(super) definition: Arc<Definition>,
    pub(super) shared: Arc<Shared>,
    root: Option<RunningRoot>,
    pub(super) returned: Option<Result<Payload>>,
    /// Why the run fails, whatever its code does.
    pub(super) broken: Option<Failure>,
    pub(super) undoing: Undoing,
    pub(super) conclusion: Option<Conclusion>,
    /// Records that happened and are not sent yet.
    pub(super) unsent: Vec<Record>,
    /// Whether the unsent records must be durable before the code goes on.
    pub(super) strict: bool,
    in_flight: Option<InFlight>,
    flush: Option<BoxFuture<'static, ()>>,
    pub(super) reading: Option<BoxFuture<'static, Result<Vec<Entry>, StoreError>>>,
    pub(super) read_again: bool,
    /// Whether it has the run again and has not read yet what others did with it meanwhile.
    pub(super) behind: bool,
    /// Steps that were told they may begin. Code that does not poll one is not told again and again.
    pub(super) offered: Vec<OpId>,
    suspended: bool,
    pub(super) stopping: bool,
    evicted: bool,
    /// Everything folded, kept in development mode for the second look.
    pub(super) history: Option<Vec<Entry>>,
}

impl Executor {
    pub(crate) fn new(
        mut activation: Activation,
        definition: Arc<Definition>,
        parts: SharedParts,
    ) -> Self {
        let journal = std::mem::take(&mut activation.journal);
        let development = activation.settings().development;
        let history = development.then(|| journal.clone());
        let mut replay = Replay::new(parts.run.clone(), parts.generation, journal);
        if development {
            replay.keep_call_sites();
        }
        replay.set_cautious(activation.cautious);
        Self {
            activation,
            definition,
            shared: Shared::new(parts, replay),
            root: None,
            returned: None,
            broken: None,
            undoing: Undoing::default(),
            conclusion: None,
            unsent: Vec::new(),
            strict: false,
            in_flight: None,
            flush: None,
            reading: None,
            read_again: false,
            behind: false,
            offered: Vec::new(),
            suspended: false,
            stopping: false,
            evicted: false,
            history,
        }
    }

    fn take_in(&mut self, message: Message) -> Next {
        match message {
            Message::Appended {
                first,
                before,
                records,
            } => return self.appended(first, before, records),
            Message::Missed { came, records } => self.missed(came, records),
            Message::Grew => self.read_on(),
            Message::Resumed(_) => {
                self.suspended = false;
                self.conclusion = None;
                self.behind = true;
                self.read_on();
            }
            Message::Lost => return Next::Exit,
            Message::Evict => {
                // It may come before the news of the suspension it follows.
                self.evicted = true;
                if self.suspended {
                    return Next::Exit;
                }
            }
            Message::Stop => {
                self.stopping = true;
                if self.suspended {
                    return Next::Exit;
                }
            }
        }
        Next::GoOn
    }

    /// What was decided in ignorance of what came is decided again.
    fn missed(&mut self, came: Vec<Entry>, mut records: Vec<Record>) {
        if let Some(Conclusion::RollBack(_)) = self.conclusion.take() {
            self.shared.state().replay.retract_rollback();
        }
        if let Some(in_flight) = self.in_flight.take() {
            if in_flight.decides {
                records.pop();
            }
            // What must be durable before the code goes on still must.
            self.strict |= !records.is_empty();
            self.unsent.splice(0..0, records);
            let mut state = self.shared.state();
            state.replay.put_back_obsolete(in_flight.obsolete);
            state.replay.put_back_left_children(in_flight.left);
        }
        self.extend_foreign(came);
    }

    fn appended(&mut self, first: RecordNumber, before: Vec<Entry>, records: Vec<Record>) -> Next {
        let Some(in_flight) = self.in_flight.take() else {
            return Next::GoOn;
        };
        self.extend(before);
        if records.iter().any(is_progress) {
            self.shared.state().replay.set_cautious(false);
        }
        let own = records
            .into_iter()
            .enumerate()
            .map(|(index, record)| Entry {
                number: first.plus(index),
                record,
            });
        self.extend(own);
        match in_flight.then {
            Then::Continue | Then::GoOnAs(_) => {
                // The execution begins again, from what the journal holds.
                let concluded = self.conclusion.take();
                if let Some(Conclusion::Retry(_) | Conclusion::Halted(_)) = concluded {
                    self.begin_again();
                }
                Next::GoOn
            }
            Then::Suspend(_) => {
                self.suspended = true;
                if self.stopping || self.evicted {
                    Next::Exit
                } else {
                    Next::GoOn
                }
            }
            Then::Park(_) | Then::Release | Then::End(_) | Then::EndAnyway(_) => Next::Exit,
        }
    }

    /// Lets the machine take its turns until it waits for something.
    fn advance(&mut self) -> Next {
        while self.conclusion.is_none() {
            let now = self.activation.now();
            let turn = self.shared.state().replay.turn(now);
            match turn {
                Turn::Start => self.start_code(now),
                Turn::Resolved(op, resolution) => {
                    let waker = self.shared.state().resolve(op, resolution);
                    if let Some(waker) = waker {
                        waker.wake();
                    }
                    if planted::is(Bug::TwoResolvedPerPoll) {
                        self.shared.resolve_another();
                    }
                    self.poll_code(now);
                    self.end_defiant_code(now);
                }
                Turn::Idle => {
                    self.collect(now);
                    self.shared.announce_cancellation();
                    break;
                }
                Turn::Broken(failure) => {
                    self.drop_code();
                    self.broken = Some(*failure);
                    self.collect(now);
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
    fn end_defiant_code(&mut self, now: Timestamp) {
        if self.root.is_none() || !self.shared.state().replay.defies_cancellation() {
            return;
        }
        self.root = None;
        let error = Error::fatal("the code went on after its run was cancelled");
        self.shared.state().replay.returned(None);
        self.returned = Some(Err(error));
        self.collect(now);
    }

    fn start_code(&mut self, now: Timestamp) {
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
        self.poll_code(now);
    }

    fn poll_code(&mut self, now: Timestamp) {
        let Some(root) = &mut self.root else { return };
        if let Poll::Ready(returned) = root.poll() {
            // Dropping the function drops what it left open, which is part of what it said.
            self.root = None;
            let error = returned.as_ref().err().map(ToString::to_string);
            self.returned = Some(returned);
            self.shared.state().replay.returned(error.as_deref());
        }
        self.collect(now);
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
    /// and does not poll it holds it up, not the executor.
    fn work_on_steps(&mut self) {
        while self.conclusion.is_none() && self.root.is_some() {
            let mut is_woken = self.root.as_ref().is_some_and(RunningRoot::is_woken);
            if !self.stopping {
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
                return;
            }
            let now = self.activation.now();
            self.poll_code(now);
            // A halt found while polling ends the execution.
            let halted = self.shared.state().replay.halted().cloned();
            self.conclusion = halted.map(Conclusion::Halted);
        }
    }

    /// Writes what must be written now. At most one append is under way.
    fn decide(&mut self, context: &mut Context<'_>) {
        if self.in_flight.is_some() || self.suspended {
            return;
        }
        if self.conclusion.is_none() && self.reading.is_none() {
            self.conclusion = self.conclude_if_done();
            self.work_on_undos(context);
        }
        if let Some(conclusion) = &self.conclusion {
            let now = self.activation.now();
            let (closing, then) = conclude(conclusion, &self.shared.state().replay, now);
            self.append(closing, then);
            return;
        }
        if self.strict {
            self.append(None, Then::Continue);
            return;
        }
        if !self.unsent.is_empty() && self.flush_is_due(context) {
            self.append(None, Then::Continue);
        }
    }

    /// Whether nothing is left to do here, and what follows from that.
    fn conclude_if_done(&mut self) -> Option<Conclusion> {
        let state = self.shared.state();
        if state.replay.is_pausing() {
            let is_quiet = state.replay.is_quiet() && self.undoing.is_quiet();
            return is_quiet.then_some(Conclusion::Pause);
        }
        drop(state);
        if let Some(next) = self.conclude_ending() {
            return next;
        }
        // What must be durable first resolves something.
        if self.strict {
            return None;
        }
        let state = self.shared.state();
        let undo = state.replay.undo_state();
        let in_flight = !state.replay.steps_in_flight().is_empty() || undo == UndoState::InFlight;
        let is_startable = !state.replay.startable().is_empty() || undo == UndoState::Due;
        if in_flight || (is_startable && !self.stopping) {
            return None;
        }
        if is_startable {
            return Some(Conclusion::Released);
        }
        if self.root.is_some() && state.replay.is_stuck() {
            let why = "the workflow awaits something that is not durable, and nothing can wake it again; await only what \
                       ctx offers, and put everything else inside steps";
            return Some(Conclusion::Halted(Halt::NotDurable(why.to_owned())));
        }
        let status = state.replay.resting_status();
        drop(state);
        Some(self.look_again(Conclusion::Suspended(status)))
    }

    /// In development mode: replays everything once more, and parks the run if the code does something else.
    pub(super) fn look_again(&mut self, conclusion: Conclusion) -> Conclusion {
        let Some(history) = &self.history else {
            return conclusion;
        };
        match second_look(
            &self.definition,
            &self.shared,
            history,
            &self.unsent,
            &conclusion,
        ) {
            Ok(()) => conclusion,
            Err(divergence) => {
                tracing::error!(run = %self.activation.run, %divergence, "hidden nondeterminism");
                Conclusion::Halted(Halt::Diverged(divergence))
            }
        }
    }

    fn flush_is_due(&mut self, context: &mut Context<'_>) -> bool {
        let lazy_flush = self.activation.settings().lazy_flush;
        let runtime = self.shared.runtime();
        let flush = self.flush.get_or_insert_with(|| runtime.sleep(lazy_flush));
        flush.as_mut().poll(context).is_ready()
    }

    fn append(&mut self, closing: Option<Record>, then: Then) {
        self.flush = None;
        self.strict = false;
        let mut records = std::mem::take(&mut self.unsent);
        let mut state = self.shared.state();
        let dropped = state.replay.take_obsolete();
        let mut obsolete = dropped.clone();
        let given_up = state.replay.take_left_children();
        let mut left = given_up.clone();
        if matches!(then, Then::End(_) | Then::EndAnyway(_)) {
            obsolete.extend(state.replay.remaining_rows());
            left.extend(state.replay.remaining_children());
        }
        let (seen, inbox_seen) = (state.replay.known(), state.replay.inbox_known());
        drop(state);
        let progress = records.iter().any(is_progress);
        self.in_flight = Some(InFlight {
            decides: closing.is_some(),
            then,
            obsolete: dropped,
            left: given_up,
        });
        records.extend(closing);
        self.activation.append(Append {
            records,
            then,
            seen,
            inbox_seen,
            progress,
            obsolete,
            left,
        });
    }

    pub(super) fn drop_code(&mut self) {
        self.shared.state().replay.detach();
        self.root = None;
    }

    /// Takes in everything that came, then does everything that follows from it: whatever is left wakes the task again.
    fn poll_once(&mut self, context: &mut Context<'_>) -> Next {
        while let Poll::Ready(message) = self.activation.poll_message(context) {
            if self.take_in(message) == Next::Exit {
                return Next::Exit;
            }
        }
        while let Poll::Ready(next) = self.poll_reading(context) {
            if next == Next::Exit {
                return Next::Exit;
            }
        }
        if self.stopping {
            self.shared.state().replay.begin_no_more();
        }
        // A step that others have done in between is not begun again.
        if self.suspended || self.behind || self.concluded_and_waiting() {
            return Next::GoOn;
        }
        if self.advance() == Next::Exit {
            return Next::Exit;
        }
        if let Some(root) = &self.root {
            root.watch(context);
        }
        self.work_on_steps();
        self.work_on_undos(context);
        self.decide(context);
        Next::GoOn
    }

    fn concluded_and_waiting(&self) -> bool {
        self.conclusion.is_some() && self.in_flight.is_some()
    }
}

/// Whether an operation resolves, or comes nearer to it, by this record.
fn is_progress(record: &Record) -> bool {
    matches!(
        record.body,
        Body::StepCompleted(_) | Body::StepFailed(_) | Body::UndoCompleted(_) | Body::UndoFailed(_)
    )
}

impl Future for Executor {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match self.poll_once(context) {
            Next::GoOn => Poll::Pending,
            Next::Exit => {
                self.drop_code();
                self.shared.forget_undos();
                Poll::Ready(())
            }
        }
    }
}
