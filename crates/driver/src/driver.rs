//! The driver: its states, and what it does next.

use std::collections::VecDeque;

use everstep_machine::{Halt, OpId, Turn};
use everstep_model::{Entry, ErrorCode, Failure, Payload, Record, Timestamp};

use crate::action::{Action, Code as CodeOf};
use crate::append::{Append, Then};
use crate::conclusion::{Conclusion, conclude};
use crate::dry::Dry;
use crate::execution::{Execution, Host};
use crate::look::{AfterLook, Look};
use crate::outbox::{InFlight, Outbox, Wants, is_progress};
use crate::reading::Reading;
use crate::returned::{CodeFailure, Returned};
use crate::search::Search;
use crate::setup::Setup;
use crate::undoing::Undoing;

/// The state machine of one activation. See the crate's documentation.
#[derive(Debug)]
pub struct Driver<H> {
    pub(crate) setup: Setup,
    pub(crate) live: Execution<H>,
    pub(crate) code: Code,
    pub(crate) stage: Stage<H>,
    pub(crate) append: Option<InFlight>,
    pub(crate) outbox: Outbox,
    pub(crate) reading: Reading,
    pub(crate) undoing: Undoing,
    pub(crate) leave: Leave,
    /// Actions that messages led to.
    pub(crate) queue: VecDeque<Action>,
    /// Steps that were offered to the code. Code that does not begin one is not asked again.
    pub(crate) offered: Vec<OpId>,
    pub(crate) now: Timestamp,
    /// Everything folded, kept in development mode for the second look.
    pub(crate) history: Option<Vec<Entry>>,
}

/// What the activation is doing.
#[derive(Debug)]
pub(crate) enum Stage<H> {
    /// It folds, lets the code continue, and writes.
    Working,
    /// A decision is made, and an append is in flight: the one of the decision, or an earlier one
    /// after which it is made again.
    Concluding(After),
    /// A dry execution repeats what led to a decision.
    Looking(Box<Look<H>>),
    /// Dry executions search for undos of earlier passes.
    Searching(Box<Search<H>>),
    /// The run is suspended and stays in memory.
    Suspended,
    /// The run has work again. Records that other nodes wrote meanwhile are being read.
    CatchingUp,
    Over,
}

/// What follows the answer to an append, besides what it means for the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    Continue,
    /// Execute the code again, from what the journal then contains.
    Restart,
    /// If the append is refused, the rollback was not announced.
    Announced,
}

/// The code of the live execution.
#[derive(Debug)]
pub(crate) enum Code {
    /// Not started, or dropped.
    Absent,
    Running,
    /// It continues although its run was cancelled, and is dropped.
    Defiant,
    Returned(Returned),
    /// Dropped, because the deadline passed or an operator made the run fail.
    Broken(Failure),
}

/// Whether the engine asked the activation to end. Later variants take precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Leave {
    No,
    /// When the run is suspended.
    WhenSuspended,
    /// When the steps in flight have ended.
    Soon,
}

impl<H: Host> Driver<H> {
    /// Begins an activation with the run's whole journal.
    #[must_use]
    pub fn new(setup: Setup, journal: Vec<Entry>) -> Self {
        let history = setup.development.then(|| journal.clone());
        let mut driver = Self::in_stage(setup, Stage::Working);
        driver.history = history;
        driver.execute_anew(journal);
        driver
    }

    /// Executes the code against a journal without writing anything. Ends with
    /// [`Action::Checked`].
    #[must_use]
    pub fn check(setup: Setup, journal: Vec<Entry>) -> Self {
        let mut driver = Self::in_stage(setup, Stage::Over);
        driver.stage = Stage::Looking(Box::new(Look {
            dry: Dry::new(&driver.setup, journal),
            then: AfterLook::Report,
        }));
        driver
    }

    fn in_stage(setup: Setup, stage: Stage<H>) -> Self {
        Self {
            live: Execution::new(&setup, Vec::new()),
            setup,
            code: Code::Absent,
            stage,
            append: None,
            outbox: Outbox::new(),
            reading: Reading::Idle,
            undoing: Undoing::default(),
            leave: Leave::No,
            queue: VecDeque::new(),
            offered: Vec::new(),
            now: Timestamp::default(),
            history: None,
        }
    }

