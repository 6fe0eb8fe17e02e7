//! Whether a run is rolling back, and so what ends its pause, as its records alone say: both folds ask, and must agree on it.

use std::collections::BTreeSet;

use everstep_model::record::{ChildFinished, ChildOutcome, ChildStarted, LoopAdvanced};
use everstep_model::{Body, Location, Segment};

use crate::subject::Subject;

/// Whether a rollback goes on. It is over when nothing is left to undo, or when code that asked for it itself goes forward.
///
/// Code may come out of a rollback and say nothing, because it waits for something that it called before; then what is left
/// decides. Where the code left something to an earlier pass, this is too careful.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RollsBack {
    /// What has an undo and no result yet.
    called: BTreeSet<Subject>,
    /// What is done and not undone.
    done: BTreeSet<Subject>,
    goes_on: bool,
    /// Whether anything has asked the run to end.
    asked_to_end: bool,
}

impl RollsBack {
    /// Whether this record, which comes next, ends a pause because it asks the run to end. What asks a run to end that was asked
    /// before, or that rolls back, changes nothing.
    pub(crate) fn ends_pause(&self, body: &Body) -> bool {
        asks_to_end(body) && !self.asked_to_end && !self.goes_on
    }

    pub(crate) fn fold(&mut self, body: &Body) {
        self.asked_to_end |= asks_to_end(body);
        match body {
            Body::StepStarted(record)
                if record
                    .options
                    .is_some_and(|options| !options.undo.is_none()) =>
            {
                self.called.insert(Subject::step(&record.location));
            }
            Body::ChildStarted(record) => self.child_started(record),
            Body::ChildFinished(record) => self.child_finished(record),
            Body::StepCompleted(record) => self.step_done(&record.location, true),
            Body::StepEdited(record) => self.step_done(&record.location, true),
            Body::StepFailed(record) if record.undo.is_some() => {
                self.step_done(&record.location, false);
            }
            Body::UndoCompleted(_) | Body::UndoSkipped(_) => self.settle(body),
            Body::LoopAdvanced(record) if !record.dropped.is_empty() => self.forget(record),
            _ => {}
        }
        self.goes_on = match body {
            Body::UndoStarted(_) => true,
            Body::UndoFailed(record) => record.retry_at.is_some(),
            Body::UndoCompleted(_) | Body::UndoSkipped(_) => !self.done.is_empty(),
            body => self.goes_on && !body.goes_forward(),
        };
    }

    /// Iterations that are gone hold nothing that could have to be undone.
    fn forget(&mut self, record: &LoopAdvanced) {
        let iterations = record.location.inner_scope();
        let depth = iterations.segments().len();
        let is_gone = |what: &Subject| {
            let scope = &what.location.scope;
            let Some(Segment::Iteration(iteration)) = scope.segments().get(depth) else {
                return false;
            };
            let mut gone = record.gone.iter();
            scope.is_within(&iterations)
                && gone.any(|range| (range.first..=range.last).contains(iteration))
        };
        self.called.retain(|what| !is_gone(what));
        self.done.retain(|what| !is_gone(what));
    }

    fn child_started(&mut self, record: &ChildStarted) {
        let child = Subject::child(&record.location, &record.run);
        match record.undo.is_none() {
            true => drop(self.called.remove(&child)),
            false => drop(self.called.insert(child)),
        }
    }

    /// A child that failed or was cancelled has undone itself what it did.
    fn child_finished(&mut self, record: &ChildFinished) {
        let is_it = |what: &&Subject| {
            what.location == record.location
                && what.child.is_some()
                && (record.run.is_none() || what.child == record.run)
        };
        let Some(child) = self.called.iter().find(is_it).cloned() else {
            return;
        };
        match record.outcome {
            ChildOutcome::Completed(_) => self.done(child, true),
            ChildOutcome::Failed(_) | ChildOutcome::Cancelled(_) => {
                self.called.remove(&child);
            }
        }
    }

    fn step_done(&mut self, step: &Location, is_final: bool) {
        // Most runs have no undos.
        if !self.called.is_empty() {
            self.done(Subject::step(step), is_final);
        }
    }

    fn done(&mut self, what: Subject, is_final: bool) {
        if self.called.contains(&what) {
            if is_final {
                self.called.remove(&what);
            }
            self.done.insert(what);
        }
    }

