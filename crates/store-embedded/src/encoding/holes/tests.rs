//! Tests of ranges of dropped records.

use super::*;

fn range(first: u64, last: u64) -> RecordRange {
    RecordRange {
        first: RecordNumber(first),
        last: RecordNumber(last),
    }
}

#[test]
fn adjacent_ranges_are_merged_and_clipped_to_the_stream() {
    let holes = Holes::default().with(&[range(5, 6), range(1, 3), range(9, 2)], RecordNumber(20));
    assert_eq!(holes.0, [range(1, 3), range(5, 6)]);
    let holes = holes.with(&[range(4, 4), range(18, 99)], RecordNumber(20));
    assert_eq!(holes.0, [range(1, 6), range(18, 19)]);
}

#[test]
fn ranges_between_holes_are_complete() {
    let holes = Holes(vec![range(1, 3), range(6, 6)]);
    let between = |from, to| holes.between(RecordNumber(from), RecordNumber(to));
    assert_eq!(between(0, 9), [range(0, 0), range(4, 5), range(7, 9)]);
    assert_eq!(between(2, 6), [range(4, 5)]);
    assert_eq!(between(1, 3), []);
    assert_eq!(between(7, 7), [range(7, 7)]);
    assert_eq!(holes.past(RecordNumber(2)), RecordNumber(4));
    assert_eq!(holes.past(RecordNumber(4)), RecordNumber(4));
}
