//! The data of a memory store.

use std::collections::BTreeMap;

use everstep_model::{
    Entry, NodeId, RecordNumber, RecordRange, StreamName, StreamNumber, Term, Timestamp,
};

use super::answers::Answers;
use crate::head::Head;
use crate::row::{Row, RowKey};

#[derive(Default)]
pub(super) struct State {
    pub(super) names: BTreeMap<StreamName, StreamNumber>,
    pub(super) streams: BTreeMap<StreamNumber, Stream>,
    pub(super) rows: BTreeMap<RowKey, Row>,
    /// The number of the newest stream, including removed ones.
    pub(super) last_number: StreamNumber,
    /// The term of new streams: higher than that of any removed stream.
    pub(super) term: Term,
    /// The expiry of each node's lease.
    leases: BTreeMap<NodeId, Timestamp>,
    pub(super) answers: Answers,
}

pub(super) struct Stream {
    pub(super) head: Head,
    pub(super) entries: Vec<Entry>,
    pub(super) dedup: BTreeMap<String, RecordNumber>,
}

impl State {
    pub(super) fn row(&self, key: &RowKey) -> Option<Row> {
        self.rows.get(key).cloned()
    }

    pub(super) fn renew(&mut self, node: NodeId, until: Timestamp) {
        self.leases.insert(node, until);
    }

    pub(super) fn retire(&mut self, node: NodeId) {
        self.leases.remove(&node);
        self.answers.forget(node);
    }

    pub(super) fn is_alive(&self, node: NodeId, now: Timestamp) -> bool {
        self.leases.get(&node).is_some_and(|until| now < *until)
    }
}

impl Stream {
    pub(super) fn new(head: Head) -> Self {
        Self {
            head,
            entries: Vec::new(),
            dedup: BTreeMap::new(),
        }
    }

    pub(super) fn from(&self, from: RecordNumber) -> impl Iterator<Item = &Entry> {
        let before = self.entries.partition_point(|e| e.number < from);
        self.entries.iter().skip(before)
    }

    pub(super) fn drop_records(&mut self, range: RecordRange) {
        self.entries
            .retain(|e| e.number < range.first || e.number > range.last);
    }
}
