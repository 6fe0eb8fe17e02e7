//! Invariant 31, at the time of a removal: only closed streams are removed.

use std::collections::BTreeMap;

use everstep_model::StreamNumber;

use super::stream::Stream;
use super::violation::Violation;

pub(super) fn check_removal(
    streams: &[StreamNumber],
    known: &BTreeMap<StreamNumber, Stream>,
) -> Vec<Violation> {
    let streams = streams.iter().filter_map(|number| known.get(number));
    let open = streams.filter(|stream| stream.closed_at.is_none());
    open.map(|stream| stream.violation(31, "it was removed before its end"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::samples::{FINE, at, broken, number, stream};
    use super::*;

    #[test]
    fn a_run_that_is_removed_before_its_end_is_found() {
        let mut known = BTreeMap::from([(number(1), stream("a", Vec::new()))]);
        assert_eq!(broken(&check_removal(&[number(1)], &known)), [31]);
        known.get_mut(&number(1)).unwrap().closed_at = Some(at(1));
        assert_eq!(broken(&check_removal(&[number(1)], &known)), FINE);
    }
}