    /// Something is undone, or passed over. Records of children once did not name their run.
    fn settle(&mut self, body: &Body) {
        let Some(told) = Subject::of(body) else {
            return;
        };
        if !self.done.remove(&told) && told.child.is_none() {
            self.done.retain(|what| what.location != told.location);
        }
    }
}

fn asks_to_end(body: &Body) -> bool {
    match body {
        Body::CancelRequested(_) | Body::DeadlinePassed(_) => true,
        Body::ForcedFailure(forced) => forced.location.is_none(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use everstep_model::record::{
        IterationRange, StepStarted, UndoCompleted, UndoFailed, UndoStarted,
    };
    use everstep_model::{RunId, StepOptions, UndoMode};

    use super::*;
    use crate::overview::samples::*;

    fn undoable(place: &str) -> [Body; 2] {
        let options = StepOptions {
            undo: UndoMode::Undo,
            ..StepOptions::default()
        };
        let started = StepStarted {
            options: Some(options),
            ..started(place, 1)
        };
        [started.into(), completed_step(place, 1, "1").into()]
    }

    fn undone(place: &str, run: Option<&str>) -> Body {
        UndoCompleted {
            location: at(place),
            attempt: 1,
            run: run.map(|run| RunId::new(run).unwrap()),
        }
        .into()
    }

    fn folded(bodies: impl IntoIterator<Item = Body>) -> RollsBack {
        let mut rolls_back = RollsBack::default();
        for body in bodies {
            rolls_back.fold(&body);
        }
        rolls_back
    }

    #[test]
    fn a_rollback_is_over_when_nothing_is_left_to_undo() {
        let mut two = folded([undoable("a:0"), undoable("b:0")].concat());
        assert!(!two.goes_on);
        two.fold(&undone("b:0", None));
        assert!(two.goes_on);
        two.fold(&cancel("stop").into());
        assert!(two.goes_on, "what comes from outside says nothing");
        two.fold(&undone("a:0", None));
        assert!(!two.goes_on);
    }

    #[test]
    fn a_rollback_whose_undo_failed_for_good_is_over() {
        let failed = |retry_at| UndoFailed {
            location: at("a:0"),
            attempt: 1,
            error: failure("refused"),
            retry_at,
            run: None,
        };
        let undoing = UndoStarted {
            location: at("a:0"),
            attempt: 1,
            run: None,
        };
        let mut one = folded(undoable("a:0"));
        one.fold(&undoing.into());
        one.fold(&failed(Some(time(50))).into());
        assert!(one.goes_on);
        one.fold(&failed(None).into());
        assert!(!one.goes_on);
    }

    #[test]
    fn a_pause_ends_by_the_first_request_to_end_outside_of_a_rollback() {
        let request: Body = cancel("stop").into();
        let mut run = folded(undoable("a:0"));
        assert!(run.ends_pause(&request) && !run.ends_pause(&event("go").into()));
        run.fold(
            &UndoStarted {
                location: at("a:0"),
                attempt: 1,
                run: None,
            }
            .into(),
        );
        assert!(!run.ends_pause(&request), "it rolls back");
        run.fold(&undone("a:0", None));
        assert!(run.ends_pause(&request));
        run.fold(&request);
        assert!(!run.ends_pause(&request), "it was asked before");
    }

    #[test]
    fn of_two_children_in_one_place_each_is_undone() {
        let journal = two_children("ship:0").0;
        let mut two = folded(journal.into_iter().map(|entry| entry.record.body));
        two.fold(&undone("ship:0", Some("ship-2")));
        assert!(two.goes_on);
        two.fold(&undone("ship:0", Some("ship-1")));
        assert!(!two.goes_on);
    }

    #[test]
    fn what_iterations_that_are_gone_have_called_is_forgotten() {
        let [started, _] = undoable("each/~1/a:0");
        let [kept, _] = undoable("each/~2/a:0");
        let mut left = folded([started, kept]);
        left.fold(
            &LoopAdvanced {
                gone: vec![IterationRange { first: 0, last: 1 }],
                ..advanced("each:0", 2, false, &[(1, 3)])
            }
            .into(),
        );
        assert_eq!(left.called, [Subject::step(&at("each/~2/a:0"))].into());
    }
}
