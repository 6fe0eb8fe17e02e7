//! The values of heads and rows. Each begins with its format version; later releases may only add at the end.

use std::sync::Arc;

use everstep_model::{
    Epoch, ExecutorSeq, FrameHeader, Generation, NodeId, Nonce, Payload, RecordNumber, RecordRange,
    RpcId, RunId, RunStatus, StreamName, StreamNumber, Term, Timestamp,
};
use everstep_store::{
    GenerationRow, Head, IdempotencyRow, OutboxRow, Owner, Row, RowKey, RpcRow, RunRow,
};

use crate::coding::{Damaged, In, Out};
use crate::holes::Holes;
use crate::keys::{checked_name, location, location_bytes};
use stream::{put_producer, put_stream, take_producer, take_stream};

/// The newest version of heads and rows this release writes, and the newest it reads.
pub(crate) const VERSION: u8 = 1;

const OWNED: u8 = 1;
const READY: u8 = 2;
const CLOSED: u8 = 4;
const RUN: u8 = 8;
const SUPERSEDED: u8 = 16;

/// Why a value cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    Newer(u8),
    Damaged(Damaged),
}

impl From<Damaged> for Unreadable {
    fn from(damaged: Damaged) -> Self {
        Self::Damaged(damaged)
    }
}

pub(crate) fn encode_head(head: &Head) -> Vec<u8> {
    let mut out = Out(Vec::with_capacity(128));
    let flag = |on: bool, bit: u8| if on { bit } else { 0 };
    let flags = flag(head.owner.is_some(), OWNED)
        | flag(head.ready, READY)
        | flag(head.closed, CLOSED)
        | flag(head.run.is_some(), RUN)
        | flag(head.superseded, SUPERSEDED);
    out.byte(VERSION).byte(flags);
    out.text(head.name.as_str());
    out.varint(head.term.0).varint(head.next.0);
    let frame = &head.frame;
    out.varint(frame.epoch.0).varint(frame.seq.0);
    out.varint(frame.executor_at.0)
        .varint(frame.progress_epoch.0);
    out.varint(frame.inbox_count)
        .varint(frame.unconsumed_events);
    out.varint(head.epoch.0).varint(head.takeovers.into());
    if let Some(owner) = head.owner {
        out.fixed(owner.node.0).fixed(owner.nonce.0);
    }
    if let Some(run) = &head.run {
        put_run(&mut out, run);
    }
    out.0
}

pub(crate) fn decode_head(number: StreamNumber, bytes: &[u8]) -> Result<Head, Unreadable> {
    let mut input = versioned(bytes)?;
    let flags = input.byte()?;
    let name = StreamName::from_stored(input.text()?);
    let term = Term(input.varint()?);
    let next = RecordNumber(input.varint()?);
    let frame = FrameHeader {
        epoch: Epoch(input.varint()?),
        seq: ExecutorSeq(input.varint()?),
        executor_at: RecordNumber(input.varint()?),
        progress_epoch: Epoch(input.varint()?),
        inbox_count: input.varint()?,
        unconsumed_events: input.varint()?,
    };
    let epoch = Epoch(input.varint()?);
    let takeovers = input.short()?;
    let owner = match flags & OWNED {
        0 => None,
        _ => Some(Owner {
            node: NodeId(input.fixed()?),
            nonce: Nonce(input.fixed()?),
        }),
    };
    let run = match flags & RUN {
        0 => None,
        _ => Some(Arc::new(take_run(&mut input)?)),
    };
    Ok(Head {
        number,
        name,
        term,
        next,
        frame,
        epoch,
        owner,
        takeovers,
        ready: flags & READY != 0,
        closed: flags & CLOSED != 0,
        superseded: flags & SUPERSEDED != 0,
        run,
    })
}

fn put_run(out: &mut Out, run: &RunRow) {
    out.text(run.id.as_str()).varint(run.generation.0.into());
    out.text(run.workflow.as_str()).varint(run.version.into());
    out.byte(run.status.code());
    out.varint(run.created_at.as_millis());
    out.varint(run.updated_at.as_millis());
    out.varint(run.tags.len() as u64);
    for tag in &run.tags {
        out.text(tag);
    }
}

fn take_run(input: &mut In<'_>) -> Result<RunRow, Damaged> {
    let id = RunId::new(input.text()?).map_err(|_| Damaged("a run id breaks its rules"))?;
    let generation = Generation(input.short()?);
    let workflow = checked_name(input.text()?)?;
    let version = input.short()?;
    let status = RunStatus::from_code(input.byte()?).ok_or(Damaged("a status is unknown"))?;
    let created_at = Timestamp::from_millis(input.varint()?);
    let updated_at = Timestamp::from_millis(input.varint()?);
    let count = input.varint()?;
    let tags = (0..count)
        .map(|_| input.text().map(str::to_owned))
        .collect::<Result<_, _>>()?;
    Ok(RunRow {
        id,
        generation,
        workflow,
        version,
        status,
        tags,
        created_at,
        updated_at,
    })
}

