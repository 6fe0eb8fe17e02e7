//! The keys of all tables. They sort in the order in which the store reads: streams by number,
//! records by number, timers by due time. `docs/format.md` describes them; they are permanent.
//!
//! A key has at most one part of variable length, which is the last one or follows its length, so
//! keys are unambiguous. Such parts are truncated and hashed above [`encoding::TAIL_MAX`] bytes,
//! because the key-value store accepts at most 65,535 bytes.

use std::ops::Range;

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
/// The key of the lowest number and term that new streams may have after removals.
pub(crate) const REMOVED: [u8; 1] = [b'x'];
const OUTBOX: u8 = b'o';
const HOLES: u8 = b'h';
const STREAM: u8 = b's';
const PRODUCER: u8 = b'p';
const SHARED: u8 = b'z';
const BY_WORKFLOW: u8 = b'w';
const BY_TAG: u8 = b't';
const BY_HOUR: u8 = b'c';
/// The prefix of the list of all runs.
pub(crate) const ALL_RUNS: [u8; 1] = [b'a'];

pub(crate) fn frame(stream: StreamNumber, first: RecordNumber) -> [u8; 16] {
    (u128::from(stream.0) << 64 | u128::from(first.0)).to_be_bytes()
}

pub(crate) fn first_of_frame(key: &[u8]) -> Result<RecordNumber, Damaged> {
    let mut input = In(key);
    input.fixed()?;
    input.fixed().map(RecordNumber)
}

pub(crate) fn stream_of_frame(key: &[u8]) -> Result<StreamNumber, Damaged> {
    In(key).fixed().map(StreamNumber)
}

/// Returns the key of a head.
pub(crate) fn stream(number: StreamNumber) -> [u8; 8] {
    number.0.to_be_bytes()
}

pub(crate) fn stream_of_head(key: &[u8]) -> Result<StreamNumber, Damaged> {
    number_at_end(key).map(StreamNumber)
}

fn number_at_end(key: &[u8]) -> Result<u64, Damaged> {
    let start = key.len().checked_sub(8);
    let end = start.and_then(|start| key.get(start..));
    In(end.unwrap_or_default()).fixed()
}

fn key(kind: u8) -> Out {
    let mut key = Out::default();
    key.byte(kind);
    key
}

fn of_stream(kind: u8, stream: StreamNumber) -> Out {
    let mut key = key(kind);
    key.fixed(stream.0);
    key
}

fn with_tail(mut key: Out, part: &str) -> Vec<u8> {
    tail(&mut key, part.as_bytes());
    key.0
}

pub(crate) fn name(name: &str) -> Vec<u8> {
    with_tail(key(NAME), name)
}

pub(crate) fn dedup(stream: StreamNumber, id: &str) -> Vec<u8> {
    with_tail(of_stream(DEDUP, stream), id)
}

/// Returns the key of the ranges of dropped records.
pub(crate) fn holes(stream: StreamNumber) -> Vec<u8> {
    of_stream(HOLES, stream).0
}

/// Returns the prefixes of all rows in the table of lookups that belong to a stream.
pub(crate) fn rows_of_stream(stream: StreamNumber) -> [Vec<u8>; 6] {
    [DEDUP, RPC, OUTBOX, HOLES, STREAM, PRODUCER].map(|kind| of_stream(kind, stream).0)
}

/// Returns the key of a row in the table of lookups; `None` for timers, which have their own table.
pub(crate) fn lookup(row: &RowKey) -> Option<Vec<u8>> {
    Some(match row {
        RowKey::Timer(_) => return None,
        RowKey::Rpc(stream, id) => with_tail(of_stream(RPC, *stream), &id.0),
        RowKey::Idempotency(workflow, id) => {
            let mut key = key(IDEMPOTENCY);
            key.text(workflow.as_str());
            with_tail(key, id)
        }
        RowKey::Generation(run) => with_tail(key(GENERATION), run.as_str()),
        RowKey::Outbox(stream, id) => with_tail(of_stream(OUTBOX, *stream), id),
        RowKey::Stream(stream) => of_stream(STREAM, *stream).0,
        RowKey::Producer(stream, id) => with_tail(of_stream(PRODUCER, *stream), id),
        RowKey::Shared(shared) => shared_row(shared.kind(), &encoding::shared_key(shared)),
    })
}

