//! Decodes heads and runs.

use std::sync::Arc;

use everstep_model::{
    Epoch, ExecutorSeq, FrameHeader, Generation, NodeId, Nonce, RecordNumber, RunId, RunStatus,
    StreamName, StreamNumber, Term,
};
use everstep_store::encoding::{Damaged, checked_name, text};
use everstep_store::{Gate, Head, Owner, RunRow};
use tokio_postgres::Row as Line;

use crate::failure::{CallError, unreadable};
use crate::number::{time, uncount};

/// The columns of a head, in the order they are read.
pub(crate) const HEAD: &str = "s.number, s.term, s.next, s.last_epoch, s.last_seq, s.last_first, s.progress_epoch, \
    s.inbox_count, s.unconsumed_events, s.epoch, s.owner, s.nonce, s.takeovers, s.ready, s.closed, s.superseded, s.name, s.gate";
const HEAD_COLUMNS: usize = 18;

/// The columns of a run, in the order they are read.
pub(crate) const RUN: &str =
    "r.id, r.generation, r.workflow, r.version, r.status, r.tags, r.created_at, r.updated_at";

/// Decodes a head, and its run if it has one.
pub(crate) fn head(line: &Line) -> Result<Head, CallError> {
    let number = |at: usize| line.try_get::<_, i64>(at).map(uncount);
    let stream = StreamNumber(number(0)?);
    let damaged =
        |column, error: Damaged| unreadable(format_args!("{column} of stream {stream}"))(error);
    let owner: Option<i64> = line.try_get(10)?;
    let nonce: Option<i64> = line.try_get(11)?;
    let takeovers: i32 = line.try_get(12)?;
    let run_id: Option<&str> = line.try_get(HEAD_COLUMNS)?;
    let run = run_id.map(|_| run(line, HEAD_COLUMNS)).transpose()?;
    Ok(Head {
        number: stream,
        name: StreamName::from_stored(
            text(line.try_get(16)?).map_err(|error| damaged("the name", error))?,
        ),
        term: Term(number(1)?),
        next: RecordNumber(number(2)?),
        frame: FrameHeader {
            epoch: Epoch(number(3)?),
            seq: ExecutorSeq(number(4)?),
            executor_at: RecordNumber(number(5)?),
            progress_epoch: Epoch(number(6)?),
            inbox_count: number(7)?,
            unconsumed_events: number(8)?,
        },
        epoch: Epoch(number(9)?),
        owner: owner.zip(nonce).map(|(node, nonce)| Owner {
            node: NodeId(node.cast_unsigned()),
            nonce: Nonce(nonce.cast_unsigned()),
        }),
        takeovers: takeovers.try_into().unwrap_or(0),
        ready: line.try_get(13)?,
        gate: match line.try_get::<_, i16>(17)? {
            0 => Gate::Open,
            1 => Gate::Held,
            2 => Gate::NeedsSlot,
            _ => return Err(damaged("the gate", Damaged("a gate is unknown")).into()),
        },
        closed: line.try_get(14)?,
        superseded: line.try_get(15)?,
        run: run.map(Arc::new),
    })
}

/// Decodes a run whose columns begin at `at`.
pub(crate) fn run(line: &Line, at: usize) -> Result<RunRow, CallError> {
    let id: &str = line.try_get(at)?;
    let in_column =
        |column| move |error| unreadable(format_args!("the {column} of run {id}"))(error);
    let short = |at: usize, column: &'static str| -> Result<u32, CallError> {
        let value: i64 = line.try_get(at)?;
        let value = u32::try_from(value).map_err(|_| Damaged("a number is too large"));
        Ok(value.map_err(in_column(column))?)
    };
    let status: i16 = line.try_get(at + 4)?;
    let status = u8::try_from(status).ok().and_then(RunStatus::from_code);
    let tags: Vec<&[u8]> = line.try_get(at + 5)?;
    let tags = tags.into_iter().map(|tag| text(tag).map(str::to_owned));
    Ok(RunRow {
        id: RunId::new(id).map_err(|_| in_column("id")(Damaged("a run id breaks its rules")))?,
        generation: Generation(short(at + 1, "generation")?),
        workflow: checked_name(line.try_get(at + 2)?).map_err(in_column("workflow"))?,
        version: short(at + 3, "version")?,
        status: status.ok_or_else(|| in_column("status")(Damaged("a status is unknown")))?,
        tags: tags.collect::<Result<_, _>>().map_err(in_column("tags"))?,
        created_at: time(line.try_get(at + 6)?),
        updated_at: time(line.try_get(at + 7)?),
    })
}
