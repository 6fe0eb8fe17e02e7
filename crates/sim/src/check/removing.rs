//! Invariant 31: only what is over goes, because somebody asked for it or its time was up, and whoever ran it stays fenced.

use std::collections::BTreeMap;
use std::time::Duration;

use everstep_model::{StreamNumber, Timestamp};

use super::Violation;
use super::journals::{Journals, Stream};
use crate::workload::Ledger;

/// The moment of a removal: every stream that goes is closed.
pub(super) fn check_removal(
    streams: &[StreamNumber],
    known: &BTreeMap<StreamNumber, Stream>,
) -> Vec<Violation> {
    let lives = streams.iter().filter_map(|number| known.get(number));
    let open = lives.filter(|stream| stream.closed_at.is_none());
    open.map(|stream| Violation::of(31, format!("{} went before its end", stream.told())))
        .collect()
}

/// At the end: every removal was asked for, or the run had been over for long enough.
pub(super) fn check(
    journals: &Journals,
    ledger: &Ledger,
    kept_for: Option<Duration>,
    set_backs: &[(Timestamp, Duration)],
) -> Vec<Violation> {
    let mut found = Vec::new();
    for stream in journals.streams() {
        let (Some(removed), Some((run, _))) = (stream.removed_at, &stream.run) else {
            continue;
        };
        let (by_store, removed) = removed;
        if ledger.was_asked(run.as_str(), &["delete"]) {
            continue;
        }
        let ended = stream.ended_at.unwrap_or(removed);
        let closed = stream.closed_at.unwrap_or(by_store);
        // By the clocks of those who did it, or by the store's; and a clock may have been set back since it said that the time
        // was up, before the removal was written.
        let lay = ended.until(removed).max(closed.until(by_store));
        let meanwhile = |(at, _): &&(Timestamp, Duration)| (closed..=by_store).contains(at);
        let set_back: Duration = set_backs.iter().filter(meanwhile).map(|(_, by)| *by).sum();
        let lay = lay + set_back;
        let is_due = kept_for.is_some_and(|age| lay >= age || is_older(journals, stream));
        if !is_due {
            let what = format!(
                "{} ended at {ended} and was gone at {removed}",
                stream.told()
            );
            found.push(Violation::of(31, what));
        }
    }
    found
}

/// Whether a later life took its place: lives go together, by the age of the last.
fn is_older(journals: &Journals, stream: &Stream) -> bool {
    let Some((run, life)) = &stream.run else {
        return false;
    };
    let mut lives = journals.lives(run.as_str());
    lives.any(|other| other.run.as_ref().is_some_and(|(_, later)| later > life))
}

#[cfg(test)]
mod tests {
    use super::super::support::{FINE, at, broken, number, stream};
    use super::*;

    #[test]
    fn a_run_that_goes_before_its_end_is_found() {
        let mut known = BTreeMap::from([(number(1), stream("a", Vec::new()))]);
        assert_eq!(broken(&check_removal(&[number(1)], &known)), [31]);
        known.get_mut(&number(1)).unwrap().closed_at = Some(at(1));
        assert_eq!(broken(&check_removal(&[number(1)], &known)), FINE);
    }

    #[test]
    fn a_run_that_goes_before_its_time_is_found() {
        let mut ended = stream("a", Vec::new());
        (ended.closed_at, ended.ended_at) = (Some(at(1)), Some(at(1)));
        ended.removed_at = Some((at(1_500), at(1_500)));
        let journals = Journals::of([ended]);
        let found = |kept_ms| {
            let kept_for = Some(Duration::from_millis(kept_ms));
            broken(&check(&journals, &Ledger::default(), kept_for, &[]))
        };
        assert_eq!(found(1_000), FINE);
        assert_eq!(found(2_000), [31]);
        let mut ledger = Ledger::default();
        ledger.asked("a", "delete");
        assert_eq!(broken(&check(&journals, &ledger, None, &[])), FINE);
    }
}
