//! What earlier passes of the function came to in their loops. It stands: a later pass goes the same way.

use std::collections::BTreeMap;

use everstep_model::{Body, Location, Payload, Scope};
use rustc_hash::{FxHashMap, FxHashSet};

/// One loop of an earlier pass.
#[derive(Debug, Default)]
struct Known {
    /// The states its iterations began with.
    states: BTreeMap<u64, Payload>,
    /// The iteration that ended it, and what it returned.
    done: Option<(u64, Payload)>,
}

#[derive(Debug, Default)]
pub(super) struct Memory {
    loops: FxHashMap<Location, Known>,
    /// Iterations in which something was called.
    iterations: FxHashSet<Scope>,
}

impl Memory {
    pub(super) fn learn(&mut self, body: &Body) {
        if let Body::LoopAdvanced(record) = body {
            let known = self.loops.entry(record.location.clone()).or_default();
            let state = record.state.clone();
            if record.done {
                known.done = Some((record.iteration, state));
            } else {
                known.states.insert(record.iteration, state);
            }
        } else if let Some(iteration) = body.location().and_then(|place| place.scope.iteration()) {
            self.iterations.insert(iteration);
        }
    }

    /// The state an iteration began with.
    pub(super) fn state(&self, place: &Location, iteration: u64) -> Option<Payload> {
        self.loops.get(place)?.states.get(&iteration).cloned()
    }

    /// What came after an iteration: the end of the loop, or the state of the next.
    pub(super) fn after(
        &self,
        place: &Location,
        iteration: u64,
        next: u64,
    ) -> Option<(bool, Payload)> {
        let known = self.loops.get(place)?;
        if let Some(state) = known.states.get(&next) {
            return Some((false, state.clone()));
        }
        let (last, result) = known.done.as_ref()?;
        (*last == iteration).then(|| (true, result.clone()))
    }

    /// Whether something was called in an iteration.
    pub(super) fn knows(&self, iteration: &Scope) -> bool {
        self.iterations.contains(iteration)
    }
}
