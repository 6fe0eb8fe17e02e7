//! What is known of a run that a session executes, or that waits for one.

use everstep_engine::{Append, Then};
use everstep_model::{Entry, Generation, Name, RecordNumber, RunId};
use everstep_protocol::worker::{NewsWord, OneAnswer};
use everstep_store::StoreError;
use tokio::sync::{mpsc, oneshot};

/// What a bridge is asked to do.
pub(super) enum Order {
    /// The worker appends.
    Append {
        seq: u64,
        append: Box<Append>,
        reply: oneshot::Sender<OneAnswer>,
    },
    /// The worker reads.
    Read {
        from: RecordNumber,
        reply: oneshot::Sender<Result<Vec<Entry>, StoreError>>,
    },
    /// A session has room for the run, which it hears of with its journal.
    Bring,
    /// Nobody executes the run here any more: the worker let go of it, or is lost.
    GiveBack { as_lost: bool },
}

/// What no session has heard yet of a run.
#[derive(Default)]
pub(super) struct Untold {
    pub(super) cautious: bool,
    /// What came meanwhile.
    pub(super) news: Vec<NewsWord>,
}

/// Where a run stands.
pub(super) enum Place {
    /// It waits for a session.
    Waiting(Untold),
    /// It is for this session, which hears of it when its journal has been read.
    Coming { session: String, untold: Untold },
    /// This session executes it, or keeps it suspended.
    With { session: String, executing: bool },
    /// Its execution by this session is over; this is what its last append was answered, in case the answer got lost.
    Over {
        session: String,
        seq: u64,
        last: Option<OneAnswer>,
    },
}

/// A run of the pool.
pub(super) struct Seat {
    pub(super) run: RunId,
    pub(super) generation: Generation,
    pub(super) workflow: Name,
    pub(super) version: u32,
    pub(super) orders: mpsc::UnboundedSender<Order>,
    pub(super) place: Place,
}

impl Seat {
    /// Whether the session has something to do with it.
    pub(super) fn is_of(&self, session: &str) -> bool {
        match &self.place {
            Place::Waiting(_) => false,
            Place::Coming { session: its, .. }
            | Place::With { session: its, .. }
            | Place::Over { session: its, .. } => its == session,
        }
    }

    pub(super) fn is_executing(&self) -> bool {
        matches!(
            self.place,
            Place::Coming { .. }
                | Place::With {
                    executing: true,
                    ..
                }
        )
    }
}

/// Whether an executor is done with its run once this is durable.
pub(super) fn is_last(then: Then) -> bool {
    match then {
        Then::Continue | Then::GoOnAs(_) | Then::Suspend(_) => false,
        Then::Park(_) | Then::Release | Then::Abandon | Then::End(_) | Then::EndAnyway(_) => true,
    }
}
