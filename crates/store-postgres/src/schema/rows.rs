//! Keys and values of the table `rows`. `docs/format.md` describes them.

use everstep_model::{RecordNumber, StreamNumber, Timestamp};
use everstep_store::encoding::{self, Damaged, In, Out, put_timer, tail, take_timer};
use everstep_store::{
    CommitTime, GenerationRow, ProducerRow, Row, RowKey, SharedKind, SharedRow, StoreError,
    TimerRow,
};

use crate::failure::unreadable;
use crate::number::{count, millis, uncount};

/// The kinds of rows. Those from `Dedup` to `Producer` are removed with their stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    Timer = 1,
    Idempotency = 2,
    Generation = 3,
    Dedup = 4,
    Rpc = 5,
    Outbox = 6,
    Stream = 7,
    Producer = 8,
    Schedule = 9,
    Slot = 10,
    Waiter = 11,
    Rate = 12,
    Fair = 13,
    Collecting = 14,
    Attribute = 15,
    OpenRpc = 16,
    Feed = 17,
    Link = 18,
}

impl From<SharedKind> for Kind {
    fn from(kind: SharedKind) -> Self {
        match kind {
            SharedKind::Schedule => Self::Schedule,
            SharedKind::Slot => Self::Slot,
            SharedKind::Waiter => Self::Waiter,
            SharedKind::Rate => Self::Rate,
            SharedKind::Fair => Self::Fair,
            SharedKind::Collecting => Self::Collecting,
            SharedKind::Attribute => Self::Attribute,
            SharedKind::OpenRpc => Self::OpenRpc,
            SharedKind::Feed => Self::Feed,
            SharedKind::Link => Self::Link,
        }
    }
}

impl Kind {
    pub(crate) fn code(self) -> i16 {
        self as i16
    }

    /// Whether commits of several streams write such rows, so that a stream's own lock does not
    /// protect them.
    pub(crate) fn is_shared(self) -> bool {
        match self {
            Self::Timer | Self::Dedup | Self::Rpc | Self::Outbox | Self::Producer => false,
            Self::Idempotency
            | Self::Generation
            | Self::Stream
            | Self::Schedule
            | Self::Slot
            | Self::Waiter
            | Self::Rate
            | Self::Fair
            | Self::Collecting
            | Self::Attribute
            | Self::OpenRpc
            | Self::Feed
            | Self::Link => true,
        }
    }

    /// Whether such rows are removed with their stream.
    pub(crate) fn goes_with_stream(self) -> bool {
        self > Self::Generation && self <= Self::Producer
    }
}

/// The columns of `rows` that identify a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct StoredKey {
    pub(crate) kind: Kind,
    pub(crate) stream: StreamNumber,
    pub(crate) key: Vec<u8>,
    pub(crate) due: Option<i64>,
}

impl StoredKey {
    pub(crate) fn of(key: &RowKey) -> Self {
        match key {
            RowKey::Timer(timer) => Self::of_timer(timer),
            RowKey::Rpc(stream, id) => Self::of_id(Kind::Rpc, *stream, &id.0),
            RowKey::Idempotency(workflow, id) => {
                let mut out = Out::default();
                out.text(workflow.as_str());
                tail(&mut out, id.as_bytes());
                Self::new(Kind::Idempotency, StreamNumber(0), out.0)
            }
            RowKey::Generation(run) => Self::of_id(Kind::Generation, StreamNumber(0), run.as_str()),
            RowKey::Outbox(stream, id) => Self::of_id(Kind::Outbox, *stream, id),
            RowKey::Stream(stream) => Self::new(Kind::Stream, *stream, Vec::new()),
            RowKey::Producer(stream, id) => Self::of_id(Kind::Producer, *stream, id),
            RowKey::Shared(key) => Self::new(
                key.kind().into(),
                StreamNumber(0),
                encoding::shared_key(key),
            ),
        }
    }

