//! The state that the handles of one execution share: the run's constants, and access to its
//! driver.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use everstep_driver::Execution;
use everstep_engine::Runtime;
use everstep_machine::{Access, FailureClass, OpId, Replay, StepStart, UndoStart};
use everstep_model::{
    Failure, Generation, Location, Name, Payload, RunId, StepOptions, Timestamp, limits,
};

use super::current;
use super::slots::{Key, Slots};
use super::step_context::{Cancellation, StepContext, StepOf, UndoSlot};
use super::undos::GivenUndo;
use crate::declaration::Declaration;
use crate::error::Result;
use crate::options::Options;

/// Results of steps that a test supplies instead of the steps' own work.
pub(crate) trait Mocks: Send + Sync {
    /// The result of this attempt, if the test supplies one.
    fn result(&self, start: &StepStart) -> Option<Result<Payload>>;

    /// The result of this attempt to undo a step, if the test supplies one.
    fn undo_result(&self, start: &UndoStart) -> Option<Result<()>>;
}

/// The constants of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub struct RunMetadata {
    pub id: RunId,
    pub generation: Generation,
    pub workflow: Name,
    /// The version of the workflow that the run follows.
    pub version: u32,
    pub tags: Vec<String>,
    pub created_at: Timestamp,
    pub deadline: Option<Timestamp>,
    /// The number of the pass, from 1. An execution retry begins the next pass.
    pub attempt: u32,
}

/// The constants of all executions of an activation.
pub(crate) struct SharedParts {
    pub(crate) run: RunId,
    pub(crate) generation: Generation,
    pub(crate) workflow: Name,
    pub(crate) runtime: Arc<dyn Runtime>,
    pub(crate) defaults: Options,
    pub(crate) declaration: Arc<Declaration>,
    pub(crate) mocks: Option<Arc<dyn Mocks>>,
}

/// Why a run fails whose handle is used where its code is not being polled.
const MISUSED: &str = "the code used ctx, or dropped an operation, outside the poll of its workflow function, after something that \
                       is not in the journal woke it; put timers, channels and I/O inside a step, and do not call ctx from \
                       inside a step, an undo, a task or a thread";

/// Restores a flag, also after a panic.
struct RestoreFlag<'a>(&'a AtomicBool, bool);

impl Drop for RestoreFlag<'_> {
    fn drop(&mut self) {
        self.0.store(self.1, Ordering::Relaxed);
    }
}

/// One execution, as `Ctx` and the operations of the code see it.
pub(crate) struct Shared {
    pub(super) key: Key,
    pub(crate) parts: Arc<SharedParts>,
    pub(crate) metadata: RunMetadata,
    step_of: StepOf,
    /// The time as the code sees it, in milliseconds. It is constant during a poll.
    now: AtomicU64,
    /// Whether the work of a step is being polled, which must not call operations.
    is_in_step: AtomicBool,
    /// Whether a handle was used where the code is not being polled.
    is_misused: AtomicBool,
    pub(super) cancellation: Arc<Cancellation>,
}

impl Shared {
    pub(super) fn new(parts: Arc<SharedParts>, replay: &Replay) -> Self {
        let info = replay.run().info.as_ref();
        Self {
            key: Key::new(),
            metadata: RunMetadata {
                id: parts.run.clone(),
                generation: parts.generation,
                workflow: parts.workflow.clone(),
                version: info.map_or(1, |info| info.version),
                tags: info.map(|info| info.tags.clone()).unwrap_or_default(),
                created_at: info.map(|info| info.created_at).unwrap_or_default(),
                deadline: info.and_then(|info| info.deadline),
                attempt: replay.run().pass,
            },
            step_of: StepOf {
                run: parts.run.clone(),
                keys_of: info.map_or(parts.generation, |info| info.keys_of),
                trace: info.map(|info| info.trace),
            },
            parts,
            now: AtomicU64::new(0),
            is_in_step: AtomicBool::new(false),
            is_misused: AtomicBool::new(false),
            cancellation: Arc::default(),
        }
    }

    /// Calls into the execution. Returns `None` if its code is not being polled on this thread; the
    /// run then fails, because what happens outside a poll does not happen again on replay.
    #[inline]
    pub(crate) fn with<T>(&self, call: impl FnOnce(&mut Execution<Slots>) -> T) -> Option<T> {
        let is_in_step = self.is_in_step.load(Ordering::Relaxed);
        let called = current::with(self.key, |execution| {
            let replay = &mut execution.replay;
            let before = is_in_step.then(|| replay.set_access(Access::Forbidden));
            let called = call(execution);
            if let Some(before) = before {
                execution.replay.set_access(before);
            }
            called
        });
        if called.is_none() {
            self.is_misused.store(true, Ordering::Release);
        }
        called
    }

    /// Polls the work of a step, which must not call operations.
    pub(crate) fn in_step<T>(&self, poll: impl FnOnce() -> T) -> T {
        let outer = self.is_in_step.swap(true, Ordering::Relaxed);
        let _restore = RestoreFlag(&self.is_in_step, outer);
        poll()
    }

    pub(super) fn misused(&self) -> Option<&'static str> {
        let is_misused = self.is_misused.load(Ordering::Acquire);
        is_misused.then_some(MISUSED)
    }

    /// The time as the code sees it.
    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.now.load(Ordering::Relaxed))
    }

    pub(super) fn set_now(&self, now: Timestamp) {
        self.now.store(now.as_millis(), Ordering::Relaxed);
    }

    pub(crate) fn defaults(&self) -> Options {
        self.parts.defaults
    }

    /// Registers the undo of a step or child that the code has called.
    pub(crate) fn give_undo(&self, op: OpId, undo: GivenUndo) {
        self.with(|execution| {
            if let Some(location) = execution.replay.status().location_of(op).cloned() {
                execution.host.undos.insert(location, undo);
            }
        });
    }

    pub(crate) fn step_context(
        &self,
        location: &Location,
        attempt: u32,
        options: StepOptions,
        undo: UndoSlot,
    ) -> StepContext {
        StepContext {
            attempt,
            name: location.name.as_str().to_owned(),
            count: location.counter,
            options,
            of: self.step_of.clone(),
            location: location.clone(),
            cancellation: self.cancellation.clone(),
            undo,
        }
    }

    pub(crate) fn complete_attempt(&self, op: OpId, start: &StepStart, result: Payload) {
        let bytes = result.as_bytes().len();
        if bytes > limits::PAYLOAD_BYTES_WARN {
            let (run, step) = (&self.parts.run, &start.location);
            tracing::warn!(%run, %step, bytes, "large step result; store large data elsewhere and return a reference");
        }
        self.with(|execution| execution.replay.complete_attempt(op, start, result));
    }

    pub(crate) fn fail_attempt(
        &self,
        op: OpId,
        start: &StepStart,
        failure: Failure,
        class: FailureClass,
    ) {
        let now = self.parts.runtime.now();
        self.with(|execution| {
            let replay = &mut execution.replay;
            replay.fail_attempt(op, start, failure, class, now);
        });
    }
}
