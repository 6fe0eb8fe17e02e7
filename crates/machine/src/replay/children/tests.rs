//! The rules of children. The tests act as the workflow code.

mod passes;

use everstep_model::record::{
    CancelRequested, ExecutionRetried, PauseRequested, Paused, ResumeRequested, TimerFired,
    TimerPurpose,
};
use everstep_model::{Entry, ErrorCode, Generation, Record, RecordNumber, Scope};

use super::*;
use crate::replay::{Access, CallSite, Halt, Obsolete, Replay, Turn, UndoEnd, Written};
use everstep_samples::{json, name};

const NOW: Timestamp = Timestamp::from_millis(1_000_000);
const DUE: Timestamp = Timestamp::from_millis(1_010_000);

fn id(text: &str) -> RunId {
    RunId::new(text).unwrap()
}

fn created() -> Body {
    everstep_samples::created().into()
}

fn finished(run: &RunId, result: &str) -> Body {
    ChildFinished {
        location: "ship:0".parse().unwrap(),
        outcome: ChildOutcome::Completed(json(result)),
        run: Some(run.clone()),
    }
    .into()
}

fn timed_out() -> Body {
    TimerFired {
        purpose: TimerPurpose::Child,
        location: Some("ship:0".parse().unwrap()),
        due: DUE,
    }
    .into()
}

fn retried() -> Body {
    ExecutionRetried {
        attempt: 1,
        error: Failure::new(ErrorCode::WorkflowFailed, "again"),
        retry_at: NOW,
    }
    .into()
}

fn begun_again() -> Body {
    TimerFired {
        purpose: TimerPurpose::ExecutionRetry,
        location: None,
        due: NOW,
    }
    .into()
}

fn ship() -> ChildCall {
    ChildCall {
        workflow: name("ship"),
        id: None,
        input: json("7"),
        tags: vec![],
        timeout: None,
        on_close: ParentClose::Cancel,
        undo: UndoMode::None,
    }
}

/// A journal, and the execution over it.
struct Run {
    journal: Vec<Entry>,
    replay: Replay,
}

impl Run {
    /// Creates a run whose code was started.
    fn new() -> Self {
        Self::of(vec![created()])
    }

    fn of(bodies: Vec<Body>) -> Self {
        let mut run = Self {
            journal: Vec::new(),
            replay: Replay::new(id("r"), Generation::FIRST, Vec::new()),
        };
        run.journal = run.numbered(bodies);
        run.cold()
    }

    /// Returns the same journal, from the beginning.
    fn cold(&self) -> Self {
        let mut replay = Replay::new(id("r"), Generation::FIRST, self.journal.clone());
        assert_eq!(replay.turn(NOW), Turn::Start);
        Self {
            journal: self.journal.clone(),
            replay,
        }
    }

    fn numbered(&self, bodies: Vec<Body>) -> Vec<Entry> {
        let from = self.journal.len() as u64;
        let numbered = bodies.into_iter().zip(from..);
        let entry = |(body, number)| Entry {
            number: RecordNumber(number),
            record: Record { time: NOW, body },
        };
        numbered.map(entry).collect()
    }

    fn call(&mut self, call: ChildCall) -> OpId {
        let site = CallSite::caller();
        let called = self.replay.call(&Scope::ROOT, &name("ship"), call, site);
        called.expect("called")
    }

    /// Commits what is outgoing, then these records. Returns the kinds and ids of what was
    /// outgoing.
    fn commit(&mut self, then: Vec<Body>) -> Vec<Body> {
        let outgoing: Vec<Body> = self.replay.outgoing().take_records().0.collect();
        let all = outgoing.iter().cloned().chain(then).collect();
        let entries = self.numbered(all);
        self.journal.extend(entries.clone());
        self.replay.extend(entries);
        outgoing
    }

    fn started_as(&self) -> RunId {
        let mut children = self
            .journal
            .iter()
            .filter_map(|entry| match &entry.record.body {
                Body::ChildStarted(started) => Some(started.run.clone()),
                _ => None,
            });
        children.next_back().expect("a child was started")
    }

    fn turn(&mut self) -> Turn {
        self.replay.turn(NOW)
    }

