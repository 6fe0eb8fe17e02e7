//! The values of heads, numbers and holes; those of rows are in `everstep_store::encoding`. Each
//! begins with its format version; later releases may only append fields.

use std::sync::Arc;

use everstep_model::{
    Epoch, ExecutorSeq, FrameHeader, Generation, NodeId, Nonce, RecordNumber, RecordRange, RunId,
    RunStatus, StreamName, StreamNumber, Term,
};
use everstep_store::encoding::{Damaged, In, Out, checked_name, versioned};
pub(crate) use everstep_store::encoding::{
    Unreadable, VERSION, decode_effect, decode_row, encode_row,
};
use everstep_store::{Gate, Head, Owner, RunRow};

use crate::encoding::holes::Holes;

const OWNED: u8 = 1;
const READY: u8 = 2;
const CLOSED: u8 = 4;
const RUN: u8 = 8;
const SUPERSEDED: u8 = 16;
const HELD: u8 = 32;
const NEEDS_SLOT: u8 = 64;

pub(crate) fn encode_head(head: &Head) -> Vec<u8> {
    let mut out = Out(Vec::with_capacity(128));
    let flag = |on: bool, bit: u8| if on { bit } else { 0 };
    let flags = flag(head.owner.is_some(), OWNED)
        | flag(head.ready, READY)
        | flag(head.closed, CLOSED)
        | flag(head.run.is_some(), RUN)
        | flag(head.superseded, SUPERSEDED)
        | match head.gate {
            Gate::Open => 0,
            Gate::Held => HELD,
            Gate::NeedsSlot => NEEDS_SLOT,
        };
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
    let has = |bit: u8| flags & bit != 0;
    // Fields are read in the order of the stored bytes.
    Ok(Head {
        number,
        name: StreamName::from_stored(input.text()?),
        term: Term(input.varint()?),
        next: RecordNumber(input.varint()?),
        frame: FrameHeader {
            epoch: Epoch(input.varint()?),
            seq: ExecutorSeq(input.varint()?),
            executor_at: RecordNumber(input.varint()?),
            progress_epoch: Epoch(input.varint()?),
            inbox_count: input.varint()?,
            unconsumed_events: input.varint()?,
        },
        epoch: Epoch(input.varint()?),
        takeovers: input.short()?,
        owner: input.when(has(OWNED), take_owner)?,
        run: input.when(has(RUN), take_run)?.map(Arc::new),
        ready: has(READY),
        gate: match (has(HELD), has(NEEDS_SLOT)) {
            (false, false) => Gate::Open,
            (true, false) => Gate::Held,
            (false, true) => Gate::NeedsSlot,
            (true, true) => return Err(Damaged("a gate is in two states").into()),
        },
        closed: has(CLOSED),
        superseded: has(SUPERSEDED),
    })
}

fn take_owner(input: &mut In<'_>) -> Result<Owner, Damaged> {
    Ok(Owner {
        node: NodeId(input.fixed()?),
        nonce: Nonce(input.fixed()?),
    })
}

fn put_run(out: &mut Out, run: &RunRow) {
    out.text(run.id.as_str()).varint(run.generation.0.into());
    out.text(run.workflow.as_str()).varint(run.version.into());
    out.byte(run.status.code());
    out.time(run.created_at).time(run.updated_at);
    out.varint(run.tags.len() as u64);
    for tag in &run.tags {
        out.text(tag);
    }
}

fn take_run(input: &mut In<'_>) -> Result<RunRow, Damaged> {
    // Fields are read in the order of the stored bytes.
    Ok(RunRow {
        id: RunId::new(input.text()?).map_err(|_| Damaged("a run id breaks its rules"))?,
        generation: Generation(input.short()?),
        workflow: checked_name(input.text()?)?,
        version: input.short()?,
        status: RunStatus::from_code(input.byte()?).ok_or(Damaged("a status is unknown"))?,
        created_at: input.time()?,
        updated_at: input.time()?,
        tags: take_list(input, |input| input.text().map(str::to_owned))?,
    })
}

/// Reads the number of items, then the items. Does not trust the number, so it allocates no more
/// than the bytes hold.
fn take_list<T>(
    input: &mut In<'_>,
    take: impl Fn(&mut In<'_>) -> Result<T, Damaged>,
) -> Result<Vec<T>, Damaged> {
    let count = input.varint()?;
    (0..count).map(|_| take(input)).collect()
}

/// Encodes a single number: a stream under its name, or a record under its dedup id.
pub(crate) fn encode_number(number: u64) -> Vec<u8> {
    let mut out = Out::default();
    out.byte(VERSION).varint(number);
    out.0
}

pub(crate) fn decode_number(bytes: &[u8]) -> Result<u64, Unreadable> {
    Ok(versioned(bytes)?.varint()?)
}

/// Encodes the lowest number and term that new streams may have after removals.
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
    let holes = take_list(&mut versioned(bytes)?, |input| {
        Ok(RecordRange {
            first: RecordNumber(input.varint()?),
            last: RecordNumber(input.varint()?),
        })
    });
    Ok(Holes(holes?))
}

#[cfg(test)]
mod tests;
