//! A process of a node or a worker. When it crashes, only the store survives.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use everstep_model::{NodeId, Timestamp};

use super::clock::true_time;
use crate::executor::{Executor, Group};

/// A process of a node or a worker.
pub(crate) struct Process {
    /// The machine that restarts it. None for a worker, which `keep_worker` restarts.
    pub(crate) machine: Option<usize>,
    pub(crate) name: String,
    pub(crate) group: Group,
    /// The error of its clock in milliseconds; shared by all processes of a machine.
    pub(super) offset: Arc<AtomicI64>,
    /// The largest error that its clock has shown, in milliseconds.
    pub(super) ahead: Arc<AtomicI64>,
    pub(super) cut_off_until: Arc<AtomicU64>,
    /// The retired node ids. An engine that failed to start has retired; the next attempt uses
    /// another id.
    pub(super) retired: Mutex<BTreeSet<NodeId>>,
    pub(super) node: AtomicU64,
}

impl Process {
    pub(super) fn new(name: String, group: Group) -> Self {
        Self {
            machine: None,
            name,
            group,
            offset: Arc::default(),
            ahead: Arc::new(AtomicI64::new(i64::MIN)),
            cut_off_until: Arc::default(),
            retired: Mutex::default(),
            node: AtomicU64::new(0),
        }
    }

    pub(crate) fn is_alive(&self, executor: &Executor) -> bool {
        executor.is_alive(self.group)
    }

    pub(crate) fn is_cut_off(&self, executor: &Executor) -> bool {
        executor.now() < self.cut_off_until.load(Ordering::Relaxed)
    }

    /// Returns the time that its clock would show if it had never been set back.
    pub(crate) fn clock_shown(&self, executor: &Executor) -> Timestamp {
        let ahead = self.ahead.load(Ordering::Relaxed);
        let time = true_time(executor.now()).as_millis();
        Timestamp::from_millis(time.saturating_add_signed(ahead))
    }

    pub(crate) fn has_retired(&self, node: Option<NodeId>) -> bool {
        node.is_some_and(|node| self.retired().contains(&node))
    }

    pub(crate) fn retire(&self, node: NodeId) {
        self.retired().insert(node);
    }

    fn retired(&self) -> MutexGuard<'_, BTreeSet<NodeId>> {
        self.retired.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the node id of its engine, once the engine has a lease.
    pub(crate) fn node(&self) -> Option<NodeId> {
        let node = self.node.load(Ordering::Relaxed);
        (node != 0).then_some(NodeId(node))
    }

    pub(crate) fn set_node(&self, node: NodeId) {
        self.node.store(node.0, Ordering::Relaxed);
    }
}