    /// Returns the operation that resolves next, and what its child returned; none if nothing
    /// resolves.
    fn returned(&mut self) -> Option<(OpId, Option<Payload>)> {
        match self.turn() {
            Turn::Resolved(op, Resolution::Child(end)) => {
                assert_eq!(end.location.to_string(), "ship:0");
                let result = end.outcome.map(|outcome| match outcome {
                    ChildOutcome::Completed(result) => result,
                    other => panic!("it did not complete: {other:?}"),
                });
                Some((op, result))
            }
            Turn::Idle => None,
            other => panic!("it came to {other:?}"),
        }
    }

    fn left(&mut self) -> Vec<RunId> {
        let left = self.replay.outgoing().take_left_children().into_iter();
        left.map(|child| child.run).collect()
    }
}

fn kinds(bodies: &[Body]) -> Vec<&'static str> {
    bodies.iter().map(Body::type_name).collect()
}

fn done(op: OpId, result: &str) -> Option<(OpId, Option<Payload>)> {
    Some((op, Some(json(result))))
}

// B166, B167
#[test]
fn a_child_is_started_once_and_resolves_by_its_end() {
    let mut run = Run::new();
    let op = run.call(ship());
    assert_eq!(run.turn(), Turn::Idle);
    assert_eq!(kinds(&run.commit(vec![])), ["child_started"]);
    assert_eq!(run.turn(), Turn::Idle);
    let child = run.started_as();
    run.commit(vec![finished(&child, "1"), finished(&child, "2")]);
    assert_eq!(run.returned(), done(op, "1"));
    assert_eq!(run.turn(), Turn::Idle);
    let mut cold = run.cold();
    let op = cold.call(ship());
    assert_eq!(cold.returned(), done(op, "1"));
    assert!(cold.commit(vec![]).is_empty());
    assert!(cold.left().is_empty());
}

#[test]
fn the_end_of_another_run_is_ignored() {
    let mut run = Run::new();
    let op = run.call(ship());
    run.commit(vec![finished(&id("stranger"), "1")]);
    assert_eq!(run.turn(), Turn::Idle);
    let child = run.started_as();
    run.commit(vec![finished(&child, "2")]);
    assert_eq!(run.returned(), done(op, "2"));
}

// B167
#[test]
fn of_end_and_timeout_the_first_in_the_journal_wins() {
    let call = ChildCall {
        timeout: Some(Duration::from_secs(10)),
        ..ship()
    };
    let mut ended = Run::new();
    let op = ended.call(call.clone());
    ended.commit(vec![]);
    let child = ended.started_as();
    ended.commit(vec![finished(&child, "1"), timed_out()]);
    assert_eq!(ended.returned(), done(op, "1"));
    assert_eq!(ended.turn(), Turn::Idle);
    let location = "ship:0".parse().unwrap();
    let timer = Obsolete::Timer(DUE, TimerPurpose::Child, Some(location));
    assert_eq!(ended.replay.outgoing().take_obsolete(), [timer]);
    assert!(ended.left().is_empty());

    let mut late = Run::new();
    let op = late.call(call.clone());
    late.commit(vec![timed_out(), finished(&child, "1")]);
    assert_eq!(late.returned(), Some((op, None)));
    assert_eq!(late.turn(), Turn::Idle);
    assert_eq!(late.left(), [child]);
    assert_eq!(kinds(&late.commit(vec![])), ["step_abandoned"]);

    let mut cold = late.cold();
    let op = cold.call(call);
    assert_eq!(cold.returned(), Some((op, None)));
    assert!(cold.left().is_empty(), "the record was committed with it");
}

#[test]
fn a_dropped_child_is_left_once() {
    let mut run = Run::new();
    let op = run.call(ship());
    run.commit(vec![]);
    let child = run.started_as();
    run.turn();
    run.replay.set_access(Access::Allowed);
    run.replay.drop_operation(op);
    assert_eq!(run.left(), [child]);
    assert_eq!(kinds(&run.commit(vec![])), ["step_abandoned"]);
    let mut cold = run.cold();
    let op = cold.call(ship());
    cold.replay.drop_operation(op);
    assert!(cold.left().is_empty());
    assert!(cold.commit(vec![]).is_empty());
    assert_eq!(cold.turn(), Turn::Idle);
}

