//! The keys of every table. Byte order is the order the store reads in: streams by number, records
//! by number, timers by due time. `docs/format.md` describes them; they are permanent.
//!
//! A key has at most one part of free length, and that part stands last or behind its length, so no
//! two keys run into each other. Free parts over [`encoding::TAIL_MAX`] bytes are cut and hashed: the
//! key-value store below takes 65,535 bytes.

use everstep_model::{Name, RecordNumber, RunStatus, StreamNumber, Timestamp};
use everstep_store::encoding::{
    self, Damaged, In, Out, decode_shared_key, put_timer, tail, take_timer,
};
use everstep_store::{RowKey, SharedKey, SharedKind, TimerRow};

use crate::encoding::page;

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
const SHARED: u8 = b'z';
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

/// A head.
pub(crate) fn stream(number: StreamNumber) -> [u8; 8] {
    number.0.to_be_bytes()
}

/// The stream of a head's key.
pub(crate) fn stream_of_head(key: &[u8]) -> Result<StreamNumber, Damaged> {
    number_at_end(key).map(StreamNumber)
}

fn number_at_end(key: &[u8]) -> Result<u64, Damaged> {
    let start = key.len().checked_sub(8);
    let end = start.and_then(|start| key.get(start..));
    In(end.unwrap_or_default()).fixed()
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

/// What the keys of a stream's dedup ids, rpcs, effects, gaps, producers and of its own row begin
/// with.
pub(crate) fn rows_of_stream(stream: StreamNumber) -> [Vec<u8>; 6] {
    [DEDUP, RPC, OUTBOX, HOLES, STREAM, PRODUCER].map(|kind| {
        let mut key = Out::default();
        key.byte(kind).fixed(stream.0);
        key.0
    })
}

/// An rpc, an idempotency key, a run's generation, an effect, a user's stream or a producer; timers
/// have a table of their own.
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
        RowKey::Shared(shared) => {
            return Some(shared_row(shared.kind(), &encoding::shared_key(shared)));
        }
    }
    Some(key.0)
}

/// A shared row, by its kind and its encoded parts.
pub(crate) fn shared_row(kind: SharedKind, parts: &[u8]) -> Vec<u8> {
    let mut key = Out::default();
    key.byte(SHARED).byte(kind.code()).raw(parts);
    key.0
}

/// The key of a shared row of this kind.
pub(crate) fn shared_key(kind: SharedKind, key: &[u8]) -> Result<SharedKey, Damaged> {
    let mut input = In(key);
    input.raw(2)?;
    decode_shared_key(kind, input.0)
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

/// A page of a set of streams: what the keys of the set begin with, and the number of the page.
pub(crate) fn page(set: &[u8], number: u64) -> Vec<u8> {
    let mut key = Vec::with_capacity(set.len() + 8);
    key.extend_from_slice(set);
    key.extend_from_slice(&number.to_be_bytes());
    key
}

/// The first stream of a page, from its key.
pub(crate) fn first_of_page(key: &[u8]) -> Result<StreamNumber, Damaged> {
    number_at_end(key).and_then(page::first_of)
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

/// A timer, and its value: empty, or its location where that is too long for a key.
pub(crate) fn timer(row: &TimerRow) -> (Vec<u8>, Vec<u8>) {
    let mut key = Out::default();
    key.fixed(row.due.as_millis()).fixed(row.stream.0);
    let value = put_timer(&mut key, row);
    (key.0, value)
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
    let (purpose, location) = take_timer(&mut input, value)?;
    Ok(TimerRow {
        due,
        stream,
        purpose,
        location,
    })
}

#[cfg(test)]
mod tests;
