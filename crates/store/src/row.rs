//! Rows: data that must be found without reading a journal. All rows of streams except the outbox
//! can be rebuilt from the journals; a rebuilt outbox may repeat effects, which are idempotent.

#![allow(missing_docs, reason = "plain data")]

use everstep_model::record::TimerPurpose;
use everstep_model::{
    Generation, Location, Name, Payload, RecordNumber, RpcId, RunId, StreamName, StreamNumber,
    Timestamp,
};

use crate::shared_row::{SharedKey, SharedRow};
use crate::stream_row::{ProducerRow, StreamRow};

/// A timer. It is its own key, and timers sort in the order in which they fire.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TimerRow {
    /// The earliest time at which the timer fires.
    pub due: Timestamp,
    /// The journal of a run, or a user stream.
    pub stream: StreamNumber,
    pub purpose: TimerPurpose,
    /// The operation that set the timer; `None` for timers of the run itself.
    pub location: Option<Location>,
}

/// An rpc that can be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcRow {
    pub stream: StreamNumber,
    pub id: RpcId,
    /// The operation that waits for the answer.
    pub location: Location,
    pub method: Name,
    /// When the operation stops waiting.
    pub deadline: Option<Timestamp>,
    /// The schema of the answer.
    pub schema: Option<Payload>,
}

/// A used idempotency key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyRow {
    /// Scopes the key: workflows do not share keys.
    pub workflow: Name,
    pub key: String,
    /// The journal of the run that was started with this key.
    pub stream: StreamName,
}

/// The latest generation of a run, and its journal. A run in its first generation has no such row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenerationRow {
    pub run: RunId,
    pub generation: Generation,
    pub stream: StreamNumber,
}

/// An effect on another run that was committed and is not delivered yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxRow {
    /// The run that caused the effect.
    pub stream: StreamNumber,
    /// Keys sort in the order in which the run caused its effects.
    pub key: String,
    /// The store does not interpret it.
    pub effect: Payload,
}

/// A row of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    Timer(TimerRow),
    Rpc(RpcRow),
    Idempotency(IdempotencyRow),
    Generation(GenerationRow),
    Outbox(OutboxRow),
    Stream(Box<StreamRow>),
    Producer(ProducerRow),
    Shared(SharedRow),
}

/// The key of a [`Row`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RowKey {
    Timer(TimerRow),
    Rpc(StreamNumber, RpcId),
    Idempotency(Name, String),
    Generation(RunId),
    Outbox(StreamNumber, String),
    Stream(StreamNumber),
    Producer(StreamNumber, String),
    Shared(SharedKey),
}

impl RowKey {
    /// Returns the stream whose removal also removes this row.
    #[must_use]
    pub fn goes_with(&self) -> Option<StreamNumber> {
        match self {
            Self::Rpc(stream, _)
            | Self::Outbox(stream, _)
            | Self::Stream(stream)
            | Self::Producer(stream, _) => Some(*stream),
            Self::Timer(_) | Self::Idempotency(..) | Self::Generation(_) | Self::Shared(_) => None,
        }
    }
}

impl Row {
    /// Returns the key of the row.
    #[must_use]
    pub fn key(&self) -> RowKey {
        match self {
            Self::Timer(timer) => RowKey::Timer(timer.clone()),
            Self::Rpc(rpc) => RowKey::Rpc(rpc.stream, rpc.id.clone()),
            Self::Idempotency(row) => RowKey::Idempotency(row.workflow.clone(), row.key.clone()),
            Self::Generation(row) => RowKey::Generation(row.run.clone()),
            Self::Outbox(row) => RowKey::Outbox(row.stream, row.key.clone()),
            Self::Stream(row) => RowKey::Stream(row.stream),
            Self::Producer(row) => RowKey::Producer(row.stream, row.id.clone()),
            Self::Shared(row) => RowKey::Shared(row.key.clone()),
        }
    }

    /// Fills in the values that the store assigns: the number of the commit's stream, its end after
    /// the commit, and the time by the store's clock.
    #[must_use]
    pub fn filled_in(mut self, number: StreamNumber, end: RecordNumber, now: Timestamp) -> Self {
        match &mut self {
            Self::Timer(timer) => timer.stream = number,
            Self::Rpc(rpc) => rpc.stream = number,
            Self::Generation(row) => row.stream = number,
            Self::Outbox(row) => row.stream = number,
            Self::Producer(row) => {
                row.stream = number;
                row.end = end;
            }
            // A commit may also put the row of another stream: a fork is counted in its source.
            Self::Stream(row) if row.stream == StreamNumber(0) => row.stream = number,
            Self::Stream(_) | Self::Idempotency(_) | Self::Shared(_) => {}
        }
        self.stamped(now)
    }

    /// Fills in the time by the store's clock.
    #[must_use]
    pub fn stamped(mut self, now: Timestamp) -> Self {
        if let Self::Shared(row) = &mut self {
            row.fill_in(now);
        }
        self
    }
}