#[test]
fn a_child_that_has_ended_is_not_left_by_dropping_it() {
    let mut run = Run::new();
    let op = run.call(ship());
    run.commit(vec![]);
    let child = run.started_as();
    run.commit(vec![finished(&child, "1")]);
    assert_eq!(run.returned(), done(op, "1"));
    run.replay.drop_operation(op);
    assert!(run.left().is_empty());
    assert!(run.commit(vec![]).is_empty());
}

#[test]
fn a_cancelled_run_leaves_its_children_and_starts_none() {
    let cancel = || {
        CancelRequested {
            by: None,
            reason: None,
            rollback: false,
        }
        .into()
    };
    let mut run = Run::new();
    let op = run.call(ship());
    run.commit(vec![]);
    let child = run.started_as();
    run.commit(vec![cancel(), finished(&child, "1")]);
    assert!(matches!(run.turn(), Turn::Resolved(o, Resolution::Refused(_)) if o == op));
    assert_eq!(run.left(), [child]);
    let late = run.call(ship());
    assert!(matches!(run.turn(), Turn::Resolved(o, Resolution::Refused(_)) if o == late));
    assert_eq!(kinds(&run.commit(vec![])), ["step_abandoned"]);
    assert!(run.replay.status().remaining_children().is_empty());
    let mut cold = run.cold();
    cold.call(ship());
    assert!(matches!(
        cold.turn(),
        Turn::Resolved(_, Resolution::Refused(_))
    ));
    assert!(cold.left().is_empty());
}

#[test]
fn a_paused_run_sees_the_end_of_its_child_after_the_pause() {
    let mut run = Run::new();
    let op = run.call(ship());
    run.commit(vec![]);
    let child = run.started_as();
    let pause = PauseRequested {
        by: None,
        reason: None,
    };
    run.commit(vec![pause.into(), Paused { reason: None }.into()]);
    run.commit(vec![finished(&child, "1")]);
    assert_eq!(run.turn(), Turn::Paused);
    run.commit(vec![ResumeRequested { by: None }.into()]);
    assert_eq!(run.returned(), done(op, "1"));
}

#[test]
fn a_run_that_ends_leaves_the_children_it_still_waits_for() {
    let mut run = Run::new();
    run.call(ship());
    run.call(ChildCall {
        on_close: ParentClose::Abandon,
        ..ship()
    });
    run.call(ChildCall {
        on_close: ParentClose::Terminate,
        ..ship()
    });
    let remaining = run.replay.status().remaining_children();
    let policies: Vec<_> = remaining.iter().map(|child| child.on_close).collect();
    assert_eq!(policies, [ParentClose::Cancel, ParentClose::Terminate]);
}

#[test]
fn a_child_that_is_to_continue_is_not_left() {
    let mut run = Run::new();
    let op = run.call(ChildCall {
        on_close: ParentClose::Abandon,
        ..ship()
    });
    run.replay.drop_operation(op);
    assert!(run.left().is_empty());
    let said = run.commit(vec![]);
    assert_eq!(kinds(&said), ["child_started", "step_abandoned"]);
}

#[test]
fn a_detached_child_is_started_and_not_waited_for() {
    let detach = |run: &mut Run| {
        let site = CallSite::caller();
        let location = name("ship");
        run.replay
            .call(&Scope::ROOT, &location, DetachedChild(ship()), site)
            .transpose()
    };
    let mut run = Run::new();
    let child = detach(&mut run).unwrap().unwrap();
    assert!(run.replay.status().remaining_children().is_empty());
    let said = run.commit(vec![retried(), begun_again()]);
    assert!(matches!(&said[..], [Body::ChildStarted(started)] if started.detached));
    let mut again = run.cold();
    assert_eq!(detach(&mut again), Ok(Some(child)));
    assert!(again.commit(vec![]).is_empty());
}

#[test]
fn another_workflow_at_the_same_location_is_a_divergence() {
    let mut run = Run::new();
    run.call(ship());
    run.commit(vec![]);
    let mut cold = run.cold();
    let site = CallSite::caller();
    let call = ChildCall {
        workflow: name("bill"),
        ..ship()
    };
    let location = name("ship");
    let called = cold.replay.call(&Scope::ROOT, &location, call, site);
    assert_eq!(called, None);
    let Turn::Halted(Halt::Diverged(divergence)) = cold.turn() else {
        panic!("it went on");
    };
    assert!(divergence.to_string().contains("`bill`"), "{divergence}");
}
