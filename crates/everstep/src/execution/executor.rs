//! The executor of one run: a future that feeds messages to the driver and performs its actions.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use everstep_driver::{Action, Driver, ExecutionKind, ReadFor, Setup};
use everstep_engine::Activation;
use everstep_machine::{OpId, Resolution, UndoStart};
use everstep_model::{Entry, Payload, RecordNumber, Timestamp};
use everstep_store::{BoxFuture, StoreError};

use super::code::StartedCode;
use super::current::OwnedDriver;
use super::root::{RunningRoot, WorkflowCode};
use super::shared::{Shared, SharedParts};
use super::undo_attempt::UndoAttempt;

type Read = BoxFuture<'static, Result<Vec<Entry>, StoreError>>;

pub(crate) struct Executor {
    activation: Activation,
    workflow: WorkflowCode,
    parts: Arc<SharedParts>,
    /// `None` once the activation is over.
    driver: Option<OwnedDriver>,
    live: Option<StartedCode>,
    dry: Option<StartedCode>,
    undo: Option<UndoAttempt>,
    /// Reads of the journal in flight: for the fold, and for undos of earlier passes.
    reads: [Option<Read>; 2],
    flush: Option<BoxFuture<'static, ()>>,
    /// The time when the executor was woken or last polled the code.
    now: Timestamp,
    /// Whether the code was polled since the executor was woken.
    was_polled: bool,
}

impl Executor {
    pub(crate) fn new(
        mut activation: Activation,
        workflow: WorkflowCode,
        parts: SharedParts,
    ) -> Self {
        let journal = std::mem::take(&mut activation.journal);
        let setup = Setup {
            run: parts.run.clone(),
            generation: parts.generation,
            execution_retries: parts.defaults.execution_retries,
            development: activation.seat.settings().development,
            cautious: activation.cautious,
        };
        Self {
            activation,
            workflow,
            parts: Arc::new(parts),
            driver: Some(Box::new(Driver::new(setup, journal))),
            live: None,
            dry: None,
            undo: None,
            reads: [None, None],
            flush: None,
            now: Timestamp::default(),
            was_polled: false,
        }
    }

    fn live_root(&self) -> Option<&RunningRoot> {
        self.live.as_ref().and_then(StartedCode::root)
    }

    /// Passes everything that happened since the last poll to the driver.
    fn receive(&mut self, driver: &mut OwnedDriver, context: &mut Context<'_>) {
        // A lost seat reports that on each poll.
        while !driver.is_over()
            && let Poll::Ready(message) = self.activation.seat.poll_message(context)
        {
            driver.receive(message);
        }
        for purpose in [ReadFor::Fold, ReadFor::Undos] {
            self.poll_read(purpose, driver, context);
        }
        self.poll_undo(driver, context);
        self.poll_flush(driver, context);
        if let Some(code) = &self.live {
            code.halt_if_misused(driver.live());
        }
    }

    /// Performs actions until there is nothing left to do. Returns the driver, unless the
    /// activation is over.
    fn act(&mut self, mut driver: OwnedDriver, context: &mut Context<'_>) -> Option<OwnedDriver> {
        self.now = self.activation.now();
        self.was_polled = false;
        loop {
            let is_woken = self.live.as_ref().is_some_and(StartedCode::is_woken);
            match driver.next(self.now, is_woken) {
                Action::Start(input) => {
                    self.start(&mut driver, input);
                    driver = self.poll_code(driver)?;
                }
                Action::Resolve(op, resolution) => {
                    resolve(&mut driver, op, resolution);
                    driver = self.poll_code(driver)?;
                }
                Action::Begin => {
                    wake_startable(&mut driver);
                    if self.live.as_ref().is_some_and(StartedCode::is_woken) {
                        driver = self.poll_code(driver)?;
                    }
                }
                Action::Poll => driver = self.poll_code(driver)?,
                Action::Drop(code) => driver = self.drop_code(code, driver)?,
                Action::Cancel => {
                    if let Some(code) = &self.live {
                        code.shared.cancellation.set();
                    }
                }
                Action::BeginUndo(start) => {
                    self.begin_undo(*start, &mut driver);
                    self.poll_undo(&mut driver, context);
                }
                Action::DropUndo => self.undo = None,
                Action::Append(append) => {
                    self.flush = None;
                    self.activation.seat.append(append);
                    return Some(driver);
                }
                Action::Flush => {
                    let lazy_flush = self.activation.seat.settings().lazy_flush;
                    self.flush = Some(self.parts.runtime.sleep(lazy_flush));
                    self.poll_flush(&mut driver, context);
                }
                Action::Read(purpose, from) => {
                    self.read(purpose, from);
                    self.poll_read(purpose, &mut driver, context);
                }
                Action::Report(divergence) => {
                    tracing::error!(run = %self.activation.run, %divergence, "hidden nondeterminism");
                }
                Action::Checked(_) | Action::Wait => return Some(driver),
                Action::Exit => return None,
            }
        }
    }

