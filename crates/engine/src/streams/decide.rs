//! Decides about an append, given the rows that were read. Pure.

use bytes::Bytes;
use everstep_model::{Offset, RecordNumber};
use everstep_store::{ProducerRow, StreamRow};

use super::content_type::ContentType;
use super::error::StreamError;
use super::path::StreamPath;
use super::producer::{Producer, is_repeated};

/// A request to append to a stream or to close it.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "plain data")]
pub struct Append {
    pub path: StreamPath,
    /// Must be the content type of the stream. `None` if there is no body.
    pub content_type: Option<ContentType>,
    /// The messages. Empty to only close the stream.
    pub body: Bytes,
    /// Whether the append closes the stream.
    pub close: bool,
    /// Identifies the append if it is repeated.
    pub producer: Option<Producer>,
    /// Must be greater, byte by byte, than that of the last append to the stream that had one.
    pub seq: Option<String>,
}

/// The outcome of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub struct Appended {
    /// The offset after the messages of the append.
    pub next: Offset,
    /// Whether the stream is closed now.
    pub closed: bool,
    /// Whether the append is a repetition and changed nothing.
    pub repeated: bool,
    /// The highest accepted sequence number of the producer.
    pub seq: Option<u64>,
}

/// The state that a decision depends on.
pub(super) struct Seen<'a> {
    pub(super) row: &'a StreamRow,
    pub(super) end: Offset,
    pub(super) closed: bool,
    pub(super) producer: Option<&'a ProducerRow>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// Append, and change these rows.
    Append {
        /// The row of the stream, if it changes.
        row: Option<Box<StreamRow>>,
        producer: Option<ProducerRow>,
    },
    /// The append is a repetition: where it ended, and the last sequence number of the producer.
    Done {
        next: RecordNumber,
        seq: Option<u64>,
    },
}

/// Decides about an append. A repetition is recognised before anything can reject it.
pub(super) fn decide(append: &Append, seen: &Seen<'_>) -> Result<Decision, StreamError> {
    if seen.closed {
        return closed(append, seen);
    }
    if let Some(given) = &append.content_type
        && !append.body.is_empty()
    {
        ContentType::new(&seen.row.content_type).check(given)?;
    }
    if let Some(producer) = &append.producer
        && is_repeated(seen.producer, producer)?
    {
        return Ok(repeated(seen));
    }
    if let (Some(seq), Some(last)) = (&append.seq, &seen.row.last_seq)
        && seq.as_bytes() <= last.as_bytes()
    {
        return Err(StreamError::SeqNotHigher { last: last.clone() });
    }
    Ok(Decision::Append {
        row: changed_row(append, seen.row),
        producer: append.producer.as_ref().map(|producer| ProducerRow {
            stream: seen.row.stream,
            id: producer.id.clone(),
            epoch: producer.epoch,
            seq: producer.seq,
            end: RecordNumber(0),
        }),
    })
}

fn closed(append: &Append, seen: &Seen<'_>) -> Result<Decision, StreamError> {
    let closer = seen.row.closed_by.as_ref();
    match &append.producer {
        Some(producer) if closer == Some(producer) => Ok(repeated(seen)),
        None if append.close && append.body.is_empty() => Ok(Decision::Done {
            next: seen.end.next,
            seq: None,
        }),
        Some(_) | None => Err(StreamError::Closed { next: seen.end }),
    }
}

fn repeated(seen: &Seen<'_>) -> Decision {
    let known = seen.producer;
    Decision::Done {
        next: known.map_or(seen.end.next, |known| known.end),
        seq: known.map(|known| known.seq),
    }
}

/// Returns the row of the stream after the append, if it changes. Other appends do not depend on
/// the row.
fn changed_row(append: &Append, row: &StreamRow) -> Option<Box<StreamRow>> {
    let closer = append.producer.as_ref().filter(|_| append.close);
    if append.seq.is_none() && closer.is_none() {
        return None;
    }
    Some(Box::new(StreamRow {
        last_seq: append.seq.clone().or_else(|| row.last_seq.clone()),
        closed_by: closer.cloned(),
        ..row.clone()
    }))
}
