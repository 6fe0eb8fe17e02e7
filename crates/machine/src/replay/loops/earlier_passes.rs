//! The loops of earlier passes of the function. A later pass takes over their states and results.

use std::collections::BTreeMap;

use everstep_model::{Body, Location, Payload, Scope};
use rustc_hash::{FxHashMap, FxHashSet};

#[derive(Debug, Default)]
struct EarlierLoop {
    /// The states with which its iterations began.
    states: BTreeMap<u64, Payload>,
    /// The iteration that ended it, and its result.
    done: Option<(u64, Payload)>,
}

#[derive(Debug, Default)]
pub(in crate::replay) struct EarlierLoops {
    loops: FxHashMap<Location, EarlierLoop>,
    /// Iterations in which something was called.
    iterations: FxHashSet<Scope>,
}

impl EarlierLoops {
    pub(in crate::replay) fn fold(&mut self, body: &Body) {
        if let Body::LoopAdvanced(record) = body {
            let known = self.loops.entry(record.location.clone()).or_default();
            let state = record.state.clone();
            if record.done {
                known.done = Some((record.iteration, state));
            } else {
                known.states.insert(record.iteration, state);
            }
        } else if let Some(iteration) = body.location().and_then(|at| at.scope.iteration()) {
            self.iterations.insert(iteration);
        }
    }

    /// Returns the state with which an iteration began.
    pub(super) fn state(&self, location: &Location, iteration: u64) -> Option<Payload> {
        self.loops.get(location)?.states.get(&iteration).cloned()
    }

    /// Returns what followed an iteration: the end of the loop and its result, or the state of the
    /// next iteration.
    pub(super) fn after(
        &self,
        location: &Location,
        iteration: u64,
        next: u64,
    ) -> Option<(bool, Payload)> {
        let known = self.loops.get(location)?;
        if let Some(state) = known.states.get(&next) {
            return Some((false, state.clone()));
        }
        let (last, result) = known.done.as_ref()?;
        (*last == iteration).then(|| (true, result.clone()))
    }

    /// Returns whether something was called in an iteration.
    pub(super) fn has_called_in(&self, iteration: &Scope) -> bool {
        self.iterations.contains(iteration)
    }
}
