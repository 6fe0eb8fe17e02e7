//! The keys of every table. Byte order is the order the store reads in: streams by number, records by number, timers
//! by due time. `docs/format.md` describes them; they are permanent.
//!
//! A key has at most one part of free length, and that part stands last or behind its length, so no two keys run into
//! each other. Free parts over [`TAIL_MAX`] bytes are cut and hashed: the key-value store below takes 65,535 bytes.

use everstep_model::record::TimerPurpose;
use everstep_model::{
    Location, Name, RecordNumber, RunStatus, Scope, Segment, StreamNumber, Timestamp,
};
use everstep_store::{RowKey, TimerRow};

use crate::coding::{Damaged, In, Out, text};

/// Bytes of a key's last part that are kept as they are.
pub(crate) const TAIL_MAX: usize = 1_024;

const NAME: u8 = b'n';
const DEDUP: u8 = b'd';
const RPC: u8 = b'r';
const IDEMPOTENCY: u8 = b'i';
const GENERATION: u8 = b'g';
/// What is remembered of removed streams.
pub(crate) const REMOVED: [u8; 1] = [b'x'];
const OUTBOX: u8 = b'o';
const HOLES: u8 = b'h';
const STREAM: u8 = b's';
const PRODUCER: u8 = b'p';
const BY_WORKFLOW: u8 = b'w';
const BY_TAG: u8 = b't';

/// A frame: its stream and its first record.
pub(crate) fn frame(stream: StreamNumber, first: RecordNumber) -> [u8; 16] {
    let mut key = [0; 16];
    let (high, low) = key.split_at_mut(8);
    high.copy_from_slice(&stream.0.to_be_bytes());
    low.copy_from_slice(&first.0.to_be_bytes());
    key
}

/// The first record of a frame, from its key.
pub(crate) fn first_of_frame(key: &[u8]) -> Result<RecordNumber, Damaged> {
    let mut input = In(key);
    input.fixed()?;
    input.fixed().map(RecordNumber)
}

/// A head, or a ready mark.
pub(crate) fn stream(number: StreamNumber) -> [u8; 8] {
    number.0.to_be_bytes()
}

/// The stream of a key that is nothing else, or ends with it.
pub(crate) fn stream_at_end(key: &[u8]) -> Result<StreamNumber, Damaged> {
    let start = key.len().checked_sub(8);
    let end = start.and_then(|start| key.get(start..));
    In(end.unwrap_or_default()).fixed().map(StreamNumber)
}

/// A stream's number, by name.
pub(crate) fn name(name: &str) -> Vec<u8> {
    let mut key = Out::default();
    key.byte(NAME);
    tail(&mut key, name.as_bytes());
    key.0
}

/// A dedup id of a stream.
pub(crate) fn dedup(stream: StreamNumber, id: &str) -> Vec<u8> {
    let mut key = Out::default();
    key.byte(DEDUP).fixed(stream.0);
    tail(&mut key, id.as_bytes());
    key.0
}

/// Where records of a stream were dropped.
pub(crate) fn holes(stream: StreamNumber) -> Vec<u8> {
    let mut key = Out::default();
    key.byte(HOLES).fixed(stream.0);
    key.0
}

/// What the keys of a stream's dedup ids, rpcs, effects, gaps, producers and of its own row begin with.
pub(crate) fn rows_of_stream(stream: StreamNumber) -> [Vec<u8>; 6] {
    [DEDUP, RPC, OUTBOX, HOLES, STREAM, PRODUCER].map(|kind| {
        let mut key = Out::default();
        key.byte(kind).fixed(stream.0);
        key.0
    })
}