    fn code(&mut self, kind: ExecutionKind) -> &mut Option<StartedCode> {
        match kind {
            ExecutionKind::Live => &mut self.live,
            ExecutionKind::Dry => &mut self.dry,
        }
    }

    fn start(&mut self, driver: &mut OwnedDriver, input: Payload) {
        let code = driver.current().1;
        let started = StartedCode::new(&self.workflow, &self.parts, driver, input);
        *self.code(code) = Some(started);
    }

    /// Polls the code. A poll may take long, so the clock is read again before the next one and
    /// after the last.
    fn poll_code(&mut self, mut driver: OwnedDriver) -> Option<OwnedDriver> {
        if std::mem::replace(&mut self.was_polled, true) {
            self.now = self.activation.now();
            driver.set_now(self.now);
        }
        let code = driver.current().1;
        let Some(started) = self.code(code) else {
            return Some(driver);
        };
        let driver = started.poll(driver);
        if started.root().is_none() {
            self.now = self.activation.now();
        }
        driver
    }

    fn drop_code(&mut self, kind: ExecutionKind, driver: OwnedDriver) -> Option<OwnedDriver> {
        match self.code(kind) {
            Some(started) => started.drop_root(driver),
            None => Some(driver),
        }
    }

    fn begin_undo(&mut self, start: UndoStart, driver: &mut OwnedDriver) {
        let live = driver.live();
        let shared = match &self.live {
            Some(code) => code.shared.clone(),
            // The run was ended before this pass of its function started.
            None => Arc::new(Shared::new(self.parts.clone(), &live.replay)),
        };
        if let Some(undo) = live.host.undos.get(&start.location) {
            self.undo = Some(UndoAttempt::new(start, undo, shared));
        }
    }

    fn poll_undo(&mut self, driver: &mut OwnedDriver, context: &mut Context<'_>) {
        if let Some(attempt) = &mut self.undo
            && let Poll::Ready(end) = attempt.poll(context)
        {
            self.undo = None;
            self.now = self.activation.now();
            driver.undo_ended(end, self.now);
        }
    }

    fn poll_flush(&mut self, driver: &mut OwnedDriver, context: &mut Context<'_>) {
        if let Some(flush) = &mut self.flush
            && flush.as_mut().poll(context).is_ready()
        {
            self.flush = None;
            driver.flush();
        }
    }

    fn reading(&mut self, purpose: ReadFor) -> &mut Option<Read> {
        let [fold, undos] = &mut self.reads;
        match purpose {
            ReadFor::Fold => fold,
            ReadFor::Undos => undos,
        }
    }

    fn read(&mut self, purpose: ReadFor, from: RecordNumber) {
        let read = self.activation.seat.read(from);
        *self.reading(purpose) = Some(read);
    }

    fn poll_read(&mut self, purpose: ReadFor, driver: &mut OwnedDriver, context: &mut Context<'_>) {
        let reading = self.reading(purpose);
        let Some(read) = reading else { return };
        let Poll::Ready(read) = read.as_mut().poll(context) else {
            return;
        };
        *reading = None;
        match read {
            Ok(entries) => driver.read(purpose, entries),
            Err(error) => {
                tracing::error!(%error, run = %self.activation.run, "cannot read the journal");
                driver.read_failed(purpose);
            }
        }
    }
}

fn resolve(driver: &mut OwnedDriver, op: OpId, resolution: Resolution) {
    let waker = driver.current().0.host.resolve(op, resolution);
    waker.into_iter().for_each(Waker::wake);
    #[cfg(feature = "planted-bugs")]
    if everstep_model::planted::is(everstep_model::planted::Bug::TwoResolvedPerPoll)
        && driver.current().1 == ExecutionKind::Live
        && let Some((op, resolution)) = driver.live().replay.resolve_another()
    {
        let waker = driver.live().host.resolve(op, resolution);
        waker.into_iter().for_each(Waker::wake);
    }
}

/// Wakes the steps that may begin. Code that called a step and does not poll it holds up the step,
/// not the executor.
fn wake_startable(driver: &mut OwnedDriver) {
    let startable = driver.startable().to_vec();
    let host = &mut driver.live().host;
    for op in startable {
        if let Some(waker) = host.waker(op) {
            waker.wake_by_ref();
        }
    }
}

impl Future for Executor {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let Some(mut driver) = this.driver.take() else {
            return Poll::Ready(());
        };
        if let Some(root) = this.live_root() {
            root.begin_poll();
        }
        this.receive(&mut driver, context);
        this.driver = this.act(driver, context);
        if this.driver.is_none() {
            (this.live, this.dry, this.undo) = (None, None, None);
            return Poll::Ready(());
        }
        if let Some(root) = this.live_root() {
            root.end_poll(context);
        }
        Poll::Pending
    }
}