    pub(crate) fn of_id(kind: Kind, stream: StreamNumber, id: &str) -> Self {
        let mut out = Out::default();
        tail(&mut out, id.as_bytes());
        Self::new(kind, stream, out.0)
    }

    /// Keys order the timers of a stream; the column `due` orders all timers.
    fn of_timer(timer: &TimerRow) -> Self {
        let mut out = Out::default();
        let due = millis(timer.due);
        out.fixed(uncount(due));
        put_timer(&mut out, timer);
        Self {
            due: Some(due),
            ..Self::new(Kind::Timer, timer.stream, out.0)
        }
    }

    fn new(kind: Kind, stream: StreamNumber, key: Vec<u8>) -> Self {
        Self {
            kind,
            stream,
            key,
            due: None,
        }
    }
}

/// Encodes a row as the columns `value` and `place`. Some places are known only to the commit.
pub(crate) fn contents(row: &Row) -> (Vec<u8>, Option<i64>) {
    match row {
        Row::Timer(timer) => (put_timer(&mut Out::default(), timer), None),
        Row::Generation(row) => {
            let without_place = GenerationRow {
                stream: StreamNumber(0),
                ..row.clone()
            };
            let bytes = encoding::encode_row(&Row::Generation(without_place));
            (bytes, Some(count(row.stream.0)))
        }
        Row::Producer(row) => {
            let without_place = ProducerRow {
                end: RecordNumber(0),
                ..row.clone()
            };
            let bytes = encoding::encode_row(&Row::Producer(without_place));
            (bytes, Some(count(row.end.0)))
        }
        Row::Shared(row) => {
            let unstamped = SharedRow {
                committed_at: CommitTime::Absent,
                ..row.clone()
            };
            let stamp = match row.committed_at {
                CommitTime::At(time) => Some(millis(time)),
                CommitTime::Absent | CommitTime::FillIn => None,
            };
            (encoding::encode_row(&Row::Shared(unstamped)), stamp)
        }
        Row::Rpc(_) | Row::Idempotency(_) | Row::Outbox(_) | Row::Stream(_) => {
            (encoding::encode_row(row), None)
        }
    }
}

/// Encodes a row to compare it with a stored one. A row whose time is to be filled in differs from
/// every stored row, because no stored time is negative.
pub(crate) fn expected_contents(row: &Row) -> (Vec<u8>, Option<i64>) {
    let (bytes, place) = contents(row);
    match row {
        Row::Shared(row) if row.committed_at == CommitTime::FillIn => (bytes, Some(-1)),
        _ => (bytes, place),
    }
}

/// Decodes the row of a key.
pub(crate) fn decode(key: &RowKey, bytes: &[u8], place: Option<i64>) -> Result<Row, StoreError> {
    if let RowKey::Timer(timer) = key {
        return Ok(Row::Timer(timer.clone()));
    }
    let mut row = encoding::decode_row(key, bytes).map_err(|error| {
        let StoredKey { kind, stream, .. } = StoredKey::of(key);
        unreadable(format_args!("a row of kind {kind:?}, stream {stream}"))(error)
    })?;
    let number = uncount(place.unwrap_or(0));
    match &mut row {
        Row::Generation(row) => row.stream = StreamNumber(number),
        Row::Producer(row) => row.end = RecordNumber(number),
        Row::Shared(row) if place.is_some() => {
            row.committed_at = CommitTime::At(Timestamp::from_millis(number));
        }
        Row::Timer(_)
        | Row::Rpc(_)
        | Row::Idempotency(_)
        | Row::Outbox(_)
        | Row::Stream(_)
        | Row::Shared(_) => {}
    }
    Ok(row)
}

/// Decodes a timer.
pub(crate) fn decode_timer(
    stream: StreamNumber,
    key: &[u8],
    bytes: &[u8],
) -> Result<TimerRow, Damaged> {
    let mut input = In(key);
    let due = Timestamp::from_millis(input.fixed()?);
    let (purpose, location) = take_timer(&mut input, bytes)?;
    Ok(TimerRow {
        due,
        stream,
        purpose,
        location,
    })
}