/// Returns the key of a shared row with these encoded parts.
pub(crate) fn shared_row(kind: SharedKind, parts: &[u8]) -> Vec<u8> {
    let mut key = key(SHARED);
    key.byte(kind.code()).raw(parts);
    key.0
}

/// Decodes the key of a shared row of this kind.
pub(crate) fn shared_key(kind: SharedKind, key: &[u8]) -> Result<SharedKey, Damaged> {
    let mut input = In(key);
    input.raw(2)?;
    decode_shared_key(kind, input.0)
}

/// Returns the prefix of the keys of the latest generations of runs.
pub(crate) fn all_generations() -> Vec<u8> {
    vec![GENERATION]
}

/// Returns the range of the keys of effects.
pub(crate) fn all_effects() -> Range<[u8; 1]> {
    [OUTBOX]..[OUTBOX + 1]
}

pub(crate) fn stream_of_effect(key: &[u8]) -> Result<StreamNumber, Damaged> {
    let mut input = In(key);
    input.byte()?;
    input.fixed().map(StreamNumber)
}

/// Returns the key of a page of the set with this prefix.
pub(crate) fn page(set: &[u8], number: u64) -> Vec<u8> {
    let mut key = Vec::with_capacity(set.len() + 8);
    key.extend_from_slice(set);
    key.extend_from_slice(&number.to_be_bytes());
    key
}

pub(crate) fn first_of_page(key: &[u8]) -> Result<StreamNumber, Damaged> {
    number_at_end(key).and_then(page::first_of)
}

/// Returns the prefix of the lists of a workflow.
pub(crate) fn workflow(workflow: &str) -> Vec<u8> {
    let mut key = key(BY_WORKFLOW);
    key.text(workflow);
    key.0
}

/// Returns the range of the lists of all workflows.
pub(crate) fn all_workflows() -> Range<[u8; 1]> {
    [BY_WORKFLOW]..[BY_WORKFLOW + 1]
}

pub(crate) fn workflow_of(key: &[u8]) -> Result<&str, Damaged> {
    let mut input = In(key);
    input.byte()?;
    input.text()
}

/// Returns the prefix of the list of a workflow and a status.
pub(crate) fn status(workflow: &Name, status: RunStatus) -> Vec<u8> {
    let mut key = self::workflow(workflow.as_str());
    key.push(status.code());
    key
}

/// Returns the prefix of the list of a tag.
pub(crate) fn tag(tag: &str) -> Vec<u8> {
    let part = with_tail(Out::default(), tag);
    let mut key = key(BY_TAG);
    key.varint(part.len() as u64).raw(&part);
    key.0
}

/// Returns the hour of a time, counted like the time.
pub(crate) fn hour(time: Timestamp) -> u64 {
    time.as_millis() / 3_600_000
}

/// Returns the prefix of the list of the runs that were created in an hour.
pub(crate) fn created_in(hour: u64) -> Vec<u8> {
    let mut key = key(BY_HOUR);
    key.fixed(hour);
    key.0
}

pub(crate) fn hour_of(key: &[u8]) -> Result<u64, Damaged> {
    let mut input = In(key);
    input.byte()?;
    input.fixed()
}

/// Returns the end of the lists of all hours.
pub(crate) fn all_hours_end() -> [u8; 1] {
    [BY_HOUR + 1]
}

/// Returns the key and the value of a timer. The value is empty, or the location if that is too
/// long for a key.
pub(crate) fn timer(row: &TimerRow) -> (Vec<u8>, Vec<u8>) {
    let mut key = Out::default();
    key.fixed(row.due.as_millis()).fixed(row.stream.0);
    let value = put_timer(&mut key, row);
    (key.0, value)
}

/// Returns the lower bound of the keys of timers that are due at `due` or later.
pub(crate) fn timers_from(due: Timestamp) -> [u8; 8] {
    due.as_millis().to_be_bytes()
}

/// Decodes a timer from its key and value.
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
