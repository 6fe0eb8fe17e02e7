//! What a driver does next.

use std::collections::VecDeque;

use everstep_machine::{Access, Attempts, OpId, Turn};
use everstep_model::{Entry, Record, Timestamp};

use crate::action::{Action, ExecutionKind};
use crate::append::Then;
use crate::call_sites::CallSites;
use crate::conclusion::Conclusion;
use crate::dry::Dry;
use crate::execution::{Execution, Host};
use crate::history::History;
use crate::returned::Returned;
use crate::setup::Setup;
use crate::state::{
    CodeState, Driver, Leave, Look, LookPurpose, Offered, OnAnswer, Reading, Stage, Undoing,
};
use crate::unsent::{Unsent, Wants};

impl<H: Host> Driver<H> {
    /// Begins an activation with the run's whole journal.
    #[must_use]
    pub fn new(setup: Setup, journal: Vec<Entry>) -> Self {
        Self {
            history: setup.development.then(|| History::new(&journal)),
            live: Execution::live(&setup, journal),
            setup,
            code: CodeState::Absent,
            stage: Stage::Working,
            append: None,
            unsent: Unsent::default(),
            reading: Reading::Idle,
            undoing: Undoing::default(),
            leave: Leave::No,
            is_refused: false,
            queue: VecDeque::new(),
            offered: Offered::default(),
            now: Timestamp::default(),
            sites: CallSites::default(),
        }
    }

    /// Executes the code against a journal without writing anything. Ends with
    /// [`Action::Checked`].
    #[must_use]
    pub fn check(setup: Setup, journal: Vec<Entry>) -> Self {
        let dry = Dry::new(&setup, journal);
        let purpose = LookPurpose::Report;
        Self {
            stage: Stage::Looking(Box::new(Look { dry, purpose })),
            ..Self::new(setup, Vec::new())
        }
    }

    /// Changes the stage. An activation that is over stays over.
    pub(crate) fn enter(&mut self, stage: Stage<H>) {
        if !self.is_over() {
            self.stage = stage;
        }
    }

    pub(crate) fn replace_execution(&mut self, journal: Vec<Entry>) {
        self.live = Execution::live(&self.setup, journal);
        if self.leave == Leave::Soon {
            self.live.replay.set_attempts(Attempts::Ending);
        }
    }

    /// Returns the execution whose code is polled next.
    #[inline]
    pub fn current(&mut self) -> (&mut Execution<H>, ExecutionKind) {
        match &mut self.stage {
            Stage::Looking(look) => (&mut look.dry.execution, ExecutionKind::Dry),
            Stage::Searching(search) => (&mut search.dry.execution, ExecutionKind::Dry),
            Stage::Working
            | Stage::Concluding(_)
            | Stage::DecidingAgain
            | Stage::Suspended
            | Stage::CatchingUp
            | Stage::Over => (&mut self.live, ExecutionKind::Live),
        }
    }

    /// Returns the execution of the run itself.
    pub fn live(&mut self) -> &mut Execution<H> {
        &mut self.live
    }

    /// Registers the text of a call site of a shell, such as `file:line`, for
    /// [`CallSite::Shell`](everstep_machine::CallSite::Shell).
    pub fn add_site(&mut self, text: String) -> u32 {
        self.sites.add(text)
    }

