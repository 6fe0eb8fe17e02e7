//! Tests of the spans of a run.

use everstep_model::record::*;

use super::*;
use everstep_samples::{
    Journal, at, completed, completed_step, created, failed_step, started, time,
};

fn run() -> RunId {
    RunId::new("r").unwrap()
}

fn trace_of(journal: &Journal) -> Vec<Span> {
    spans(&run(), Generation::FIRST, &journal.0)
}

#[test]
fn a_run_is_a_trace_and_each_attempt_a_span_of_it() {
    let journal = Journal::created()
        .with(started("charge:0", 1))
        .with(failed_step("charge:0", 1, FailureOutcome::Retrying))
        .with(started("charge:0", 2))
        .with(completed_step("charge:0", 2, "1"))
        .with(completed());
    let spans = trace_of(&journal);
    let [first, second, root] = &spans[..] else {
        panic!("{spans:#?}");
    };
    let location = position(&run(), Generation::FIRST, &created());
    assert_eq!(root.id, location.run().span);
    assert_eq!(
        (root.parent, root.start, root.end),
        (None, time(0), time(5))
    );
    for (span, attempt) in [(first, 1), (second, 2)] {
        assert_eq!(span.id, location.attempt(&at("charge:0"), attempt).span);
        assert_eq!((span.trace, span.parent), (root.trace, Some(root.id)));
    }
    assert!(first.error.is_some() && second.error.is_none());
}

#[test]
fn a_run_that_has_not_ended_has_no_trace() {
    let journal = Journal::created().with(started("charge:0", 1));
    assert_eq!(trace_of(&journal), []);
}

#[test]
fn the_span_of_a_run_is_below_the_span_that_started_it() {
    let above = position(&run(), Generation::FIRST, &created());
    let above = above.child(&at("child:0"), &RunId::new("c").unwrap());
    let child = Created {
        trace: Some(above),
        ..created()
    };
    let spans = trace_of(&Journal::default().with(child).with(completed()));
    assert_eq!(spans[0].trace, above.trace);
    assert_eq!(spans[0].parent, Some(above.span));
}