/// The value of any row but a timer.
pub(crate) fn encode_row(row: &Row) -> Vec<u8> {
    let mut out = Out::default();
    out.byte(VERSION);
    match row {
        Row::Timer(_) => {}
        Row::Rpc(rpc) => {
            // Rows keep the whole id: their key may hold only its beginning.
            out.text(&rpc.id.0).raw(&location_bytes(&rpc.location));
            out.text(rpc.method.as_str());
            out.byte(rpc.deadline.is_some().into());
            if let Some(deadline) = rpc.deadline {
                out.varint(deadline.as_millis());
            }
            out.byte(rpc.schema.is_some().into());
            if let Some(schema) = &rpc.schema {
                out.text(schema.as_str());
            }
        }
        Row::Idempotency(row) => {
            out.text(row.stream.as_str());
        }
        Row::Generation(row) => {
            out.varint(row.generation.0.into()).varint(row.stream.0);
        }
        Row::Outbox(row) => {
            out.text(&row.key).text(row.effect.as_str());
        }
        Row::Stream(row) => put_stream(&mut out, row),
        Row::Producer(row) => put_producer(&mut out, row),
    }
    out.0
}

/// The row of a key that is not a timer's.
pub(crate) fn decode_row(key: &RowKey, bytes: &[u8]) -> Result<Row, Unreadable> {
    let mut input = versioned(bytes)?;
    Ok(match key {
        RowKey::Timer(timer) => Row::Timer(timer.clone()),
        RowKey::Rpc(stream, _) => Row::Rpc(take_rpc(*stream, &mut input)?),
        RowKey::Idempotency(workflow, key) => Row::Idempotency(IdempotencyRow {
            workflow: workflow.clone(),
            key: key.clone(),
            stream: StreamName::from_stored(input.text()?),
        }),
        RowKey::Generation(run) => Row::Generation(GenerationRow {
            run: run.clone(),
            generation: Generation(input.short()?),
            stream: StreamNumber(input.varint()?),
        }),
        RowKey::Outbox(stream, _) => Row::Outbox(take_effect(*stream, &mut input)?),
        RowKey::Stream(stream) => Row::Stream(Box::new(take_stream(*stream, &mut input)?)),
        RowKey::Producer(stream, _) => Row::Producer(take_producer(*stream, &mut input)?),
    })
}

/// An effect as it stands behind its key.
pub(crate) fn decode_effect(stream: StreamNumber, bytes: &[u8]) -> Result<OutboxRow, Unreadable> {
    Ok(take_effect(stream, &mut versioned(bytes)?)?)
}

fn take_effect(stream: StreamNumber, input: &mut In<'_>) -> Result<OutboxRow, Damaged> {
    Ok(OutboxRow {
        stream,
        key: input.text()?.to_owned(),
        effect: payload(input.text()?)?,
    })
}

fn take_rpc(stream: StreamNumber, input: &mut In<'_>) -> Result<RpcRow, Damaged> {
    let id = RpcId(input.text()?.into());
    let location = location(input)?;
    let method = checked_name(input.text()?)?;
    let deadline = match input.flag()? {
        true => Some(Timestamp::from_millis(input.varint()?)),
        false => None,
    };
    let schema = match input.flag()? {
        true => Some(payload(input.text()?)?),
        false => None,
    };
    Ok(RpcRow {
        stream,
        id,
        location,
        method,
        deadline,
        schema,
    })
}

fn payload(text: &str) -> Result<Payload, Damaged> {
    Payload::from_json(text.as_bytes().to_vec())
        .map_err(|_| Damaged("a schema or an effect is not JSON"))
}

/// A number that stands alone: a stream's under its name, a record's under its dedup id.
pub(crate) fn encode_number(number: u64) -> Vec<u8> {
    let mut out = Out::default();
    out.byte(VERSION).varint(number);
    out.0
}

pub(crate) fn decode_number(bytes: &[u8]) -> Result<u64, Unreadable> {
    Ok(versioned(bytes)?.varint()?)
}

/// What is remembered of removed streams: the lowest number and the lowest term a new stream may have.
pub(crate) fn encode_removed(next: StreamNumber, term: Term) -> Vec<u8> {
    let mut out = Out::default();
    out.byte(VERSION).varint(next.0).varint(term.0);
    out.0
}

pub(crate) fn decode_removed(bytes: &[u8]) -> Result<(StreamNumber, Term), Unreadable> {
    let mut input = versioned(bytes)?;
    Ok((StreamNumber(input.varint()?), Term(input.varint()?)))
}

pub(crate) fn encode_holes(holes: &Holes) -> Vec<u8> {
    let mut out = Out::default();
    out.byte(VERSION).varint(holes.0.len() as u64);
    for hole in &holes.0 {
        out.varint(hole.first.0).varint(hole.last.0);
    }
    out.0
}

pub(crate) fn decode_holes(bytes: &[u8]) -> Result<Holes, Unreadable> {
    let mut input = versioned(bytes)?;
    let count = input.varint()?;
    let mut holes = Vec::new();
    for _ in 0..count {
        holes.push(RecordRange {
            first: RecordNumber(input.varint()?),
            last: RecordNumber(input.varint()?),
        });
    }
    Ok(Holes(holes))
}

fn versioned(bytes: &[u8]) -> Result<In<'_>, Unreadable> {
    let mut input = In(bytes);
    match input.byte()? {
        0 => Err(Damaged("it has no format version").into()),
        version if version > VERSION => Err(Unreadable::Newer(version)),
        _ => Ok(input),
    }
}

mod stream;

#[cfg(test)]
mod tests;
