//! Frames as they lie in the journal: reading their records, and cutting dropped ones out.

use bytes::Bytes;
use everstep_model::{
    DecodeError, Entry, Frame, Interner, RecordNumber, RecordRange, StreamNumber,
};
use everstep_store::{Head, Page, ReadRequest, StoreError};

use crate::holes::Holes;
use crate::view::View;

/// A frame and the number of its first record.
pub(crate) struct StoredFrame {
    pub(crate) first: RecordNumber,
    pub(crate) bytes: Bytes,
}

impl StoredFrame {
    /// Adds its records from `from` on and before `end`.
    pub(crate) fn entries(
        &self,
        from: RecordNumber,
        end: RecordNumber,
        interner: &mut Interner,
        into: &mut Vec<Entry>,
    ) -> Result<(), DecodeError> {
        let numbered = Frame::decode_entries(&self.bytes, self.first, interner)?;
        into.extend(numbered.filter(|entry| entry.number >= from && entry.number < end));
        Ok(())
    }

    /// What is left of it without `range`, as frames of their own; none if the range does not touch it.
    pub(crate) fn without(&self, range: RecordRange) -> Result<Option<Vec<Self>>, DecodeError> {
        let (_, count) = Frame::decode_summary(&self.bytes)?;
        let last = self.first.0.saturating_add(count).saturating_sub(1);
        if count == 0 || last < range.first.0 || self.first > range.last {
            return Ok(None);
        }
        if self.first >= range.first && last <= range.last.0 {
            return Ok(Some(Vec::new()));
        }
        let frame = Frame::decode(&self.bytes, &mut Interner::default())?;
        let before = range.first.0.saturating_sub(self.first.0);
        let through = range.last.0.saturating_sub(self.first.0).saturating_add(1);
        let place = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let piece = |first, records: &[_]| Self {
            first,
            bytes: Frame::encode(&frame.header, records).into(),
        };
        let mut left = Vec::new();
        if let Some(kept) = frame.records.get(..place(before)).filter(|r| !r.is_empty()) {
            left.push(piece(self.first, kept));
        }
        if let Some(kept) = frame
            .records
            .get(place(through)..)
            .filter(|r| !r.is_empty())
        {
            left.push(piece(RecordNumber(self.first.0 + through), kept));
        }
        Ok(Some(left))
    }
}

/// One page of a stream whose head is known. The view is at least as new as the head, so its records are cut there.
pub(crate) fn page(view: &View<'_>, head: &Head, request: ReadRequest) -> Result<Page, StoreError> {
    let mut page = Page {
        entries: Vec::new(),
        end: head.next,
        closed: head.closed,
    };
    if request.limit == 0 || request.from >= head.next {
        return Ok(page);
    }
    let mut interner = Interner::default();
    let holes = Holes::of(view, head.number)?;
    let begin = match holes.past(request.from) {
        past if past > request.from => past,
        from => begin(view, head.number, from)?,
    };
    let between = holes.between(begin, RecordNumber(head.next.0 - 1));
    let frames = between
        .into_iter()
        .flat_map(|range| view.frames(head.number, range.first, range.last));
    let mut bytes = 0;
    for frame in frames {
        let frame = frame?;
        bytes += frame.bytes.len();
        frame
            .entries(request.from, head.next, &mut interner, &mut page.entries)
            .map_err(|error| view.bad_frame(head.number, &error))?;
        if page.entries.len() >= request.limit || bytes >= request.bytes {
            break;
        }
    }
    Ok(page)
}

/// Where the frame begins that may hold record `from`.
pub(crate) fn begin(
    view: &View<'_>,
    number: StreamNumber,
    from: RecordNumber,
) -> Result<RecordNumber, StoreError> {
    if from == RecordNumber(0) {
        return Ok(from);
    }
    let frame = view.frame_at(number, from)?;
    Ok(frame.map_or(from, |frame| frame.first))
}
