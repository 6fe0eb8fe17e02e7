//! The chain of a stream and the streams it was forked from: which of them holds a record, and what
//! offsets mean.
//!
//! Record numbers continue through a chain. A record has the term of the stream that holds it. At
//! the fork point, offsets with either term are equivalent.

use everstep_model::{Offset, RecordNumber, StreamNumber, Term};
use everstep_store::Head;

use super::error::StreamError;
use super::found::Found;
use super::handle::Streams;

/// A stream of a chain. `from` is the first record that it holds itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) stream: StreamNumber,
    pub(super) term: Term,
    pub(super) from: RecordNumber,
}

/// A stream, its source, the source of that, and so on. A chain never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chain(Vec<Segment>);

impl Chain {
    /// Returns the chain of a stream that is not a fork.
    pub(super) fn single(head: &Head) -> Self {
        Self(vec![Segment {
            stream: head.number,
            term: head.term,
            from: RecordNumber(0),
        }])
    }

    /// Returns the stream that holds a record, and where its part of the chain ends. The last part
    /// has no end.
    pub(super) fn holder(&self, number: RecordNumber) -> Option<(Segment, Option<RecordNumber>)> {
        let mut end = None;
        for segment in &self.0 {
            if number >= segment.from {
                return Some((*segment, end));
            }
            end = Some(segment.from);
        }
        None
    }

    /// Returns the offset of a record number.
    pub(super) fn offset(&self, next: RecordNumber) -> Offset {
        let term = self.holder(next).map(|(segment, _)| segment.term);
        Offset {
            term: term.unwrap_or_default(),
            next,
        }
    }

    /// Returns the record number of an offset, in a stream that ends at `end`.
    pub(super) fn number(
        &self,
        offset: Offset,
        end: RecordNumber,
    ) -> Result<RecordNumber, StreamError> {
        // The start is valid for all streams that were ever at this path.
        if offset.next == RecordNumber(0) {
            return Ok(offset.next);
        }
        let mut until = end;
        for segment in &self.0 {
            let within = segment.from <= offset.next && offset.next <= until;
            if within && segment.term == offset.term {
                return Ok(offset.next);
            }
            until = segment.from;
        }
        let own = self.0.first().map(|own| own.term);
        match own.is_some_and(|own| offset.term < own) {
            true => Err(StreamError::OldOffset),
            false => Err(StreamError::UnknownOffset),
        }
    }
}

impl Streams {
    pub(super) async fn chain(&self, found: &Found) -> Result<Chain, StreamError> {
        let mut segments = Vec::new();
        let (mut head, mut fork) = (found.head.clone(), found.row.forked_from.clone());
        loop {
            let from = fork.as_ref().map(|fork| fork.at).unwrap_or_default();
            segments.push(Segment {
                stream: head.number,
                term: head.term,
                from,
            });
            let Some(at) = fork else {
                return Ok(Chain(segments));
            };
            // A source is kept as long as it has forks. If it is gone, so is the stream.
            let source = self.by_number(at.source).await?;
            let source = source.ok_or(StreamError::Missing)?;
            (head, fork) = (source.head, source.row.forked_from);
        }
    }
}

#[cfg(test)]
mod tests;
