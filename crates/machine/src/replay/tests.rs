//! The rules of replay, one by one. The tests act as the workflow code.

mod abandoning;
mod attempts;
mod passes;

use std::time::Duration;

use everstep_model::record::{
    Completed, Event, ExecutionRetried, FailureOutcome, PauseRequested, Paused, ResumeRequested,
    StepStarted, TimerFired, TimerPurpose,
};
use everstep_model::{
    Body, Entry, ErrorCode, Failure, Generation, Record, RecordNumber, RetryPolicy, RunId,
    RunStatus, Scope, StepOptions, Timestamp,
};

use super::{
    Access, CallSite, Halt, OpId, Replay, Resolution, SleepCall, StepStart, Turn, WaitCall, Written,
};
use crate::retry::FailureClass;
use everstep_samples::{json, name};

const NOW: Timestamp = Timestamp::from_millis(1_000_000);

#[track_caller]
fn here() -> CallSite {
    CallSite::caller()
}

fn wait_for(event: &str) -> WaitCall {
    WaitCall {
        names: vec![name(event)],
        batch: 1,
        at_once: false,
        timeout: None,
    }
}

fn created() -> Body {
    everstep_samples::created().into()
}

fn event(event: &str, payload: &str) -> Body {
    Event {
        name: name(event),
        payload: json(payload),
        dedup_id: None,
        reply_to: None,
        by: None,
    }
    .into()
}

fn fired(purpose: TimerPurpose, location: &str, due: Timestamp) -> Body {
    TimerFired {
        purpose,
        location: Some(location.parse().unwrap()),
        due,
    }
    .into()
}

fn entries(from: u64, bodies: impl IntoIterator<Item = Body>) -> Vec<Entry> {
    let numbered = bodies.into_iter().zip(from..);
    let entry = |(body, number)| Entry {
        number: RecordNumber(number),
        record: Record { time: NOW, body },
    };
    numbered.map(entry).collect()
}

/// A journal, and the executions over it.
struct Journal(Vec<Entry>);

impl Journal {
    fn new() -> Self {
        Self(entries(0, [created()]))
    }

    fn of(bodies: impl IntoIterator<Item = Body>) -> Self {
        Self(entries(0, std::iter::once(created()).chain(bodies)))
    }

    fn cold(&self) -> Replay {
        let id = RunId::new("r").unwrap();
        Replay::new(id, Generation::FIRST, self.0.clone())
    }

    /// Commits the outgoing records of an execution, and adds them to it.
    fn commit(&mut self, replay: &mut Replay) -> Vec<&'static str> {
        let bodies: Vec<Body> = replay.outgoing().take_records().0.collect();
        let kinds = bodies.iter().map(Body::type_name).collect();
        self.append(replay, bodies);
        kinds
    }

    fn append(&mut self, replay: &mut Replay, bodies: Vec<Body>) {
        let new = entries(self.0.len() as u64, bodies);
        self.0.extend(new.clone());
        replay.extend(new);
    }
}

fn step(replay: &mut Replay, step: &str) -> Option<OpId> {
    replay.call(&Scope::ROOT, &name(step), StepOptions::default(), here())
}

fn wait(replay: &mut Replay, event: &str) -> OpId {
    replay
        .call(&Scope::ROOT, &name(event), wait_for(event), here())
        .unwrap()
}

fn begin(replay: &mut Replay, op: OpId) -> StepStart {
    replay.begin_attempt(op).expect("the attempt may begin")
}

fn diverged(replay: &mut Replay) -> String {
    match replay.turn(NOW) {
        Turn::Halted(Halt::Diverged(divergence)) => divergence.to_string(),
        other => panic!("not diverged: {other:?}"),
    }
}

#[test]
fn a_step_resolves_only_when_its_record_comes_back() {
    let mut journal = Journal::new();
    let mut run = journal.cold();
    assert_eq!(run.turn(NOW), Turn::Start);
    let op = step(&mut run, "charge").unwrap();
    let start = begin(&mut run, op);
    run.complete_attempt(op, &start, json("7"));
    assert_eq!(run.turn(NOW), Turn::Idle, "the result is not durable yet");
    assert_eq!(journal.commit(&mut run), ["step_started", "step_completed"]);
    assert_eq!(
        run.turn(NOW),
        Turn::Resolved(op, Resolution::Completed(json("7")))
    );
    assert_eq!(run.turn(NOW), Turn::Idle);
}

#[test]
fn two_results_in_one_commit_resolve_in_two_polls() {
    let mut journal = Journal::new();
    let mut run = journal.cold();
    run.turn(NOW);
    let (a, b) = (step(&mut run, "a").unwrap(), step(&mut run, "b").unwrap());
    let (start_a, start_b) = (begin(&mut run, a), begin(&mut run, b));
    run.complete_attempt(b, &start_b, json("2"));
    run.complete_attempt(a, &start_a, json("1"));
    journal.commit(&mut run);
    // The order of the journal decides, not the order of the calls.
    assert_eq!(
        run.turn(NOW),
        Turn::Resolved(b, Resolution::Completed(json("2")))
    );
    assert_eq!(
        run.turn(NOW),
        Turn::Resolved(a, Resolution::Completed(json("1")))
    );
}

// B68, B69
#[test]
fn early_events_are_kept_in_order_and_none_resolves_in_the_poll_that_waits() {
    let journal = Journal::of([event("go", "1"), event("go", "2")]);
    let mut run = journal.cold();
    assert_eq!(run.turn(NOW), Turn::Start);
    let first = wait(&mut run, "go");
    let taken = |turn| match turn {
        Turn::Resolved(op, Resolution::Events(events)) => (op, events[0].payload.clone()),
        other => panic!("{other:?}"),
    };
    assert_eq!(taken(run.turn(NOW)), (first, json("1")));
    let second = wait(&mut run, "go");
    assert_eq!(taken(run.turn(NOW)), (second, json("2")));
}