/// An rpc, an idempotency key, a run's generation, an effect, a user's stream or a producer; timers have a table of their own.
pub(crate) fn lookup(row: &RowKey) -> Option<Vec<u8>> {
    let mut key = Out::default();
    match row {
        RowKey::Timer(_) => return None,
        RowKey::Rpc(stream, id) => {
            key.byte(RPC).fixed(stream.0);
            tail(&mut key, id.0.as_bytes());
        }
        RowKey::Idempotency(workflow, id) => {
            key.byte(IDEMPOTENCY).text(workflow.as_str());
            tail(&mut key, id.as_bytes());
        }
        RowKey::Generation(run) => {
            key.byte(GENERATION);
            tail(&mut key, run.as_str().as_bytes());
        }
        RowKey::Outbox(stream, id) => {
            key.byte(OUTBOX).fixed(stream.0);
            tail(&mut key, id.as_bytes());
        }
        RowKey::Stream(stream) => {
            key.byte(STREAM).fixed(stream.0);
        }
        RowKey::Producer(stream, id) => {
            key.byte(PRODUCER).fixed(stream.0);
            tail(&mut key, id.as_bytes());
        }
    }
    Some(key.0)
}

/// Where the keys of effects begin, and where they have ended.
pub(crate) fn all_effects() -> ([u8; 1], [u8; 1]) {
    ([OUTBOX], [OUTBOX + 1])
}

/// The run that caused an effect, from the effect's key.
pub(crate) fn stream_of_effect(key: &[u8]) -> Result<StreamNumber, Damaged> {
    let mut input = In(key);
    input.byte()?;
    input.fixed().map(StreamNumber)
}

/// Runs of one workflow: what their list keys begin with.
pub(crate) fn workflow(workflow: &str) -> Vec<u8> {
    let mut key = Out::default();
    key.byte(BY_WORKFLOW).text(workflow);
    key.0
}

/// Where the list keys of any workflow begin, and where they have ended.
pub(crate) fn all_workflows() -> ([u8; 1], [u8; 1]) {
    ([BY_WORKFLOW], [BY_WORKFLOW + 1])
}

/// The workflow of a list key.
pub(crate) fn workflow_of(key: &[u8]) -> Result<&str, Damaged> {
    let mut input = In(key);
    input.byte()?;
    input.text()
}

/// Runs of one workflow in one status.
pub(crate) fn status(workflow: &Name, status: RunStatus) -> Vec<u8> {
    let mut key = self::workflow(workflow.as_str());
    key.push(status.code());
    key
}

/// Runs with a tag.
pub(crate) fn tag(tag: &str) -> Vec<u8> {
    let mut part = Out::default();
    tail(&mut part, tag.as_bytes());
    let mut key = Out::default();
    key.byte(BY_TAG).varint(part.0.len() as u64).raw(&part.0);
    key.0
}

/// One run behind what its list keys begin with.
pub(crate) fn listed(mut prefix: Vec<u8>, number: StreamNumber) -> Vec<u8> {
    prefix.extend_from_slice(&number.0.to_be_bytes());
    prefix
}

/// A timer, and its value: empty, or its location where that is too long for a key.
pub(crate) fn timer(row: &TimerRow) -> (Vec<u8>, Vec<u8>) {
    let mut key = Out::default();
    key.fixed(row.due.as_millis()).fixed(row.stream.0);
    key.byte(purpose_code(row.purpose));
    let Some(location) = &row.location else {
        key.byte(0);
        return (key.0, Vec::new());
    };
    let whole = location_bytes(location);
    if whole.len() <= TAIL_MAX {
        key.byte(1).raw(&whole);
        return (key.0, Vec::new());
    }
    key.byte(2);
    tail(&mut key, &whole);
    (key.0, whole)
}

/// Where timers due at or after a time begin.
pub(crate) fn timers_from(due: Timestamp) -> [u8; 8] {
    due.as_millis().to_be_bytes()
}

