//! Steps inside iterations that may still have to be undone, or whose undo somebody waited for: as long as there is one,
//! its iteration is kept.

use std::collections::BTreeMap;

use everstep_model::{Body, Location, Scope, UndoMode};
use rustc_hash::FxHashMap;

/// Where a step that can be undone stands.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stand {
    Called,
    Done,
    /// Undone, or passed over, while the code of these iterations waited for it.
    Awaited(Vec<Scope>),
}

impl Stand {
    /// Whether this keeps an iteration around the step from being dropped. Who waited inside it is dropped with it.
    fn holds(&self, iteration: &Scope) -> bool {
        match self {
            Self::Called => false,
            Self::Done => true,
            Self::Awaited(by) => by.iter().any(|waiting| !waiting.is_within(iteration)),
        }
    }
}

/// The steps that hold their iterations, by their scope.
#[derive(Debug, Default)]
pub(super) struct LiveUndos(BTreeMap<Scope, FxHashMap<Location, Stand>>);

impl LiveUndos {
    /// A record about an operation that is not about its undo.
    pub(super) fn note(&mut self, body: &Body, location: &Location) {
        match body {
            Body::StepStarted(record) => {
                let undo = record.options.map(|options| options.undo);
                if undo.is_some_and(|undo| undo != UndoMode::None) {
                    let steps = self.0.entry(location.scope.clone()).or_default();
                    steps.entry(location.clone()).or_insert(Stand::Called);
                }
            }
            Body::StepCompleted(_) | Body::StepEdited(_) => self.done(location),
            Body::StepFailed(record) if record.undo.is_some() => self.done(location),
            _ => {}
        }
    }

    /// A step is undone, or passed over, while the code of these scopes rolls back. Each of them waited for that: a journal
    /// without it would let that code go on too early.
    pub(super) fn undone(&mut self, location: &Location, askers: &[Scope]) {
        // What stands in no iteration is never dropped.
        let iteration = |asker: &Scope| asker.iteration().unwrap_or(Scope::ROOT);
        let awaited = Stand::Awaited(askers.iter().map(iteration).collect());
        let own = location.scope.iteration();
        let is_held = own.is_some_and(|own| awaited.holds(&own));
        let steps = self.0.get_mut(&location.scope);
        let stand = steps.and_then(|steps| steps.get_mut(location));
        match stand {
            Some(stand) if is_held => *stand = awaited,
            Some(_) => self.remove(location),
            None => {}
        }
    }

    fn remove(&mut self, location: &Location) {
        if let Some(steps) = self.0.get_mut(&location.scope) {
            steps.remove(location);
            if steps.is_empty() {
                self.0.remove(&location.scope);
            }
        }
    }

    /// An iteration is gone, and whoever waited in it: gives the scopes of steps that nobody else waited for.
    pub(super) fn let_go(&mut self, gone: &Scope) -> Vec<Scope> {
        let mut freed = Vec::new();
        for (scope, steps) in &mut self.0 {
            steps.retain(|_, stand| {
                let Stand::Awaited(by) = stand else {
                    return true;
                };
                by.retain(|waiting| !waiting.is_within(gone));
                if by.is_empty() {
                    freed.push(scope.clone());
                }
                !by.is_empty()
            });
        }
        self.0.retain(|_, steps| !steps.is_empty());
        freed
    }

    fn done(&mut self, location: &Location) {
        let steps = self.0.get_mut(&location.scope);
        if let Some(stand) = steps.and_then(|steps| steps.get_mut(location)) {
            *stand = Stand::Done;
        }
    }

    /// Whether a step keeps this iteration from being dropped.
    pub(super) fn hold(&self, iteration: &Scope) -> bool {
        let from_here = self.0.range(iteration.clone()..);
        let mut inside = from_here.take_while(|(inner, _)| inner.is_within(iteration));
        inside.any(|(_, steps)| steps.values().any(|stand| stand.holds(iteration)))
    }

    /// An iteration is gone, and everything in it.
    pub(super) fn forget(&mut self, scope: &Scope) {
        let from_here = self.0.range(scope.clone()..).map(|(inner, _)| inner);
        let inside = from_here.take_while(|inner| inner.is_within(scope));
        for inner in inside.cloned().collect::<Vec<_>>() {
            self.0.remove(&inner);
        }
    }
}
