//! What the code did in each scope so far: operations called, by name; how many of them steps; versions it follows; random
//! numbers drawn.
//!
//! It is forgotten with its scope, so that a loop may run for ever.

use std::collections::BTreeMap;

use everstep_model::{Name, Scope};
use rustc_hash::FxHashMap;

/// What the code did in one scope.
#[derive(Debug, Default)]
struct Done {
    calls: FxHashMap<Name, u32>,
    steps: u64,
    versions: FxHashMap<Name, u32>,
    draws: u64,
}

#[derive(Debug, Default)]
pub(super) struct Scopes {
    root: Done,
    inner: BTreeMap<Scope, Done>,
    /// Steps of all scopes.
    steps: u64,
}

impl Scopes {
    /// How many operations of that name the scope called before this one.
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

    /// The scope calls a step.
    pub(super) fn count_step(&mut self, scope: &Scope) {
        self.of(scope).steps += 1;
        self.steps += 1;
    }

    /// How many steps were called in scopes that the code has not left for good.
    pub(super) fn steps(&self) -> u64 {
        self.steps
    }

    pub(super) fn version(&self, scope: &Scope, change: &Name) -> Option<u32> {
        let done = if *scope == Scope::ROOT {
            &self.root
        } else {
            self.inner.get(scope)?
        };
        done.versions.get(change).copied()
    }

    pub(super) fn set_version(&mut self, scope: &Scope, change: Name, version: u32) {
        self.of(scope).versions.insert(change, version);
    }

    /// Which draw of the scope this is, from 1.
    pub(super) fn count_draw(&mut self, scope: &Scope) -> u64 {
        let draws = &mut self.of(scope).draws;
        *draws += 1;
        *draws
    }

    /// The code has left this scope for good.
    pub(super) fn forget(&mut self, scope: &Scope) {
        let from_here = self.inner.range(scope.clone()..).map(|(inner, _)| inner);
        let inside = from_here.take_while(|inner| inner.is_within(scope));
        for inner in inside.cloned().collect::<Vec<_>>() {
            let left = self.inner.remove(&inner);
            self.steps -= left.map_or(0, |done| done.steps);
        }
    }

    fn of(&mut self, scope: &Scope) -> &mut Done {
        if *scope == Scope::ROOT {
            return &mut self.root;
        }
        self.inner.entry(scope.clone()).or_default()
    }
}

/// A number for the scope that every release and every language computes alike: FNV-1a of its path, 0 for the root.
pub(super) fn mark(scope: &Scope) -> u64 {
    if *scope == Scope::ROOT {
        return 0;
    }
    let start = 0xCBF2_9CE4_8422_2325_u64;
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
    scope.to_string().bytes().fold(start, step)
}
