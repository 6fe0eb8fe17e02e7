//! Undos that code waited for. Without the record of the undo a replay would continue too early, so
//! the iteration of the undone operation is kept until the iterations of all waiting calls are
//! dropped.

use everstep_model::{Location, Scope};

/// An operation whose undo ended or was skipped, and the calls that waited for it.
#[derive(Debug)]
struct Awaited {
    location: Location,
    /// The iterations of the calls; the root for a call outside of loops, which is never dropped.
    waiting: Vec<Scope>,
}

impl Awaited {
    /// Returns whether this pins an iteration around the operation. Calls inside the iteration are
    /// dropped with it.
    fn pins(&self, iteration: &Scope) -> bool {
        self.location.scope.is_within(iteration)
            && self
                .waiting
                .iter()
                .any(|waited| !waited.is_within(iteration))
    }
}

#[derive(Debug, Default)]
pub(super) struct AwaitedUndos(Vec<Awaited>);

impl AwaitedUndos {
    /// Notes the end of an undo inside an iteration, while calls in these scopes wait for it.
    pub(super) fn note(&mut self, location: &Location, waiting: &[Scope]) {
        let iteration = |scope: &Scope| scope.iteration().unwrap_or(Scope::ROOT);
        let awaited = Awaited {
            location: location.clone(),
            waiting: waiting.iter().map(iteration).collect(),
        };
        let own = location.scope.iteration();
        if own.is_some_and(|own| awaited.pins(&own)) {
            self.0.push(awaited);
        }
    }

    /// Returns whether something in this iteration pins it.
    pub(super) fn pin(&self, iteration: &Scope) -> bool {
        self.0.iter().any(|awaited| awaited.pins(iteration))
    }

    /// Forgets a dropped iteration and the calls in it. Returns the scopes of operations for which
    /// fewer calls wait than before.
    pub(super) fn forget(&mut self, gone: &Scope) -> Vec<Scope> {
        let mut freed = Vec::new();
        self.0.retain_mut(|awaited| {
            if awaited.location.scope.is_within(gone) {
                return false;
            }
            let before = awaited.waiting.len();
            awaited.waiting.retain(|waited| !waited.is_within(gone));
            // The calls that are left may all be inside an outer iteration, which is then free.
            if awaited.waiting.len() < before {
                freed.push(awaited.location.scope.clone());
            }
            !awaited.waiting.is_empty()
        });
        freed
    }
}

#[cfg(test)]
mod tests;
