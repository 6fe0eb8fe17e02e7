//! What becomes of an append, given what was read: pure, so that it can be tried with everything.

use bytes::Bytes;
use everstep_model::{Offset, RecordNumber};
use everstep_store::{ProducerMark, ProducerRow, StreamRow};

use super::content_type::ContentType;
use super::error::StreamError;
use super::path::StreamPath;
use super::producer::{Producer, Standing, judge};

/// What is to be appended.
#[derive(Clone, Debug)]
pub struct Append {
    /// To which stream.
    pub path: StreamPath,
    /// What the body is; must be the stream's. None where there is no body.
    pub content_type: Option<ContentType>,
    /// The messages; empty to close alone.
    pub body: Bytes,
    /// Whether the stream is closed with it.
    pub close: bool,
    /// Who appends, to be known when it is sent again.
    pub producer: Option<Producer>,
    /// A text that must be higher, byte by byte, than that of the last append to this stream that had one.
    pub seq: Option<String>,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The end of the append's own messages.
    pub next: Offset,
    /// Whether the stream is closed now.
    pub closed: bool,
    /// Whether it had been done before and nothing changed now.
    pub repeated: bool,
    /// The highest sequence of the producer that was taken.
    pub seq: Option<u64>,
}

/// What an append is judged by.
pub(super) struct Seen<'a> {
    pub(super) row: &'a StreamRow,
    pub(super) end: Offset,
    pub(super) closed: bool,
    pub(super) producer: Option<&'a ProducerRow>,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// Append, with these rows.
    Append {
        /// The stream's row, if it changes.
        row: Option<Box<StreamRow>>,
        /// The producer's row.
        producer: Option<ProducerRow>,
    },
    /// It was done before; this is where it ended, and the producer's last sequence.
    Done {
        next: RecordNumber,
        seq: Option<u64>,
    },
}

/// Decides, in the order that lets a producer's repetition be known before anything is held against it.
pub(super) fn decide(append: &Append, seen: &Seen<'_>) -> Result<Decision, StreamError> {
    if seen.closed {
        return closed(append, seen);
    }
    let stream = ContentType::new(&seen.row.content_type);
    if let Some(given) = &append.content_type
        && !append.body.is_empty()
        && *given != stream
    {
        return Err(StreamError::ContentType {
            stream: stream.to_string(),
            given: given.to_string(),
        });
    }
    if let Some(producer) = &append.producer
        && judge(seen.producer, producer)? == Standing::Repeated
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
        Some(producer) if closer == Some(&mark(producer)) => Ok(repeated(seen)),
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

fn mark(producer: &Producer) -> ProducerMark {
    ProducerMark {
        id: producer.id.clone(),
        epoch: producer.epoch,
        seq: producer.seq,
    }
}

/// The stream's row after the append, where it differs: appends that leave it alone need not know it.
fn changed_row(append: &Append, row: &StreamRow) -> Option<Box<StreamRow>> {
    let closer = append.producer.as_ref().filter(|_| append.close);
    if append.seq.is_none() && closer.is_none() {
        return None;
    }
    Some(Box::new(StreamRow {
        last_seq: append.seq.clone().or_else(|| row.last_seq.clone()),
        closed_by: closer.map(mark),
        ..row.clone()
    }))
}