    /// Replaces the live execution.
    pub(crate) fn execute_anew(&mut self, journal: Vec<Entry>) {
        self.live = Execution::new(&self.setup, journal);
        let replay = &mut self.live.replay;
        if self.setup.development {
            replay.keep_call_sites();
        }
        replay.set_cautious(self.setup.cautious);
        if self.leave == Leave::Soon {
            replay.begin_no_more();
        }
    }

    /// The execution whose code is polled next, and whether it is dry.
    pub fn current(&mut self) -> (&mut Execution<H>, CodeOf) {
        match &mut self.stage {
            Stage::Looking(look) => (&mut look.dry.execution, CodeOf::Dry),
            Stage::Searching(search) => (&mut search.dry.execution, CodeOf::Dry),
            Stage::Working
            | Stage::Concluding(_)
            | Stage::Suspended
            | Stage::CatchingUp
            | Stage::Over => (&mut self.live, CodeOf::Live),
        }
    }

    /// The execution of the run itself.
    pub fn live(&mut self) -> &mut Execution<H> {
        &mut self.live
    }

    /// Whether the next action is [`Action::Exit`].
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over)
    }

    /// The steps that [`Action::Begin`] is about.
    #[must_use]
    pub fn startable(&self) -> &[OpId] {
        &self.offered
    }

    /// The next action. The shell performs it and asks again, until it is [`Action::Wait`] or
    /// [`Action::Exit`]. `is_woken` says whether something inside the code can continue without a
    /// resolution, such as the work of a step that the code itself polls.
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
            Stage::Looking(_) => self.look_on(),
            Stage::Searching(_) => self.search_on(),
            Stage::Concluding(_) | Stage::Suspended | Stage::CatchingUp => Action::Wait,
            Stage::Over => Action::Exit,
        }
    }

    fn work(&mut self, is_woken: bool) -> Action {
        if self.reading.is_whole() {
            return Action::Wait;
        }
        if let Code::Defiant = self.code {
            self.end_defiant_code();
        }
        match self.live.replay.turn(self.now) {
            Turn::Start => return self.start(),
            Turn::Resolved(op, resolution) => return Action::Resolve(op, resolution),
            Turn::Idle => {
                self.collect();
                if self.live.take_cancellation() {
                    return Action::Cancel;
                }
            }
            Turn::Broken(failure) => {
                self.drop_code();
                self.code = Code::Broken(*failure);
                self.collect();
            }
            Turn::Ended(_) => return self.exit(),
            Turn::Pausing => {}
            Turn::Paused => return self.conclude(Conclusion::Paused),
            Turn::Halted(halt) => return self.conclude(Conclusion::Halted(halt)),
        }
        if let Some(action) = self.queue.pop_front() {
            return action;
        }
        if let Code::Running = self.code {
            if self.leave != Leave::Soon && self.offer_steps() {
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

    fn start(&mut self) -> Action {
        self.code = Code::Running;
        let facts = self.live.replay.facts();
        Action::Start(facts.map_or_else(Payload::null, |facts| facts.input.clone()))
    }

    /// Whether there are steps to begin that the code was not offered yet.
    fn offer_steps(&mut self) -> bool {
        let startable = self.live.replay.startable();
        if startable.clone().eq(self.offered.iter().copied()) {
            return false;
        }
        self.offered = startable.collect();
        !self.offered.is_empty()
    }

    /// The code waits again.
    pub fn settled(&mut self) {
        match &mut self.stage {
            Stage::Looking(look) => look.dry.settled(),
            Stage::Searching(search) => search.dry.settled(),
            _ => {
                self.live.forget_dropped();
                self.collect();
                let is_running = matches!(self.code, Code::Running);
                if is_running && self.live.replay.defies_cancellation() {
                    self.queue.push_back(Action::Drop(CodeOf::Live));
                    self.code = Code::Defiant;
                }
            }
        }
    }

    /// The function has ended, and everything that it left open was dropped.
    pub fn returned(&mut self, returned: Returned) {
        match &mut self.stage {
            Stage::Looking(look) => look.dry.returned(returned),
            Stage::Searching(search) => search.dry.returned(returned),
            _ => {
                self.live.replay.returned(returned.error());
                self.code = Code::Returned(returned);
                self.collect();
            }
        }
    }

    /// The flush interval has passed.
    pub fn flush(&mut self) {
        self.outbox.flush();
    }

    /// Halts the run: its code used something that is not durable.
    pub fn halt(&mut self, why: String) {
        self.live.replay.halt_not_durable(why);
    }

    /// Resolves another operation before the code is polled. Only a planted bug asks for it.
    #[cfg(feature = "planted-bugs")]
    pub fn resolve_another(&mut self) -> Option<(OpId, everstep_machine::Resolution)> {
        self.live.replay.resolve_another()
    }

    fn end_defiant_code(&mut self) {
        let message = "the code went on after its run was cancelled";
        let mut failure = Failure::new(ErrorCode::StepFailed, message).named("Error");
        let text = failure.to_string();
        failure.code = ErrorCode::WorkflowFailed.as_str().to_owned();
        self.live.replay.returned(None);
        self.code = Code::Returned(Returned::Failed(Box::new(CodeFailure {
            failure,
            text,
            causes: Vec::new(),
            is_worth_another_pass: false,
        })));
        self.collect();
    }

    /// Takes what the fold wants written.
    pub(crate) fn collect(&mut self) {
        let replay = &mut self.live.replay;
        if replay.has_outgoing() {
            let (bodies, strict) = replay.take_outgoing();
            self.outbox.add(bodies, strict, self.now);
        }
    }

    /// Throws the code away. What it left open is not abandoned.
    pub(crate) fn drop_code(&mut self) {
        self.live.replay.detach();
        if let Code::Running = self.code {
            self.queue.push_back(Action::Drop(CodeOf::Live));
        }
        self.code = Code::Absent;
    }

    /// Performs an action after those that are queued.
    pub(crate) fn enqueue(&mut self, action: Action) {
        if action != Action::Wait {
            self.queue.push_back(action);
        }
    }

    pub(crate) fn exit(&mut self) -> Action {
        self.stage = Stage::Over;
        Action::Exit
    }

    /// Writes a decision, or waits for the append in flight and decides again.
    pub(crate) fn conclude(&mut self, conclusion: Conclusion) -> Action {
        let after = match &conclusion {
            Conclusion::Retry(_) | Conclusion::Halted(_) => After::Restart,
            Conclusion::RollBack(_) => After::Announced,
            _ => After::Continue,
        };
        self.stage = Stage::Concluding(after);
        if self.append.is_some() {
            return Action::Wait;
        }
        let (closing, then) = conclude(&conclusion, &self.live.replay, self.now);
        let mut records = self.outbox.take();
        let decides = closing.is_some();
        let progress = records.iter().any(is_progress);
        records.extend(closing);
        self.send(records, decides, progress, then)
    }

    /// Writes what is due.
    pub(crate) fn write(&mut self) -> Action {
        match self.outbox.wants() {
            Wants::Nothing => Action::Wait,
            Wants::Timer => Action::Flush,
            Wants::Append => {
                let records = self.outbox.take();
                let progress = records.iter().any(is_progress);
                self.send(records, false, progress, Then::Continue)
            }
        }
    }

    fn send(
        &mut self,
        records: Vec<Record>,
        decides: bool,
        progress: bool,
        then: Then,
    ) -> Action {
        let replay = &mut self.live.replay;
        let mut obsolete = replay.take_obsolete();
        let mut left = replay.take_left_children();
        self.append = Some(InFlight {
            decides,
            then,
            obsolete: obsolete.clone(),
            left: left.clone(),
        });
        if matches!(then, Then::End(_) | Then::EndAnyway(_)) {
            obsolete.extend(replay.remaining_rows());
            left.extend(replay.remaining_children());
        }
        Action::Append(Append {
            records,
            then,
            seen: replay.known(),
            inbox_seen: replay.inbox_known(),
            progress,
            obsolete,
            left,
        })
    }

    /// The failure of code that awaits something that can never wake it.
    pub(crate) fn stuck() -> Halt {
        let why = "the workflow awaits something that is not durable, and nothing can wake it again; await only what \
                   ctx offers, and put everything else inside steps";
        Halt::NotDurable(why.to_owned())
    }
}
