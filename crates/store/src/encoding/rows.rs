//! The values of rows. Each begins with its format version; later releases may only append fields.

use everstep_model::{Generation, Payload, RpcId, StreamName, StreamNumber};

use super::bytes::{Damaged, In, Out};
use super::key_parts::{checked_name, location, location_bytes};
use super::stream::{put_producer, put_stream, take_producer, take_stream};
use crate::error::StoreError;
use crate::row::{GenerationRow, IdempotencyRow, OutboxRow, Row, RowKey, RpcRow};
use crate::shared_row::{CommitTime, SharedKey, SharedRow};

/// The version of heads and rows that this release writes, and the newest that it reads.
pub const VERSION: u8 = 1;

/// The reason why a value cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// A newer release wrote it, in this version.
    Newer(u8),
    /// The bytes are damaged.
    Damaged(Damaged),
}

impl From<Damaged> for Unreadable {
    fn from(damaged: Damaged) -> Self {
        Self::Damaged(damaged)
    }
}

impl Unreadable {
    /// Returns the error of a store that cannot read the value in `place`.
    #[must_use]
    pub fn in_place(self, place: String) -> StoreError {
        match self {
            Self::Newer(found) => StoreError::Newer {
                place,
                found: found.into(),
                known: VERSION.into(),
            },
            Self::Damaged(damaged) => StoreError::corrupt(place, damaged.0),
        }
    }
}

/// Encodes the value of any row except a timer.
pub fn encode_row(row: &Row) -> Vec<u8> {
    let mut out = Out::default();
    out.byte(VERSION);
    match row {
        Row::Timer(_) => {}
        Row::Rpc(rpc) => {
            // The value has the whole id, because the key may be truncated.
            out.text(&rpc.id.0).raw(&location_bytes(&rpc.location));
            out.text(rpc.method.as_str());
            out.option(rpc.deadline, Out::time);
            out.option(rpc.schema.as_ref().map(Payload::as_str), Out::text);
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
        Row::Shared(row) => put_shared(&mut out, row),
    }
    out.0
}

/// Decodes the value of any row except a timer.
pub fn decode_row(key: &RowKey, bytes: &[u8]) -> Result<Row, Unreadable> {
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
        RowKey::Shared(key) => Row::Shared(take_shared(key, &mut input)?),
    })
}

/// Decodes the value of an effect.
pub fn decode_effect(stream: StreamNumber, bytes: &[u8]) -> Result<OutboxRow, Unreadable> {
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
    // Fields are read in the order of the stored bytes.
    Ok(RpcRow {
        stream,
        id: RpcId(input.text()?.into()),
        location: location(input)?,
        method: checked_name(input.text()?)?,
        deadline: input.option(In::time)?,
        schema: input.option(|input| payload(input.text()?))?,
    })
}

fn put_shared(out: &mut Out, row: &SharedRow) {
    let time = match row.committed_at {
        CommitTime::At(time) => Some(time),
        CommitTime::Absent | CommitTime::FillIn => None,
    };
    out.option(time, Out::time);
    out.raw(&row.value);
}

fn take_shared(key: &SharedKey, input: &mut In<'_>) -> Result<SharedRow, Damaged> {
    let time = input.option(In::time)?;
    Ok(SharedRow {
        key: key.clone(),
        value: input.0.to_vec(),
        committed_at: time.map_or(CommitTime::Absent, CommitTime::At),
    })
}

fn payload(text: &str) -> Result<Payload, Damaged> {
    Payload::from_json(text.as_bytes().to_vec())
        .map_err(|_| Damaged("a schema or an effect is not JSON"))
}

/// Checks the format version of a value and returns a reader of the rest.
pub fn versioned(bytes: &[u8]) -> Result<In<'_>, Unreadable> {
    let mut input = In(bytes);
    match input.byte()? {
        0 => Err(Damaged("it has no format version").into()),
        version if version > VERSION => Err(Unreadable::Newer(version)),
        _ => Ok(input),
    }
}
