//! The values of users' streams and their producers.

use std::time::Duration;

use super::bytes::{Damaged, In, Out};
use crate::stream_row::{ForkPoint, ProducerMark, ProducerRow, StreamRow};
use everstep_model::{RecordNumber, StreamNumber, Timestamp};

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
    out.varint(row.created_at.as_millis());
    out.varint(row.touched_at.as_millis()).varint(row.forks);
    if let Some(ttl) = row.ttl {
        out.varint(u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX));
    }
    if let Some(time) = row.expires_at {
        out.varint(time.as_millis());
    }
    if let Some(time) = row.looked_at {
        out.varint(time.as_millis());
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
    let content_type = input.text()?.to_owned();
    let created_at = Timestamp::from_millis(input.varint()?);
    let touched_at = Timestamp::from_millis(input.varint()?);
    let forks = input.varint()?;
    let has = |bit: u8| flags & bit != 0;
    let mut row = StreamRow {
        stream,
        content_type,
        ttl: None,
        expires_at: None,
        created_at,
        touched_at,
        looked_at: None,
        closed_by: None,
        last_seq: None,
        forked_from: None,
        forks,
        deleted: has(DELETED),
    };
    if has(TTL) {
        row.ttl = Some(Duration::from_millis(input.varint()?));
    }
    if has(EXPIRES) {
        row.expires_at = Some(Timestamp::from_millis(input.varint()?));
    }
    if has(LOOKED_AT) {
        row.looked_at = Some(Timestamp::from_millis(input.varint()?));
    }
    if has(CLOSED_BY) {
        row.closed_by = Some(ProducerMark {
            id: input.text()?.to_owned(),
            epoch: input.varint()?,
            seq: input.varint()?,
        });
    }
    if has(SEQUENCE) {
        row.last_seq = Some(input.text()?.to_owned());
    }
    if has(FORKED) {
        row.forked_from = Some(take_fork(input)?);
    }
    Ok(row)
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
    // Rows keep the whole id: their key may hold only its beginning.
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
