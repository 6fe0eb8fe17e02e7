//! The shell's state of one execution: wakers, resolutions that the code has not taken yet, and
//! undos.

use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;

use everstep_driver::Host;
use everstep_machine::{OpId, Resolution};
use everstep_model::Location;
use rustc_hash::FxHashMap;

use super::undos::Undos;

/// Identifies an execution within the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Key(u64);

impl Key {
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The shell's part of an execution.
#[derive(Default)]
pub(crate) struct Slots {
    /// Set when the code starts.
    pub(super) key: Key,
    pub(super) undos: Undos,
    /// Most code waits for one operation at a time.
    only: Option<(OpId, Slot)>,
    /// Further operations, while code waits for several.
    others: FxHashMap<OpId, Slot>,
}

#[derive(Default)]
struct Slot {
    waker: Option<Waker>,
    resolution: Option<Resolution>,
}

impl Slots {
    /// Wakes this waker when the operation resolves or may begin an attempt.
    pub(crate) fn wait(&mut self, op: OpId, waker: &Waker) {
        match &mut self.slot_or_new(op).waker {
            Some(known) => known.clone_from(waker),
            empty => *empty = Some(waker.clone()),
        }
    }

    fn slot_or_new(&mut self, op: OpId) -> &mut Slot {
        let is_elsewhere = match &self.only {
            Some((only, _)) => *only != op,
            None => self.others.contains_key(&op),
        };
        if is_elsewhere {
            return self.others.entry(op).or_default();
        }
        &mut self.only.get_or_insert_with(|| (op, Slot::default())).1
    }

    fn slot(&mut self, op: OpId) -> Option<&mut Slot> {
        match &mut self.only {
            Some((only, slot)) if *only == op => Some(slot),
            _ => self.others.get_mut(&op),
        }
    }

    pub(crate) fn take_resolution(&mut self, op: OpId) -> Option<Resolution> {
        let resolution = self.slot(op)?.resolution.take()?;
        self.forget(op);
        Some(resolution)
    }

    /// Stores a resolution for its operation. Returns the waker of the code that waits for it.
    pub(super) fn resolve(&mut self, op: OpId, resolution: Resolution) -> Option<Waker> {
        let slot = self.slot(op)?;
        slot.resolution = Some(resolution);
        slot.waker.clone()
    }

    pub(super) fn waker(&mut self, op: OpId) -> Option<&Waker> {
        self.slot(op)?.waker.as_ref()
    }

    pub(crate) fn forget(&mut self, op: OpId) {
        match &self.only {
            Some((only, _)) if *only == op => self.only = None,
            _ => drop(self.others.remove(&op)),
        }
    }
}

impl Host for Slots {
    fn has_undo(&self, of: &Location) -> bool {
        self.undos.contains_key(of)
    }

    fn adopt_undos(&mut self, earlier: Self) {
        // An undo of this pass replaces that of an earlier one.
        for (of, undo) in earlier.undos {
            self.undos.entry(of).or_insert(undo);
        }
    }

    fn retain_undos(&mut self, is_kept: impl Fn(&Location) -> bool) {
        self.undos.retain(|of, _| is_kept(of));
    }
}
