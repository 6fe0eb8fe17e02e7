//! Invariant 17: each call of a child starts one run and receives one result, whatever crashes in
//! between.

use std::collections::BTreeSet;

use everstep_model::{Body, Location, RunId};

use crate::observed::{Journals, Stream, Violation};

/// Within one journal, a child is started once and finishes once at each location. If the code gave
/// up a child, a later pass of the function may start another one.
pub(super) fn check(stream: &Stream) -> Vec<Violation> {
    let mut started: BTreeSet<&Location> = BTreeSet::new();
    let mut runs: BTreeSet<&RunId> = BTreeSet::new();
    let mut given_up: BTreeSet<&Location> = BTreeSet::new();
    let mut finished: BTreeSet<(&Location, Option<&RunId>)> = BTreeSet::new();
    let mut found = Vec::new();
    let mut report = |location: &Location, what: &str| {
        let what = format!("the child at {location} {what}");
        found.push(stream.violation(17, what));
    };
    for entry in &stream.entries {
        match &entry.record.body {
            Body::ChildStarted(child) => {
                let is_again = !started.insert(&child.location);
                let may_be_again = given_up.remove(&child.location);
                if (is_again && !may_be_again) || !runs.insert(&child.run) {
                    report(&child.location, "was started twice");
                }
            }
            Body::StepAbandoned(left) if started.contains(&left.location) => {
                given_up.insert(&left.location);
            }
            Body::ChildFinished(child) => {
                // A copy does not contain what loops have dropped.
                let is_whole = stream.copied == 1;
                if is_whole && !started.contains(&child.location) {
                    report(&child.location, "finished and was not started");
                }
                if !finished.insert((&child.location, child.run.as_ref())) {
                    report(&child.location, "finished twice");
                }
            }
            _ => {}
        }
    }
    found
}

/// Checks that every child that was called exists, with this parent or adopted by it, and every
/// child was called by its parent.
pub(super) fn check_family(journals: &Journals) -> Vec<Violation> {
    let mut found = Vec::new();
    for stream in journals.streams() {
        if !is_called(journals, stream) {
            let what = "it is a child that its parent has not called";
            found.push(stream.violation(17, what));
        }
        for entry in stream.entries.iter().skip(stream.copied) {
            let Body::ChildStarted(child) = &entry.record.body else {
                continue;
            };
            if journals.generations(child.run.as_str()).next().is_none() {
                let what = format!("child {} was never created", child.run);
                found.push(stream.violation(17, what));
            }
        }
    }
    found
}

/// Whether the parent's journal contains the call of this child.
fn is_called(journals: &Journals, stream: &Stream) -> bool {
    let (Some(created), Some((run, _))) = (stream.creation(), &stream.run) else {
        return true;
    };
    let (Some(parent), None) = (&created.parent, &created.forked_from) else {
        return true;
    };
    let calls_it = |body: &Body| {
        matches!(body, Body::ChildStarted(child)
            if child.run == *run && child.location == parent.location)
    };
    let generations = journals.generations(parent.run.as_str());
    let mut records = generations.flat_map(|stream| &stream.entries);
    records.any(|entry| calls_it(&entry.record.body))
}

#[cfg(test)]
mod tests {
    use everstep_model::record::{
        ChildFinished, ChildOutcome, ChildStarted, ParentClose, ParentLink,
    };
    use everstep_model::{Generation, Payload, Record, RunId};
    use everstep_store_testkit::sample::{location, name};

    use super::*;
    use crate::observed::samples::{FINE, broken, record, stream};

    fn started() -> Record {
        record(ChildStarted {
            location: location("c:0"),
            run: RunId::new("child").unwrap(),
            workflow: name("leaf"),
            input: Payload::null(),
            tags: Vec::new(),
            deadline: None,
            on_close: ParentClose::Cancel,
            detached: false,
            undo: everstep_model::UndoMode::None,
        })
    }

    fn finished() -> Record {
        record(ChildFinished {
            location: location("c:0"),
            outcome: ChildOutcome::Completed(Payload::null()),
            run: None,
        })
    }

    #[test]
    fn a_child_that_starts_or_finishes_twice_is_found() {
        let found = |records| broken(&check(&stream("a", records)));
        assert_eq!(found(vec![started(), finished()]), FINE);
        assert_eq!(found(vec![started(), started()]), [17]);
        assert_eq!(found(vec![started(), finished(), finished()]), [17]);
        assert_eq!(found(vec![finished()]), [17]);
    }

    #[test]
    fn a_child_that_was_never_called_is_found() {
        let found = |run: &str| {
            let mut child = stream(run, Vec::new());
            child.number = everstep_model::StreamNumber(2);
            let Body::Created(created) = &mut child.entries[0].record.body else {
                unreachable!("it is the first record");
            };
            created.parent = Some(ParentLink {
                run: RunId::new("a").unwrap(),
                generation: Generation::FIRST,
                location: location("c:0"),
            });
            let parent = stream("a", vec![started()]);
            let mut called = stream("child", Vec::new());
            called.number = everstep_model::StreamNumber(3);
            broken(&check_family(&Journals::of([parent, child, called])))
        };
        assert_eq!(found("child"), FINE);
        assert_eq!(found("another"), [17]);
    }

    #[test]
    fn a_child_that_was_never_created_is_found() {
        let parent = stream("a", vec![started()]);
        let mut child = stream("child", Vec::new());
        child.number = everstep_model::StreamNumber(2);
        assert_eq!(broken(&check_family(&Journals::of([parent.clone()]))), [17]);
        assert_eq!(broken(&check_family(&Journals::of([parent, child]))), FINE);
    }
}