/// A timer from its key and value.
pub(crate) fn timer_row(key: &[u8], value: &[u8]) -> Result<TimerRow, Damaged> {
    let mut input = In(key);
    let due = Timestamp::from_millis(input.fixed()?);
    let stream = StreamNumber(input.fixed()?);
    let purpose = purpose(input.byte()?)?;
    let location = match input.byte()? {
        0 => None,
        1 => Some(location(&mut input)?),
        2 => Some(location(&mut In(value))?),
        _ => return Err(Damaged("a timer's place is of an unknown kind")),
    };
    Ok(TimerRow {
        due,
        stream,
        purpose,
        location,
    })
}

fn purpose_code(purpose: TimerPurpose) -> u8 {
    match purpose {
        TimerPurpose::Sleep => 0,
        TimerPurpose::Wait => 1,
        TimerPurpose::Rpc => 2,
        TimerPurpose::Retry => 3,
        TimerPurpose::ExecutionRetry => 4,
        TimerPurpose::Deadline => 5,
        TimerPurpose::Child => 6,
        TimerPurpose::Undo => 7,
        TimerPurpose::Expiry => 8,
    }
}

fn purpose(code: u8) -> Result<TimerPurpose, Damaged> {
    Ok(match code {
        0 => TimerPurpose::Sleep,
        1 => TimerPurpose::Wait,
        2 => TimerPurpose::Rpc,
        3 => TimerPurpose::Retry,
        4 => TimerPurpose::ExecutionRetry,
        5 => TimerPurpose::Deadline,
        6 => TimerPurpose::Child,
        7 => TimerPurpose::Undo,
        8 => TimerPurpose::Expiry,
        _ => return Err(Damaged("a timer has an unknown purpose")),
    })
}

/// A location so that byte order is its own order. Names hold no control characters, so a zero ends them.
pub(crate) fn location_bytes(location: &Location) -> Vec<u8> {
    let mut out = Out::default();
    for segment in location.scope.segments() {
        match segment {
            Segment::Named(name, counter) => {
                out.byte(1).raw(name.as_str().as_bytes()).byte(0);
                out.raw(&counter.to_be_bytes());
            }
            Segment::Iteration(number) => {
                out.byte(2).fixed(*number);
            }
        }
    }
    out.byte(0).raw(location.name.as_str().as_bytes()).byte(0);
    out.raw(&location.counter.to_be_bytes());
    out.0
}

/// Reads a location back.
pub(crate) fn location(input: &mut In<'_>) -> Result<Location, Damaged> {
    let mut path = Vec::new();
    loop {
        match input.byte()? {
            0 => break,
            1 => path.push(Segment::Named(name_part(input)?, input.fixed_short()?)),
            2 => path.push(Segment::Iteration(input.fixed()?)),
            _ => return Err(Damaged("a scope is of an unknown kind")),
        }
    }
    Ok(Location {
        scope: Scope::from_segments(path),
        name: name_part(input)?,
        counter: input.fixed_short()?,
    })
}

fn name_part(input: &mut In<'_>) -> Result<Name, Damaged> {
    checked_name(text(input.until_zero()?)?)
}

/// A name as it was stored.
pub(crate) fn checked_name(text: &str) -> Result<Name, Damaged> {
    Name::internal(text).map_err(|_| Damaged("a name breaks the rules of names"))
}

fn tail(key: &mut Out, bytes: &[u8]) {
    match bytes.split_at_checked(TAIL_MAX) {
        Some((kept, rest)) if !rest.is_empty() => key.raw(kept).raw(&fnv(bytes).to_be_bytes()),
        _ => key.raw(bytes),
    };
}

/// FNV-1a with 128 bits: stable for ever, which the standard library's hashers are not.
fn fnv(bytes: &[u8]) -> u128 {
    let start = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    let prime = 0x0000_0000_0100_0000_0000_0000_0000_013b_u128;
    let step = |hash: u128, byte: &u8| (hash ^ u128::from(*byte)).wrapping_mul(prime);
    bytes.iter().fold(start, step)
}

#[cfg(test)]
mod tests;
