//! Rows: data that must be found without reading a journal. All rows of streams except the outbox
//! can be rebuilt from the journals; a rebuilt outbox may repeat effects, which are idempotent.

use everstep_model::record::TimerPurpose;
use everstep_model::{
    Generation, Location, Name, Payload, RecordNumber, RpcId, RunId, StreamNumber, Timestamp,
};

use crate::shared_row::{SharedKey, SharedRow};
use crate::stream_row::{ProducerRow, StreamRow};

/// A timer. It is its own key, and timers sort in the order in which they fire.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TimerRow {
    /// The earliest time at which it fires.
    pub due: Timestamp,
    /// The journal of its run, or a user stream.
    pub stream: StreamNumber,
    /// What it is for.
    pub purpose: TimerPurpose,
    /// The operation it belongs to; `None` for timers of the run itself.
    pub location: Option<Location>,
}

/// An rpc that can be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcRow {
    /// The journal of its run.
    pub stream: StreamNumber,
    /// The id that answers name.
    pub id: RpcId,
    /// The operation that waits for the answer.
    pub location: Location,
    /// The method of the rpc.
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
    /// The key.
    pub key: String,
    /// The stream of the run that was started with this key.
    pub stream: everstep_model::StreamName,
}

/// The latest generation of a run that was revived; a run in its first has no such row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenerationRow {
    /// The run.
    pub run: RunId,
    /// Its latest generation.
    pub generation: Generation,
    /// The journal of that generation.
    pub stream: StreamNumber,
}

/// An effect on another run that was decided with a commit and is not delivered yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxRow {
    /// The run that caused it.
    pub stream: StreamNumber,
    /// Its key; the order of keys is the order in which the run caused its effects.
    pub key: String,
    /// The effect, which the store does not interpret.
    pub effect: Payload,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// A timer.
    Timer(TimerRow),
    /// An open rpc.
    Rpc(RpcRow),
    /// A used idempotency key.
    Idempotency(IdempotencyRow),
    /// The latest generation of a run.
    Generation(GenerationRow),
    /// An effect on another run.
    Outbox(OutboxRow),
    /// What a user's stream is besides its records.
    Stream(Box<StreamRow>),
    /// What a producer has appended to a user's stream.
    Producer(ProducerRow),
    /// A row that belongs to no stream.
    Shared(SharedRow),
}

/// The key of a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RowKey {
    /// A timer, which is its own key.
    Timer(TimerRow),
    /// An open rpc.
    Rpc(StreamNumber, RpcId),
    /// A used idempotency key.
    Idempotency(Name, String),
    /// The latest generation of a run.
    Generation(RunId),
    /// An effect on another run.
    Outbox(StreamNumber, String),
    /// What a user's stream is besides its records.
    Stream(StreamNumber),
    /// A producer of a user's stream, by its id.
    Producer(StreamNumber, String),
    /// A row that belongs to no stream.
    Shared(SharedKey),
}

impl RowKey {
    /// The stream whose removal also removes this row.
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
    /// Its key.
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

    /// Fills in what only the store knows: the number of the commit's stream, its end after the
    /// commit, and the time by the store's clock.
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
            // A fork is counted in the row of its source, which belongs to another stream.
            Self::Stream(row) if row.stream == StreamNumber(0) => row.stream = number,
            Self::Stream(_) | Self::Idempotency(_) => {}
            Self::Shared(row) => row.fill_in(now),
        }
        self
    }
}
