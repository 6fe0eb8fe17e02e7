//! The values of user streams and their producers.

use std::time::Duration;

use everstep_model::{RecordNumber, StreamNumber};

use super::bytes::{Damaged, In, Out};
use crate::stream_row::{ForkPoint, ProducerMark, ProducerRow, StreamRow};

const TTL: u8 = 1;
const EXPIRES: u8 = 2;
const LOOKED_AT: u8 = 4;
const CLOSED_BY: u8 = 8;
const SEQUENCE: u8 = 16;
const FORKED: u8 = 32;
const DELETED: u8 = 64;

pub(super) fn put_stream(out: &mut Out, row: &StreamRow) {
    let flag = |on: bool, bit: u8| if on { bit } else { 0 };
    let flags = flag(row.ttl.is_some(), TTL)
        | flag(row.expires_at.is_some(), EXPIRES)
        | flag(row.looked_at.is_some(), LOOKED_AT)
        | flag(row.closed_by.is_some(), CLOSED_BY)
        | flag(row.last_seq.is_some(), SEQUENCE)
        | flag(row.forked_from.is_some(), FORKED)
        | flag(row.deleted, DELETED);
    out.byte(flags).text(&row.content_type);
    out.time(row.created_at);
    out.time(row.touched_at).varint(row.forks);
    if let Some(ttl) = row.ttl {
        out.varint(u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX));
    }
    for time in row.expires_at.into_iter().chain(row.looked_at) {
        out.time(time);
    }
    if let Some(mark) = &row.closed_by {
        out.text(&mark.id).varint(mark.epoch).varint(mark.seq);
    }
    if let Some(seq) = &row.last_seq {
        out.text(seq);
    }
    if let Some(fork) = &row.forked_from {
        out.varint(fork.source.0).text(&fork.path);
        out.varint(fork.at.0).varint(fork.asked.0);
        out.varint(fork.sub_offset);
    }
}

pub(super) fn take_stream(stream: StreamNumber, input: &mut In<'_>) -> Result<StreamRow, Damaged> {
    let flags = input.byte()?;
    let has = |bit: u8| flags & bit != 0;
    // Fields are read in the order of the stored bytes.
    Ok(StreamRow {
        stream,
        content_type: input.text()?.to_owned(),
        created_at: input.time()?,
        touched_at: input.time()?,
        forks: input.varint()?,
        ttl: input.when(has(TTL), In::varint)?.map(Duration::from_millis),
        expires_at: input.when(has(EXPIRES), In::time)?,
        looked_at: input.when(has(LOOKED_AT), In::time)?,
        closed_by: input.when(has(CLOSED_BY), take_mark)?,
        last_seq: input.when(has(SEQUENCE), In::text)?.map(str::to_owned),
        forked_from: input.when(has(FORKED), take_fork)?,
        deleted: has(DELETED),
    })
}

fn take_mark(input: &mut In<'_>) -> Result<ProducerMark, Damaged> {
    Ok(ProducerMark {
        id: input.text()?.to_owned(),
        epoch: input.varint()?,
        seq: input.varint()?,
    })
}

fn take_fork(input: &mut In<'_>) -> Result<ForkPoint, Damaged> {
    Ok(ForkPoint {
        source: StreamNumber(input.varint()?),
        path: input.text()?.to_owned(),
        at: RecordNumber(input.varint()?),
        asked: RecordNumber(input.varint()?),
        sub_offset: input.varint()?,
    })
}

pub(super) fn put_producer(out: &mut Out, row: &ProducerRow) {
    // The value has the whole id, because the key may be truncated.
    out.text(&row.id).varint(row.epoch).varint(row.seq);
    out.varint(row.end.0);
}

pub(super) fn take_producer(
    stream: StreamNumber,
    input: &mut In<'_>,
) -> Result<ProducerRow, Damaged> {
    Ok(ProducerRow {
        stream,
        id: input.text()?.to_owned(),
        epoch: input.varint()?,
        seq: input.varint()?,
        end: RecordNumber(input.varint()?),
    })
}
