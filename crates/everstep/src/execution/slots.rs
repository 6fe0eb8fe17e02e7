//! What the Rust shell keeps for one execution: wakers, resolutions on their way to the code, and
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
    slots: FxHashMap<OpId, Slot>,
}

#[derive(Default)]
struct Slot {
    waker: Option<Waker>,
    resolution: Option<Resolution>,
}

impl Slots {
    /// Wakes this waker when the operation resolves or may begin an attempt.
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

    /// Stores a resolution for its operation. Returns the waker of the code that waits for it.
    pub(super) fn resolve(&mut self, op: OpId, resolution: Resolution) -> Option<Waker> {
        let slot = self.slots.get_mut(&op)?;
        slot.resolution = Some(resolution);
        slot.waker.clone()
    }

    pub(super) fn waker(&self, op: OpId) -> Option<&Waker> {
        self.slots.get(&op)?.waker.as_ref()
    }

    pub(crate) fn forget(&mut self, op: OpId) {
        self.slots.remove(&op);
    }
}

impl Host for Slots {
    fn has_undo(&self, of: &Location) -> bool {
        self.undos.has(of)
    }

    fn adopt_undos(&mut self, earlier: Self) {
        self.undos.add_earlier(earlier.undos);
    }

    fn retain_undos(&mut self, is_kept: impl Fn(&Location) -> bool) {
        self.undos.retain(is_kept);
    }
}
