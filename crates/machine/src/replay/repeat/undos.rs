//! Steps inside iterations that may still have to be undone: as long as there is one, its iteration is kept.

use std::collections::BTreeMap;

use everstep_model::record::ChildOutcome;
use everstep_model::{Body, Location, Scope, UndoMode};
use rustc_hash::FxHashMap;

/// Whether a step that can be undone has something to undo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stand {
    Called,
    Done,
}

/// The steps that can be undone and are not, by their scope.
#[derive(Debug, Default)]
pub(super) struct LiveUndos(BTreeMap<Scope, FxHashMap<Location, Stand>>);

impl LiveUndos {
    /// A record about an operation; gives the scope of a step that need not be undone any more.
    pub(super) fn note(&mut self, body: &Body, location: &Location) -> Option<Scope> {
        match body {
            Body::StepStarted(record) => {
                let undo = record.options.map(|options| options.undo);
                if undo.is_some_and(|undo| undo != UndoMode::None) {
                    let steps = self.0.entry(location.scope.clone()).or_default();
                    steps.entry(location.clone()).or_insert(Stand::Called);
                }
                None
            }
            Body::ChildStarted(record) if !record.undo.is_none() => {
                let steps = self.0.entry(location.scope.clone()).or_default();
                steps.entry(location.clone()).or_insert(Stand::Called);
                None
            }
            Body::ChildFinished(record) if matches!(record.outcome, ChildOutcome::Completed(_)) => {
                self.done(location)
            }
            Body::StepCompleted(_) | Body::StepEdited(_) => self.done(location),
            Body::StepFailed(record) if record.undo.is_some() => self.done(location),
            Body::UndoCompleted(_) | Body::UndoSkipped(_) => self.settle(location),
            _ => None,
        }
    }

    /// A step need not be undone any more; gives its scope.
    pub(super) fn settle(&mut self, location: &Location) -> Option<Scope> {
        let steps = self.0.get_mut(&location.scope)?;
        steps.remove(location)?;
        if steps.is_empty() {
            self.0.remove(&location.scope);
        }
        Some(location.scope.clone())
    }

    fn done(&mut self, location: &Location) -> Option<Scope> {
        let steps = self.0.get_mut(&location.scope)?;
        *steps.get_mut(location)? = Stand::Done;
        None
    }

    pub(super) fn any_within(&self, scope: &Scope) -> bool {
        let from_here = self.0.range(scope.clone()..);
        let mut inside = from_here.take_while(|(inner, _)| inner.is_within(scope));
        inside.any(|(_, steps)| steps.values().any(|stand| *stand == Stand::Done))
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
