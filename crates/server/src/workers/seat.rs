//! A seat: one run that a session executes, or that waits for a session.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use everstep_engine::{Append, Then};
use everstep_model::{Entry, Generation, Name, RecordNumber, RunId};
use everstep_protocol::worker::{NewsWord, OneAnswer};
use everstep_store::StoreError;
use tokio::sync::{mpsc, oneshot};

/// A command to the bridge of a run.
pub(super) enum Command {
    /// An append of the worker, or the answer if the worker may not make it.
    Append {
        seq: u64,
        append: Result<Box<Append>, OneAnswer>,
        reply: oneshot::Sender<OneAnswer>,
    },
    /// A read of the worker.
    Read {
        from: RecordNumber,
        reply: oneshot::Sender<Result<Vec<Entry>, StoreError>>,
    },
    /// The run was assigned to a session: read its journal and hand it over.
    HandOver,
    /// Give the run back to the engine, because the worker released it or is lost.
    GiveBack { as_lost: bool },
}

/// What a session receives together with the journal of a run.
#[derive(Default)]
pub(super) struct PendingNews {
    pub(super) cautious: bool,
    /// Messages that arrived before the run was handed over.
    pub(super) words: Vec<NewsWord>,
}

pub(super) enum SeatState {
    /// Waits for a session.
    Queued(PendingNews),
    /// Assigned to this session. It is handed over when its journal has been read.
    Assigned {
        session: String,
        pending: PendingNews,
    },
    /// This session executes the run, or keeps it suspended.
    Held { session: String, executing: bool },
    /// The execution has ended. The answer to the last append is kept in case it got lost.
    Finished {
        session: String,
        /// The sequence number of the append, and the answer.
        last: (u64, OneAnswer),
    },
}

pub(super) struct Seat {
    pub(super) run: RunId,
    pub(super) generation: Generation,
    pub(super) workflow: Name,
    pub(super) version: u32,
    pub(super) commands: mpsc::UnboundedSender<Command>,
    pub(super) read: RecordsRead,
    pub(super) state: SeatState,
}

/// How far the worker can have read the journal of its run. Clones share the number.
#[derive(Clone, Default)]
pub(super) struct RecordsRead(Arc<AtomicU64>);

impl RecordsRead {
    pub(super) fn up_to(&self, end: RecordNumber) {
        self.0.fetch_max(end.0, Ordering::AcqRel);
    }

    pub(super) fn add(&self, entries: &[Entry]) {
        if let Some(last) = entries.last() {
            self.up_to(last.number.plus(1));
        }
    }

    pub(super) fn end(&self) -> RecordNumber {
        RecordNumber(self.0.load(Ordering::Acquire))
    }
}

impl Seat {
    pub(super) fn belongs_to(&self, session: &str) -> bool {
        match &self.state {
            SeatState::Queued(_) => false,
            SeatState::Assigned { session: owner, .. }
            | SeatState::Held { session: owner, .. }
            | SeatState::Finished { session: owner, .. } => owner == session,
        }
    }

    pub(super) fn is_executing(&self) -> bool {
        matches!(
            self.state,
            SeatState::Assigned { .. }
                | SeatState::Held {
                    executing: true,
                    ..
                }
        )
    }
}

/// Returns whether the executor has no more to do with the run once this append is durable.
pub(super) fn is_last(then: Then) -> bool {
    match then {
        Then::Continue | Then::GoOnAs(_) | Then::Suspend(_) => false,
        Then::Park(_) | Then::Release | Then::Abandon | Then::End(_) | Then::EndAnyway(_) => true,
    }
}
