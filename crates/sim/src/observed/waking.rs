//! Invariant 29 at every commit: a run whose inbox has records that its last suspension has not
//! seen has its ready mark, because sweeps find it by that mark alone.

use super::stream::Stream;
use super::violation::Violation;

pub(super) fn check(stream: &Stream) -> Option<Violation> {
    let is_open = stream.run.is_some() && stream.closed_at.is_none() && !stream.is_removed;
    let has_unseen = stream.inbox != stream.seen_at_suspension;
    (is_open && has_unseen && !stream.is_ready).then(|| {
        let what = format!(
            "it has {} inbox records, was suspended with {} of them, and has no ready mark",
            stream.inbox, stream.seen_at_suspension
        );
        stream.violation(29, what)
    })
}

#[cfg(test)]
mod tests {
    use everstep_store::{ExecutorLease, Guard};

    use super::super::Journals;
    use super::super::samples::{FINE, at, broken, committed, creation, executor, inbox_event};

    /// Checks a run that suspends after its creation and then receives an event.
    fn found(marks_event: bool) -> Vec<u8> {
        let mut journals = Journals::default();
        let created = creation("a");
        let mut suspension = executor(1, 1, Vec::new());
        suspension.guards.push(Guard::InboxSeen(1));
        (suspension.ready, suspension.lease) = (Some(false), ExecutorLease::Release);
        let mut event = inbox_event("e");
        event.ready = marks_event.then_some(true);
        let batch = [created.into(), suspension.into(), event.into()];
        let outcomes = [committed(1, 0), committed(1, 1), committed(1, 1)];
        let mut found = broken(&journals.commit(at(0), &batch, &outcomes));
        // The claim does not matter here.
        found.retain(|invariant| *invariant != 3);
        found
    }

    #[test]
    fn an_event_without_a_ready_mark_is_found() {
        assert_eq!(found(true), FINE);
        assert_eq!(found(false), [29]);
    }
}
