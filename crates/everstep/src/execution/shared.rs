//! What the code of a run and its executor share: the machine, and which operation waits with which waker.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use everstep_engine::Runtime;
use everstep_machine::{FailureClass, OpId, Replay, Resolution, StepStart, UndoStart};
use everstep_model::{Failure, Generation, Name, Payload, RunId, limits};
use rustc_hash::FxHashMap;

use super::cancellation::Cancellation;
use super::undos::{GivenUndo, Undos};
use crate::ctx::RunMetadata;
use crate::declare::Declaration;
use crate::error::Result;
use crate::operation::{StepContext, StepOf, UndoSlot};
use crate::options::Options;

/// Results of steps given by a test instead of the steps' own work.
pub(crate) trait Mocks: Send + Sync {
    /// The result of this attempt, if the test gives one.
    fn result(&self, start: &StepStart) -> Option<Result<Payload>>;

    /// What this attempt to undo a step comes to, if the test says.
    fn undo_result(&self, start: &UndoStart) -> Option<Result<()>>;
}

/// Where an execution gets things from.
#[derive(Clone)]
pub(crate) struct SharedParts {
    pub(crate) run: RunId,
    pub(crate) generation: Generation,
    pub(crate) workflow: Name,
    pub(crate) runtime: Arc<dyn Runtime>,
    pub(crate) defaults: Options,
    pub(crate) declaration: Declaration,
    pub(crate) mocks: Option<Arc<dyn Mocks>>,
}

pub(crate) struct Shared {
    parts: SharedParts,
    cancellation: Arc<Cancellation>,
    state: Mutex<State>,
}

pub(crate) struct State {
    pub(crate) replay: Replay,
    pub(crate) undos: Undos,
    slots: FxHashMap<OpId, Slot>,
}

#[derive(Default)]
struct Slot {
    waker: Option<Waker>,
    resolution: Option<Resolution>,
}

impl State {
    /// Wakes this waker when the operation resolves, or may begin an attempt.
    pub(crate) fn wait(&mut self, op: OpId, waker: &Waker) {
        match &mut self.slots.entry(op).or_default().waker {
            Some(known) => known.clone_from(waker),
            empty => *empty = Some(waker.clone()),
        }
    }

    pub(crate) fn take_resolution(&mut self, op: OpId) -> Option<Resolution> {
        let resolution = self.slots.get_mut(&op)?.resolution.take()?;
        self.slots.remove(&op);
        Some(resolution)
    }

    /// Lets go of what belongs to iterations that were dropped from the journal.
    pub(crate) fn forget_dropped(&mut self) {
        if self.replay.take_has_dropped() {
            let replay = &self.replay;
            self.undos.retain(|step| !replay.has_dropped(step));
        }
    }

    /// Hands a resolution to its operation.
    pub(crate) fn resolve(&mut self, op: OpId, resolution: Resolution) -> Option<Waker> {
        let slot = self.slots.get_mut(&op)?;
        slot.resolution = Some(resolution);
        slot.waker.clone()
    }

    pub(crate) fn waker(&self, op: OpId) -> Option<Waker> {
        self.slots.get(&op)?.waker.clone()
    }

    pub(crate) fn forget(&mut self, op: OpId) {
        self.slots.remove(&op);
    }
}

impl Shared {
    pub(crate) fn new(parts: SharedParts, replay: Replay) -> Arc<Self> {
        Arc::new(Self {
            parts,
            cancellation: Arc::default(),
            state: Mutex::new(State {
                replay,
                undos: Undos::default(),
                slots: FxHashMap::default(),
            }),
        })
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn parts(&self) -> &SharedParts {
        &self.parts
    }

    pub(crate) fn runtime(&self) -> &Arc<dyn Runtime> {
        &self.parts.runtime
    }

    pub(crate) fn defaults(&self) -> Options {
        self.parts.defaults
    }

    pub(crate) fn rpc_schema(&self, method: &str) -> Option<Payload> {
        self.parts.declaration.rpc_schema(method).cloned()
    }

    pub(crate) fn mocked(&self, start: &StepStart) -> Option<Result<Payload>> {
        self.parts.mocks.as_ref()?.result(start)
    }

    pub(crate) fn mocked_undo(&self, start: &UndoStart) -> Option<Result<()>> {
        self.parts.mocks.as_ref()?.undo_result(start)
    }

    /// The code says how to undo the step it has called.
    pub(crate) fn give_undo(&self, op: OpId, undo: GivenUndo) {
        let mut state = self.state();
        if let Some(location) = state.replay.location_of(op).cloned() {
            state.undos.give(location, undo);
        }
    }

    /// Hands out another resolution before the code is polled. Only a planted bug does.
    #[cfg(feature = "planted-bugs")]
    pub(super) fn resolve_another(&self) {
        let mut state = self.state();
        let another = state.replay.resolve_another();
        let waker = another.and_then(|(op, resolution)| state.resolve(op, resolution));
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }

    /// Drops all undos. They may own handles to this very run, which would keep each other in memory.
    pub(crate) fn forget_undos(&self) {
        let undos = std::mem::take(&mut self.state().undos);
        drop(undos);
    }

    pub(crate) fn step_context(&self, start: &StepStart, undo: UndoSlot) -> StepContext {
        let state = self.state();
        let facts = state.replay.facts();
        let keys_of = facts.map_or(self.parts.generation, |facts| facts.keys_of);
        let trace = facts.map(|facts| facts.trace);
        drop(state);
        let step = StepOf {
            run: self.parts.run.clone(),
            keys_of,
            trace,
        };
        StepContext::new(start, step, self.cancellation.clone(), undo)
    }

    /// Lets steps in flight hear of the run's cancellation.
    pub(crate) fn announce_cancellation(&self) {
        self.cancellation.set();
    }

    pub(crate) fn begin_attempt(&self, op: OpId) -> Option<StepStart> {
        self.state().replay.begin_attempt(op)
    }

    pub(crate) fn complete_attempt(&self, op: OpId, start: &StepStart, result: Payload) {
        let bytes = result.as_bytes().len();
        if bytes > limits::PAYLOAD_BYTES_WARN {
            let (run, step) = (&self.parts.run, &start.location);
            tracing::warn!(%run, %step, bytes, "a large result; keep large data elsewhere and return a reference");
        }
        self.state().replay.complete_attempt(op, start, result);
    }

    pub(crate) fn fail_attempt(
        &self,
        op: OpId,
        start: &StepStart,
        failure: Failure,
        class: FailureClass,
    ) {
        let now = self.parts.runtime.now();
        self.state()
            .replay
            .fail_attempt(op, start, failure, class, now);
    }

    pub(crate) fn metadata(&self) -> RunMetadata {
        let state = self.state();
        let attempt = state.replay.pass();
        let facts = state.replay.facts();
        RunMetadata {
            id: self.parts.run.clone(),
            generation: self.parts.generation,
            workflow: self.parts.workflow.clone(),
            version: facts.map_or(1, |facts| facts.version),
            tags: facts.map(|facts| facts.tags.clone()).unwrap_or_default(),
            created_at: facts.map(|facts| facts.created_at).unwrap_or_default(),
            deadline: facts.and_then(|facts| facts.deadline),
            attempt,
        }
    }
}
