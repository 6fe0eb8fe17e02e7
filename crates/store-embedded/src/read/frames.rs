//! Reading pages of records.

use everstep_model::{Interner, RecordNumber, StreamNumber};
use everstep_store::{Head, Page, ReadRequest, StoreError};

use crate::storage::view::View;

/// Reads one page of a stream. The view may be newer than the head, so records after the head are
/// left out.
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
    let holes = view.holes(head.number)?;
    let begin = match holes.past(request.from) {
        past if past > request.from => past,
        from => begin(view, head.number, from)?,
    };
    let between = holes.between(begin, RecordNumber(head.next.0 - 1));
    let frames = between
        .into_iter()
        .flat_map(|range| view.frames(head.number, range.first..=range.last));
    let mut bytes = 0;
    for frame in frames {
        let frame = frame?;
        bytes += frame.bytes.len();
        frame
            .entries(request.from..head.next, &mut interner, &mut page.entries)
            .map_err(|error| view.bad_frame(head.number, &error))?;
        if page.entries.len() >= request.limit || bytes >= request.bytes {
            break;
        }
    }
    Ok(page)
}

/// Returns the beginning of the frame that may contain record `from`.
pub(crate) fn begin(
    view: &View<'_>,
    number: StreamNumber,
    from: RecordNumber,
) -> Result<RecordNumber, StoreError> {
    if from == RecordNumber(0) {
        return Ok(from);
    }
    let frame = view.last_frame(number, RecordNumber(0)..=from)?;
    Ok(frame.map_or(from, |frame| frame.first))
}
