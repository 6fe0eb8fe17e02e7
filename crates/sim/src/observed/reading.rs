//! Invariants 1 and 18: a read returns the journal as it is at that moment.

use everstep_model::Entry;
use everstep_store::{Page, ReadRequest};

use super::journals::Journals;
use super::stream::Stream;
use super::violation::Violation;

impl Journals {
    /// Compares the result of a read with the expected journal.
    pub fn check_read(&self, request: &ReadRequest, page: Option<&Page>) -> Option<Violation> {
        let known = self
            .stream(request.stream)
            .filter(|stream| !stream.is_removed);
        match (known, page) {
            (None, None) => None,
            (Some(stream), Some(page)) => {
                let from_on = stream
                    .visible()
                    .filter(|entry| entry.number >= request.from);
                let expected: Vec<&Entry> = from_on.take(page.entries.len().max(1)).collect();
                let is_same = page.end == stream.next()
                    && page.closed == stream.closed_at.is_some()
                    && expected.iter().copied().eq(&page.entries);
                (!is_same).then(|| differs(stream, page.entries.len()))
            }
            (Some(stream), None) => Some(differs(stream, 0)),
            (None, Some(_)) => {
                let what = format!(
                    "a read returned stream {}, which does not exist",
                    request.stream
                );
                Some(Violation::of(1, what))
            }
        }
    }
}

fn differs(stream: &Stream, len: usize) -> Violation {
    let what = format!(
        "{}: a read returned other records ({len} of them)",
        stream.label()
    );
    Violation::of(1, what)
}

#[cfg(test)]
mod tests {
    use everstep_model::RecordNumber;
    use everstep_store_testkit::sample::created;

    use super::super::samples::{at, broken, committed, creation, inbox_event, number};
    use super::*;

    #[test]
    fn a_reader_that_misses_a_record_is_found() {
        let mut journals = Journals::default();
        let batch = [creation("a").into(), inbox_event("e").into()];
        journals.commit(at(0), &batch, &[committed(1, 0), committed(1, 1)]);
        let request = ReadRequest {
            stream: number(1),
            from: RecordNumber(0),
            limit: 10,
            bytes: usize::MAX,
        };
        let mut page = Page {
            entries: journals.stream(number(1)).unwrap().entries.clone(),
            end: RecordNumber(2),
            closed: false,
        };
        assert_eq!(journals.check_read(&request, Some(&page)), None);
        page.entries.remove(0);
        let found = journals.check_read(&request, Some(&page));
        assert_eq!(broken(&Vec::from_iter(found)), [1]);
        assert!(journals.check_read(&request, None).is_some());
        assert_eq!(created(), created());
    }
}
