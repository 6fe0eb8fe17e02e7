//! Tests of merging and finding gaps.

use super::*;

fn gap(first: u64, last: u64, time: u64) -> Gap {
    Gap {
        first: RecordNumber(first),
        last: RecordNumber(last),
        time: Timestamp::from_millis(time),
    }
}

#[test]
fn neighbours_become_one_gap_with_the_later_time() {
    let mut gaps = Gaps::default();
    gaps.add(&[gap(8, 9, 1), gap(1, 3, 7)]);
    gaps.add(&[gap(4, 6, 2)]);
    assert_eq!(gaps.0, [gap(1, 6, 7), gap(8, 9, 1)]);
    gaps.add(&[gap(7, 7, 3)]);
    assert_eq!(gaps.0, [gap(1, 9, 7)]);
}

#[test]
fn a_hole_is_legal_only_if_all_of_it_was_dropped() {
    let mut gaps = Gaps::default();
    gaps.add(&[gap(3, 5, 1), gap(9, 9, 2)]);
    let between = |first, end| gaps.time_between(RecordNumber(first), RecordNumber(end));
    assert_eq!(between(3, 6), Some(Timestamp::from_millis(1)));
    assert_eq!(between(4, 5), Some(Timestamp::from_millis(1)));
    assert_eq!(between(3, 7), None);
    assert_eq!(between(2, 4), None);
    assert_eq!(between(5, 10), None);
    assert!(gaps.around(RecordNumber(9)).is_some() && gaps.around(RecordNumber(8)).is_none());
}
