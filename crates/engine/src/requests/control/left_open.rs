//! What a run leaves open when it is terminated: steps, children, timers and rpcs. The journal is
//! read in pages, and only what is open is kept.

use std::ops::ControlFlow;

use everstep_inspect::Overview;
use everstep_machine::LeftChild;
use everstep_model::{Entry, Location, RecordNumber, StepStatus, StreamNumber};
use everstep_store::{Guard, RowKey, StoreError};

use crate::commit::projection::{OpenChildren, OpenRows, Origin};
use crate::node::Node;

/// The number of records after which ended operations are forgotten.
const FORGET_AFTER: u64 = 10_000;

pub(super) struct LeftOpen {
    stream: StreamNumber,
    /// The number of the next record to read.
    next: RecordNumber,
    is_damaged: bool,
    origin: Option<Origin>,
    overview: Overview,
    children: OpenChildren,
    rows: OpenRows,
}

impl LeftOpen {
    pub(super) fn new(stream: StreamNumber) -> Self {
        Self {
            stream,
            next: RecordNumber(0),
            is_damaged: false,
            origin: None,
            overview: Overview::new(),
            children: OpenChildren::default(),
            rows: OpenRows::new(stream),
        }
    }

    /// Reads the records since the last call. Of a damaged journal, the pages before the damage
    /// count.
    pub(super) async fn read_on(&mut self, node: &Node) -> Result<(), StoreError> {
        if self.is_damaged {
            return Ok(());
        }
        let (stream, next) = (self.stream, self.next);
        let visit = |entry: Entry| {
            self.fold(&entry);
            ControlFlow::Continue(())
        };
        match node.visit_journal(stream, next, visit).await {
            Err(error) if error.is_damage() => {
                tracing::error!(%stream, %error, "cannot find everything that a terminated run leaves open");
                self.is_damaged = true;
                Ok(())
            }
            read => read,
        }
    }

    fn fold(&mut self, entry: &Entry) {
        let origin = || Origin::of(std::slice::from_ref(entry));
        self.origin.get_or_insert_with(origin);
        self.children.fold(&entry.record.body);
        self.rows.fold(&entry.record);
        self.overview.fold(entry);
        self.next = entry.number.plus(1);
        if self.next.0.is_multiple_of(FORGET_AFTER) {
            self.overview.forget_ended_operations();
        }
    }

    pub(super) fn stream(&self) -> StreamNumber {
        self.stream
    }

    /// Returns the condition that nothing was appended since. `None` if the end of the journal
    /// cannot be read.
    pub(super) fn guard(&self) -> Option<Guard> {
        (!self.is_damaged).then_some(Guard::EndsAt(self.next))
    }

    pub(super) fn origin(&self) -> Origin {
        self.origin.clone().unwrap_or_default()
    }

    /// Returns the steps that are running.
    pub(super) fn steps(&self) -> Vec<Location> {
        let steps = self.overview.steps.iter();
        let running = steps.filter(|step| step.status == StepStatus::Running);
        running.map(|step| step.location.clone()).collect()
    }

    pub(super) fn children(&self) -> Vec<LeftChild> {
        self.children.left()
    }

    /// Returns the rows of timers and rpcs.
    pub(super) fn rows(&self) -> Vec<RowKey> {
        self.rows.keys()
    }
}
