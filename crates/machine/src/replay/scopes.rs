//! Counters of each scope: operations called by name, steps, versions of changes, and random
//! numbers drawn.
//!
//! They are dropped when the code leaves the scope, so that endless loops need constant memory.

use std::collections::BTreeMap;

use everstep_model::{Name, Scope};
use rustc_hash::FxHashMap;

#[derive(Debug, Default)]
struct Counters {
    calls: FxHashMap<Name, u32>,
    steps: u64,
    versions: FxHashMap<Name, u32>,
    draws: u64,
}

#[derive(Debug, Default)]
pub(super) struct Scopes {
    root: Counters,
    inner: BTreeMap<Scope, Counters>,
    /// Steps of all scopes.
    steps: u64,
}

impl Scopes {
    /// Counts a call, and returns the number of earlier calls of that name in the scope.
    pub(super) fn count_call(&mut self, scope: &Scope, name: &Name) -> u32 {
        let calls = &mut self.of(scope).calls;
        match calls.get_mut(name) {
            Some(count) => {
                *count += 1;
                *count
            }
            None => {
                calls.insert(name.clone(), 0);
                0
            }
        }
    }

    pub(super) fn count_step(&mut self, scope: &Scope) {
        self.of(scope).steps += 1;
        self.steps += 1;
    }

    /// Returns the number of steps called in scopes that are not dropped.
    pub(super) fn steps(&self) -> u64 {
        self.steps
    }

    pub(super) fn version(&self, scope: &Scope, change: &Name) -> Option<u32> {
        let counters = if *scope == Scope::ROOT {
            &self.root
        } else {
            self.inner.get(scope)?
        };
        counters.versions.get(change).copied()
    }

    pub(super) fn set_version(&mut self, scope: &Scope, change: Name, version: u32) {
        self.of(scope).versions.insert(change, version);
    }

    /// Counts a random number, and returns how many the scope has drawn.
    pub(super) fn count_draw(&mut self, scope: &Scope) -> u64 {
        let draws = &mut self.of(scope).draws;
        *draws += 1;
        *draws
    }

    /// Drops a scope that the code has left.
    pub(super) fn forget(&mut self, scope: &Scope) {
        let from_here = self.inner.range(scope.clone()..).map(|(inner, _)| inner);
        let inside = from_here.take_while(|inner| inner.is_within(scope));
        for inner in inside.cloned().collect::<Vec<_>>() {
            let left = self.inner.remove(&inner);
            self.steps -= left.map_or(0, |counters| counters.steps);
        }
    }

    fn of(&mut self, scope: &Scope) -> &mut Counters {
        if *scope == Scope::ROOT {
            return &mut self.root;
        }
        self.inner.entry(scope.clone()).or_default()
    }
}