    /// Returns whether the next action is [`Action::Exit`].
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over)
    }

    /// Returns the steps that [`Action::Begin`] is about.
    #[must_use]
    pub fn startable(&self) -> &[OpId] {
        &self.offered.0
    }

    /// Passes the time on to the code that is polled next, if it has changed since [`Self::next`].
    pub fn set_now(&mut self, now: Timestamp) {
        self.now = now;
        self.live.replay.set_wall(now);
    }

    /// Returns the next action. The shell performs it and calls this again, until it is
    /// [`Action::Wait`], [`Action::Append`] or [`Action::Exit`]. `now` may be the time before the
    /// last poll, as long as the shell calls [`Self::set_now`] before the next one. `is_woken` is
    /// whether something inside the code can continue without a resolution, such as the work of a
    /// step that the code itself polls.
    pub fn next(&mut self, now: Timestamp, is_woken: bool) -> Action {
        self.now = now;
        if let Stage::Over = self.stage {
            return Action::Exit;
        }
        if let Some(action) = self.queue.pop_front() {
            return action;
        }
        match &self.stage {
            Stage::Working => self.work(is_woken),
            Stage::Looking(_) => self.continue_look(),
            Stage::Searching(_) => self.continue_search(),
            Stage::Concluding(_) | Stage::DecidingAgain | Stage::Suspended | Stage::CatchingUp => {
                Action::Wait
            }
            Stage::Over => Action::Exit,
        }
    }

    fn work(&mut self, is_woken: bool) -> Action {
        if self.reading.is_whole() {
            return Action::Wait;
        }
        if let CodeState::IgnoresCancellation = self.code {
            self.live.replay.returned(None);
            self.code = CodeState::Returned(Returned::ignored_cancellation());
            self.unsent.collect(&mut self.live.replay, self.now);
        }
        match self.live.replay.turn(self.now) {
            Turn::Start => {
                self.code = CodeState::Running;
                return Action::Start(self.live.input());
            }
            Turn::Resolved(op, resolution) => return Action::Resolve(op, resolution),
            Turn::Idle => {
                self.unsent.collect(&mut self.live.replay, self.now);
                if self.live.take_cancellation() {
                    return Action::Cancel;
                }
            }
            Turn::Broken(failure) => {
                self.drop_code();
                self.code = CodeState::Broken(*failure);
                self.unsent.collect(&mut self.live.replay, self.now);
            }
            Turn::Ended(_) => {
                self.enter(Stage::Over);
                return Action::Exit;
            }
            Turn::Pausing => {}
            Turn::Paused => return self.conclude(Conclusion::Paused),
            Turn::Halted(halt) => return self.conclude(Conclusion::Halted(halt)),
        }
        if let Some(action) = self.queue.pop_front() {
            return action;
        }
        if let CodeState::Running = self.code {
            if self.leave != Leave::Soon && self.offered.update(&self.live.replay) {
                return Action::Begin;
            }
            if is_woken {
                return Action::Poll;
            }
        }
        match self.next_undo() {
            Some(action) => action,
            None => self.decide(),
        }
    }

    /// Records that the code waits again.
    pub fn settled(&mut self) {
        match &mut self.stage {
            Stage::Looking(look) => look.dry.settled(),
            Stage::Searching(search) => search.dry.settled(),
            _ => {
                self.live.forget_dropped();
                self.unsent.collect(&mut self.live.replay, self.now);
                let is_running = matches!(self.code, CodeState::Running);
                if is_running && self.live.replay.status().ignores_cancellation() {
                    self.queue.push_back(Action::Drop(ExecutionKind::Live));
                    self.code = CodeState::IgnoresCancellation;
                }
            }
        }
    }

    /// Takes in the end of the function. Everything that it left open was dropped.
    pub fn returned(&mut self, returned: Returned) {
        match &mut self.stage {
            Stage::Looking(look) => look.dry.returned(returned),
            Stage::Searching(search) => search.dry.returned(returned),
            _ => {
                self.live.replay.returned(returned.error());
                self.code = CodeState::Returned(returned);
                self.unsent.collect(&mut self.live.replay, self.now);
            }
        }
    }

    /// Records that the flush interval has passed.
    pub fn flush(&mut self) {
        self.unsent.flush();
    }

    /// Drops the code. Its open operations are not abandoned.
    pub(crate) fn drop_code(&mut self) {
        self.live.replay.set_access(Access::Detached);
        if let CodeState::Running = self.code {
            self.queue.push_back(Action::Drop(ExecutionKind::Live));
        }
        self.code = CodeState::Absent;
    }

    /// Writes a decision, or waits for the append in flight and decides again.
    pub(crate) fn conclude(&mut self, conclusion: Conclusion) -> Action {
        if self.append.is_some() {
            self.enter(Stage::DecidingAgain);
            return Action::Wait;
        }
        let on_answer = match &conclusion {
            Conclusion::Retry(_) | Conclusion::Halted(_) => OnAnswer::Restart,
            Conclusion::RollBack(_) => OnAnswer::ContinueRollback,
            _ => OnAnswer::Continue,
        };
        self.enter(Stage::Concluding(on_answer));
        let (replay, time) = (&self.live.replay, self.now);
        let body = conclusion.record(replay, self.sites.texts());
        let then = conclusion.then(replay);
        self.send(body.map(|body| Record { time, body }), then)
    }

    /// Writes what is due. Before the activation ends, everything else waits for its last append.
    pub(crate) fn write(&mut self) -> Action {
        if self.leave == Leave::Soon && !self.unsent.is_due_now() {
            return Action::Wait;
        }
        match self.unsent.wants() {
            Wants::Nothing => Action::Wait,
            Wants::Timer => Action::Flush,
            Wants::Append => {
                let then = self.undoing.shown_as(&self.code, &self.live.replay);
                self.send(None, then)
            }
        }
    }

    fn send(&mut self, closing: Option<Record>, then: Then) -> Action {
        let holds_back =
            self.leave == Leave::Soon && matches!(then, Then::Continue | Then::Release);
        let unbegun = match holds_back {
            true => self.unsent.take_unbegun(&self.live.replay),
            false => Vec::new(),
        };
        let (in_flight, append) = self.unsent.send(closing, then, &mut self.live.replay);
        self.unsent.hold(unbegun);
        self.append = Some(in_flight);
        Action::Append(append)
    }
}
