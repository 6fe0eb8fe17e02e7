//! Ranges of dropped records.

use everstep_model::{RecordNumber, RecordRange};

use crate::encoding::values::{decode_holes, encode_holes};

#[test]
fn decoded_holes_survive_encoding_and_can_be_queried() {
    super::check("holes", |bytes| {
        let holes = match decode_holes(bytes) {
            Ok(holes) => holes,
            Err(error) => return format!("{error:?}"),
        };
        assert_eq!(
            decode_holes(&encode_holes(&holes)).map(|h| h.0),
            Ok(holes.0.clone())
        );
        let edges = [0, 1, u64::MAX - 1, u64::MAX].map(RecordNumber);
        let inside = holes.0.iter().flat_map(|hole| [hole.first, hole.last]);
        let numbers: Vec<RecordNumber> = edges.into_iter().chain(inside.take(8)).collect();
        for &from in &numbers {
            assert!(holes.past(from) >= from);
            for &to in &numbers {
                for range in holes.between(from, to) {
                    assert!(from <= range.first && range.last <= to);
                }
            }
        }
        let count = holes.0.len();
        let all = RecordRange {
            first: RecordNumber(0),
            last: RecordNumber(u64::MAX),
        };
        let joined = holes.with(&[all], RecordNumber(u64::MAX));
        assert!(joined.0.len() <= count + 1);
        format!("{}", count.min(9))
    });
}
