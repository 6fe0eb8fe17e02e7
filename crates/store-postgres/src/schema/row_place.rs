//! Where a row is in the table `rows`, and what it holds there. `docs/format.md` describes it.

use everstep_model::{RecordNumber, StreamNumber, Timestamp};
use everstep_store::encoding::{self, Damaged, In, Out, Unreadable, put_timer, tail, take_timer};
use everstep_store::{
    CommitTime, GenerationRow, ProducerRow, Row, RowKey, SharedKind, SharedRow, TimerRow,
};

use crate::number::{count, millis, uncount};

/// The kinds of rows. Those from `Dedup` to `Producer` belong to a stream and are removed with it.
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
            Self::Idempotency | Self::Generation | Self::Stream => true,
            Self::Schedule
            | Self::Slot
            | Self::Waiter
            | Self::Rate
            | Self::Fair
            | Self::Collecting
            | Self::Attribute
            | Self::OpenRpc => true,
        }
    }

    /// Whether such rows go when their stream is removed.
    pub(crate) fn goes_with_stream(self) -> bool {
        self > Self::Generation && self <= Self::Producer
    }
}

/// Where a row is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct RowPlace {
    pub(crate) kind: Kind,
    pub(crate) stream: StreamNumber,
    pub(crate) key: Vec<u8>,
    pub(crate) due: Option<i64>,
}

impl RowPlace {
    pub(crate) fn of(key: &RowKey) -> Self {
        let mut out = Out::default();
        let (kind, stream) = match key {
            RowKey::Timer(timer) => return Self::of_timer(timer),
            RowKey::Rpc(stream, id) => {
                tail(&mut out, id.0.as_bytes());
                (Kind::Rpc, *stream)
            }
            RowKey::Idempotency(workflow, id) => {
                out.text(workflow.as_str());
                tail(&mut out, id.as_bytes());
                (Kind::Idempotency, StreamNumber(0))
            }
            RowKey::Generation(run) => {
                tail(&mut out, run.as_str().as_bytes());
                (Kind::Generation, StreamNumber(0))
            }
            RowKey::Outbox(stream, id) => {
                tail(&mut out, id.as_bytes());
                (Kind::Outbox, *stream)
            }
            RowKey::Stream(stream) => (Kind::Stream, *stream),
            RowKey::Producer(stream, id) => {
                tail(&mut out, id.as_bytes());
                (Kind::Producer, *stream)
            }
            RowKey::Shared(key) => {
                out.raw(&encoding::shared_key(key));
                (key.kind().into(), StreamNumber(0))
            }
        };
        Self {
            kind,
            stream,
            key: out.0,
            due: None,
        }
    }

    /// Where the place of a dedup id is kept.
    pub(crate) fn of_dedup(stream: StreamNumber, id: &str) -> Self {
        let mut out = Out::default();
        tail(&mut out, id.as_bytes());
        Self {
            kind: Kind::Dedup,
            stream,
            key: out.0,
            due: None,
        }
    }

    /// The order of keys is that of timers of one stream; the due time is a column too, for the
    /// order of all of them.
    fn of_timer(timer: &TimerRow) -> Self {
        let mut out = Out::default();
        let due = millis(timer.due);
        out.fixed(uncount(due));
        put_timer(&mut out, timer);
        Self {
            kind: Kind::Timer,
            stream: timer.stream,
            key: out.0,
            due: Some(due),
        }
    }
}

/// What a row holds: its bytes without what only the commit knows, and that.
pub(crate) fn contents(row: &Row) -> (Vec<u8>, Option<i64>) {
    match row {
        Row::Timer(timer) => (put_timer(&mut Out::default(), timer), None),
        Row::Generation(row) => {
            let unplaced = GenerationRow {
                stream: StreamNumber(0),
                ..row.clone()
            };
            let bytes = encoding::encode_row(&Row::Generation(unplaced));
            (bytes, Some(count(row.stream.0)))
        }
        Row::Producer(row) => {
            let unplaced = ProducerRow {
                end: RecordNumber(0),
                ..row.clone()
            };
            let bytes = encoding::encode_row(&Row::Producer(unplaced));
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

/// What a stored row must hold to equal this one. A row whose time is yet to be filled in equals no
/// stored row; no stored time is negative.
pub(crate) fn expected_contents(row: &Row) -> (Vec<u8>, Option<i64>) {
    let (bytes, place) = contents(row);
    match row {
        Row::Shared(row) if row.committed_at == CommitTime::FillIn => (bytes, Some(-1)),
        _ => (bytes, place),
    }
}

/// The row of a key, from what it holds.
pub(crate) fn row(key: &RowKey, bytes: &[u8], place: Option<i64>) -> Result<Row, Unreadable> {
    if let RowKey::Timer(timer) = key {
        return Ok(Row::Timer(timer.clone()));
    }
    let mut row = encoding::decode_row(key, bytes)?;
    if let (Row::Shared(row), Some(time)) = (&mut row, place) {
        row.committed_at = CommitTime::At(Timestamp::from_millis(uncount(time)));
    }
    let place = uncount(place.unwrap_or(0));
    match &mut row {
        Row::Generation(row) => row.stream = StreamNumber(place),
        Row::Producer(row) => row.end = RecordNumber(place),
        Row::Timer(_)
        | Row::Rpc(_)
        | Row::Idempotency(_)
        | Row::Outbox(_)
        | Row::Stream(_)
        | Row::Shared(_) => {}
    }
    Ok(row)
}

/// A timer from its stream, its key and what its row holds.
pub(crate) fn timer(stream: StreamNumber, key: &[u8], bytes: &[u8]) -> Result<TimerRow, Damaged> {
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
