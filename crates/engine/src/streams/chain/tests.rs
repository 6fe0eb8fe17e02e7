//! Tests of the offsets in chains of forks.

use super::*;

fn segment(stream: u64, term: u64, from: u64) -> Segment {
    Segment {
        stream: StreamNumber(stream),
        term: Term(term),
        from: RecordNumber(from),
    }
}

fn offset(term: u64, next: u64) -> Offset {
    Offset {
        term: Term(term),
        next: RecordNumber(next),
    }
}

#[test]
fn offsets_of_every_part_are_known_and_no_others() {
    let chain = Chain(vec![segment(9, 5, 8), segment(4, 3, 2), segment(1, 3, 0)]);
    let number = |term, next| chain.number(offset(term, next), RecordNumber(10));
    for (term, next) in [(3, 1), (3, 2), (3, 8), (5, 8), (5, 10), (0, 0), (9, 0)] {
        assert_eq!(number(term, next).unwrap(), RecordNumber(next));
    }
    for (term, next) in [(3, 9), (2, 5)] {
        assert!(matches!(number(term, next), Err(StreamError::OldOffset)));
    }
    for (term, next) in [(5, 11), (5, 7), (6, 8)] {
        assert!(matches!(
            number(term, next),
            Err(StreamError::UnknownOffset)
        ));
    }
}

#[test]
fn the_text_of_offsets_rises_through_a_chain() {
    let chain = Chain(vec![segment(9, 5, 8), segment(4, 3, 2), segment(1, 3, 0)]);
    let texts: Vec<_> = (0..12)
        .map(|n| chain.offset(RecordNumber(n)).to_string())
        .collect();
    assert!(texts.is_sorted_by(|a, b| a < b), "{texts:?}");
}