#[test]
fn of_an_event_and_a_timeout_the_first_in_the_journal_wins() {
    let deadline = NOW.after(Duration::from_secs(1));
    for event_first in [true, false] {
        let mut journal = Journal::new();
        let mut run = journal.cold();
        run.turn(NOW);
        let timeout = Some(Duration::from_secs(1));
        let op = run
            .call(
                &Scope::ROOT,
                &name("go"),
                WaitCall {
                    timeout,
                    ..wait_for("go")
                },
                here(),
            )
            .unwrap();
        journal.commit(&mut run);
        let timer = fired(TimerPurpose::Wait, "go:0", deadline);
        let mut both = vec![event("go", "1"), timer];
        if !event_first {
            both.reverse();
        }
        journal.append(&mut run, both);
        match run.turn(NOW) {
            Turn::Resolved(resolved, Resolution::Events(taken)) => {
                assert_eq!((resolved, !taken.is_empty()), (op, event_first));
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(run.turn(NOW), Turn::Idle);
    }
}

// B177
#[test]
fn another_operation_at_a_recorded_location_is_a_divergence() {
    let mut journal = Journal::new();
    let mut run = journal.cold();
    run.turn(NOW);
    step(&mut run, "charge");
    journal.commit(&mut run);

    let mut renamed = journal.cold();
    renamed.turn(NOW);
    assert_eq!(step(&mut renamed, "charge-card"), None);
    let message = diverged(&mut renamed);
    assert!(message.contains("step `charge:0` at record 1"), "{message}");
    assert!(
        message.contains("the code called step `charge-card:0`"),
        "{message}"
    );

    let mut another_kind = journal.cold();
    another_kind.turn(NOW);
    another_kind.call(
        &Scope::ROOT,
        &name("charge"),
        SleepCall::For(Duration::ZERO),
        here(),
    );
    assert!(diverged(&mut another_kind).contains("sleep `charge:0`"));
}

#[test]
fn a_recorded_operation_that_the_code_no_longer_reaches_is_a_divergence() {
    let mut journal = Journal::new();
    let mut run = journal.cold();
    run.turn(NOW);
    step(&mut run, "charge");
    journal.commit(&mut run);

    let mut waits_for_nothing = journal.cold();
    waits_for_nothing.turn(NOW);
    assert!(diverged(&mut waits_for_nothing).contains("the code did not reach it"));

    let mut ends_early = journal.cold();
    ends_early.turn(NOW);
    ends_early.returned(None);
    assert!(diverged(&mut ends_early).contains("step `charge:0`"));
}

#[test]
fn code_woken_by_something_outside_the_journal_may_call_nothing() {
    let journal = Journal::new();
    let mut run = journal.cold();
    run.turn(NOW);
    step(&mut run, "a");
    assert_eq!(run.turn(NOW), Turn::Idle);
    assert_eq!(step(&mut run, "b"), None);
    let halted = run.turn(NOW);
    assert!(
        matches!(&halted, Turn::Halted(Halt::NotDurable(why)) if why.contains("b:0")),
        "{halted:?}"
    );
}

#[test]
fn while_paused_nothing_resolves_and_the_order_is_kept() {
    let mut journal = Journal::new();
    let mut run = journal.cold();
    run.turn(NOW);
    let (a, b) = (wait(&mut run, "a"), wait(&mut run, "b"));
    journal.commit(&mut run);
    journal.append(
        &mut run,
        vec![
            Paused { reason: None }.into(),
            event("b", "1"),
            event("a", "2"),
        ],
    );
    assert_eq!(run.turn(NOW), Turn::Paused);
    journal.append(&mut run, vec![ResumeRequested { by: None }.into()]);
    assert!(matches!(run.turn(NOW), Turn::Resolved(op, _) if op == b));
    assert!(matches!(run.turn(NOW), Turn::Resolved(op, _) if op == a));
}

// B18
#[test]
fn replaying_an_unchanged_journal_writes_nothing() {
    let mut journal = Journal::of([event("go", "1")]);
    let mut run = journal.cold();
    run.turn(NOW);
    wait(&mut run, "go");
    run.write(&Scope::ROOT, Written::Note("hello".to_owned()), here());
    run.turn(NOW);
    journal.commit(&mut run);
    let mut cold = journal.cold();
    cold.turn(NOW);
    wait(&mut cold, "go");
    cold.write(&Scope::ROOT, Written::Note("hello".to_owned()), here());
    assert!(matches!(cold.turn(NOW), Turn::Resolved(..)));
    assert_eq!(cold.turn(NOW), Turn::Idle);
    assert!(!cold.outgoing().is_pending());
}

#[test]
fn an_ended_run_stays_ended() {
    let completed = Completed {
        result: json("1"),
        abandoned: vec![],
    };
    let journal = Journal::of([completed.into()]);
    let mut run = journal.cold();
    run.turn(NOW);
    run.returned(None);
    assert_eq!(run.turn(NOW), Turn::Ended(RunStatus::Completed));
    assert_eq!(run.turn(NOW), Turn::Ended(RunStatus::Completed));
}

#[test]
fn a_refused_record_is_named_by_its_own_type() {
    let mut run = Journal::new().cold();
    run.turn(NOW);
    run.turn(NOW);
    let topic = name("paid");
    let payload = json("1");
    run.write(&Scope::ROOT, Written::Emit { topic, payload }, here());
    match run.turn(NOW) {
        Turn::Halted(Halt::NotDurable(why)) => assert!(why.contains("(emitted, at"), "{why}"),
        other => panic!("{other:?}"),
    }
}
