//! The rules of replay, one by one, with the test in the place of the workflow code.

use std::panic::Location as Caller;
use std::time::Duration;

use everstep_model::record::{
    Completed, Created, Event, ExecutionRetried, FailureOutcome, PauseRequested, Paused,
    ResumeRequested, StepStarted, TimerFired, TimerPurpose,
};
use everstep_model::{
    Body, Entry, ErrorCode, Failure, Generation, Name, Payload, Record, RecordNumber, RetryPolicy,
    RunId, RunStatus, Scope, Seed, StepOptions, Timestamp,
};

use super::{CallSite, Halt, OpId, Replay, Resolution, StepStart, Turn, WaitFor};
use crate::retry::FailureClass;

const NOW: Timestamp = Timestamp::from_millis(1_000_000);

#[track_caller]
fn here() -> CallSite {
    Caller::caller()
}

fn wait_for(event: &str) -> WaitFor {
    WaitFor {
        names: vec![name(event)],
        batch: 1,
        at_once: false,
    }
}

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

fn json(text: &str) -> Payload {
    Payload::from_json(text.to_owned()).unwrap()
}

fn created() -> Body {
    Created {
        workflow: name("w"),
        version: 1,
        input: json("null"),
        seed: Seed(1),
        tags: vec![],
        deadline: None,
        execution_retries: None,
        idempotency_key: None,
        parent: None,
        by: None,
        forked_from: None,
        mark: None,
        parent_identity: None,
        trace: None,
    }
    .into()
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

fn fired(purpose: TimerPurpose, place: &str, due: Timestamp) -> Body {
    TimerFired {
        purpose,
        location: Some(place.parse().unwrap()),
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

    /// Commits what an execution has to write, and hands it back to it.
    fn commit(&mut self, replay: &mut Replay) -> Vec<&'static str> {
        let bodies: Vec<Body> = replay.take_outgoing().0.collect();
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
    replay.call_step(&Scope::ROOT, &name(step), StepOptions::default(), here())
}

fn wait(replay: &mut Replay, event: &str) -> OpId {
    replay
        .call_wait(&Scope::ROOT, &name(event), wait_for(event), None, here())
        .unwrap()
}

fn begin(replay: &mut Replay, op: OpId) -> StepStart {
    replay
        .begin_attempt(op, NOW)
        .expect("the attempt may begin")
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
            .call_wait(&Scope::ROOT, &name("go"), wait_for("go"), timeout, here())
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
fn another_operation_in_a_recorded_place_is_a_divergence() {
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
    another_kind.call_sleep(&Scope::ROOT, &name("charge"), Duration::ZERO, here());
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
fn a_crash_in_the_middle_of_a_step_uses_up_no_retry() {
    let mut journal = Journal::new();
    let mut run = journal.cold();
    run.turn(NOW);
    let op = step(&mut run, "charge").unwrap();
    begin(&mut run, op);
    journal.commit(&mut run);
    for attempt in 2..5 {
        let mut again = journal.cold();
        again.turn(NOW);
        let op = step(&mut again, "charge").unwrap();
        assert_eq!(again.turn(NOW), Turn::Idle);
        let start = begin(&mut again, op);
        assert_eq!((start.attempt, start.failures), (attempt, 0));
        journal.commit(&mut again);
    }
}

#[test]
fn an_attempt_of_another_node_counts_for_an_execution_that_stayed_in_memory() {
    let mut journal = Journal::new();
    let mut stayed = journal.cold();
    stayed.turn(NOW);
    let op = step(&mut stayed, "charge").unwrap();
    journal.commit(&mut stayed);

    let mut other = journal.cold();
    other.turn(NOW);
    let its = step(&mut other, "charge").unwrap();
    assert_eq!(other.turn(NOW), Turn::Idle);
    let start = begin(&mut other, its);
    let error = Failure::new(ErrorCode::StepFailed, "no");
    other.fail_attempt(its, &start, error, FailureClass::Retryable, NOW);
    journal.commit(&mut other);

    let due = NOW.after(Duration::from_secs(1));
    stayed.extend(journal.0.clone());
    let timer = fired(TimerPurpose::Retry, "charge:0", due);
    journal.append(&mut stayed, vec![timer]);
    assert_eq!(stayed.turn(NOW), Turn::Idle);
    let start = begin(&mut stayed, op);
    assert_eq!((start.attempt, start.failures), (3, 1));
    assert_eq!(journal.commit(&mut stayed), ["step_started"]);
}

// B42
#[test]
fn a_failed_attempt_waits_for_its_timer_and_counts() {
    let mut journal = Journal::new();
    let mut run = journal.cold();
    run.turn(NOW);
    let op = step(&mut run, "charge").unwrap();
    let start = begin(&mut run, op);
    let error = Failure::new(ErrorCode::StepFailed, "no");
    run.fail_attempt(op, &start, error, FailureClass::Retryable, NOW);
    journal.commit(&mut run);
    assert_eq!(run.turn(NOW), Turn::Idle);
    assert_eq!(run.begin_attempt(op, NOW), None, "it waits");
    assert_eq!(run.resting_status(), RunStatus::Retrying);
    let due = NOW.after(Duration::from_secs(1));
    journal.append(&mut run, vec![fired(TimerPurpose::Retry, "charge:0", due)]);
    assert_eq!(run.turn(NOW), Turn::Idle);
    assert_eq!(run.startable(), [op]);
    let start = begin(&mut run, op);
    assert_eq!((start.attempt, start.failures), (2, 1));
}

// B16
#[test]
fn options_recorded_with_the_first_attempt_stay() {
    let mut journal = Journal::new();
    let mut run = journal.cold();
    run.turn(NOW);
    let strict = StepOptions {
        retry: RetryPolicy::NONE,
        ..StepOptions::default()
    };
    run.call_step(&Scope::ROOT, &name("charge"), strict, here());
    journal.commit(&mut run);
    let mut changed = journal.cold();
    changed.turn(NOW);
    let op = step(&mut changed, "charge").unwrap();
    assert_eq!(changed.turn(NOW), Turn::Idle);
    assert_eq!(begin(&mut changed, op).options, strict);
}

#[test]
fn a_fenced_step_begins_only_after_its_start_is_durable() {
    let fenced = StepOptions {
        fenced: true,
        ..StepOptions::default()
    };
    let mut journal = Journal::new();
    let mut run = journal.cold();
    run.turn(NOW);
    let op = run
        .call_step(&Scope::ROOT, &name("charge"), fenced, here())
        .unwrap();
    for attempt in 1..3 {
        assert_eq!(run.begin_attempt(op, NOW), None);
        let (bodies, strict) = run.take_outgoing();
        let bodies = bodies.collect();
        assert!(strict, "the start is written at once");
        journal.append(&mut run, bodies);
        assert_eq!(run.turn(NOW), Turn::Idle);
        let start = begin(&mut run, op);
        assert_eq!(start.attempt, attempt);
        let error = Failure::new(ErrorCode::StepFailed, "no");
        run.fail_attempt(
            op,
            &start,
            error,
            FailureClass::RetryAfter(Duration::ZERO),
            NOW,
        );
        journal.commit(&mut run);
        journal.append(&mut run, vec![fired(TimerPurpose::Retry, "charge:0", NOW)]);
        assert_eq!(run.turn(NOW), Turn::Idle);
    }
}

#[test]
fn a_fenced_step_whose_start_got_durable_while_the_run_paused_begins_when_it_goes_on() {
    let fenced = StepOptions {
        fenced: true,
        ..StepOptions::default()
    };
    let mut journal = Journal::new();
    let mut run = journal.cold();
    run.turn(NOW);
    let op = run
        .call_step(&Scope::ROOT, &name("charge"), fenced, here())
        .unwrap();
    let asked = PauseRequested {
        by: None,
        reason: None,
    };
    journal.append(&mut run, vec![asked.into()]);
    assert_eq!(run.turn(NOW), Turn::Pausing);
    assert_eq!(run.begin_attempt(op, NOW), None);
    // What was said is written along with the pause.
    journal.commit(&mut run);
    journal.append(&mut run, vec![Paused { reason: None }.into()]);
    let resumed = ResumeRequested { by: None };
    journal.append(&mut run, vec![resumed.into()]);
    assert_eq!(run.turn(NOW), Turn::Idle);
    assert_eq!(begin(&mut run, op).attempt, 1);
    assert_eq!(run.take_outgoing().0.count(), 0);
}

#[test]
fn an_attempt_that_others_began_meanwhile_is_not_begun_again() {
    let mut journal = Journal::new();
    let mut run = journal.cold();
    run.turn(NOW);
    let op = step(&mut run, "charge").unwrap();
    journal.commit(&mut run);
    let begun = StepStarted {
        location: "charge:0".parse().unwrap(),
        attempt: 2,
        options: None,
    };
    journal.append(&mut run, vec![begun.into()]);
    assert_eq!(run.turn(NOW), Turn::Idle);
    assert_eq!(begin(&mut run, op).attempt, 3);
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

// B180
#[test]
fn a_gate_gives_new_runs_the_latest_version_and_old_ones_the_first() {
    let mut journal = Journal::new();
    let mut run = journal.cold();
    run.turn(NOW);
    assert_eq!(run.version(&Scope::ROOT, &name("tax"), 2, here()), 2);
    assert_eq!(
        run.version(&Scope::ROOT, &name("tax"), 2, here()),
        2,
        "once decided, it stays"
    );
    assert_eq!(journal.commit(&mut run), ["version_chosen"]);
    let mut pinned = journal.cold();
    pinned.turn(NOW);
    assert_eq!(pinned.version(&Scope::ROOT, &name("tax"), 3, here()), 2);

    let mut journal = Journal::new();
    let mut old = journal.cold();
    old.turn(NOW);
    step(&mut old, "charge");
    journal.commit(&mut old);
    let mut gated = journal.cold();
    gated.turn(NOW);
    assert_eq!(gated.version(&Scope::ROOT, &name("tax"), 2, here()), 1);
    assert!(step(&mut gated, "charge").is_some());
    assert_eq!(gated.turn(NOW), Turn::Idle);
    assert!(!gated.has_outgoing());
}

#[test]
fn code_that_is_older_than_the_run_diverges_at_the_gate() {
    let mut journal = Journal::new();
    let mut run = journal.cold();
    run.turn(NOW);
    run.version(&Scope::ROOT, &name("tax"), 3, here());
    journal.commit(&mut run);
    let mut older = journal.cold();
    older.turn(NOW);
    older.version(&Scope::ROOT, &name("tax"), 2, here());
    assert!(diverged(&mut older).contains("follows version 3, this code knows up to 2"));
}

#[test]
fn a_gate_that_an_earlier_pass_went_by_stays_so_whatever_else_is_forgotten() {
    let mut journal = Journal::new();
    let mut run = journal.cold();
    run.turn(NOW);
    step(&mut run, "charge");
    journal.commit(&mut run);
    let retried = ExecutionRetried {
        attempt: 1,
        error: Failure::new(ErrorCode::WorkflowFailed, "no"),
        retry_at: NOW,
    };
    let fired = TimerFired {
        purpose: TimerPurpose::ExecutionRetry,
        location: None,
        due: NOW,
    };
    journal.append(&mut run, vec![retried.into(), fired.into()]);
    let mut again = journal.cold();
    assert_eq!(again.turn(NOW), Turn::Start);
    assert_eq!(again.version(&Scope::ROOT, &name("tax"), 2, here()), 1);
    assert_eq!(journal.commit(&mut again), ["version_chosen"]);
    // A replay that knows nothing of the earlier pass any more, as if it had stood in an iteration that is dropped.
    let mut forgetful = Journal::of(journal.0.iter().skip(2).map(|e| e.record.body.clone())).cold();
    assert_eq!(forgetful.turn(NOW), Turn::Start);
    assert_eq!(forgetful.version(&Scope::ROOT, &name("tax"), 2, here()), 1);
}

// B40
#[test]
fn a_new_pass_takes_over_results_and_does_the_rest_again() {
    let mut journal = Journal::of([event("go", "1")]);
    let mut run = journal.cold();
    run.turn(NOW);
    let op = step(&mut run, "charge").unwrap();
    run.turn(NOW);
    let start = begin(&mut run, op);
    run.complete_attempt(op, &start, json("7"));
    journal.commit(&mut run);
    run.turn(NOW);
    wait(&mut run, "go");
    run.turn(NOW);
    step(&mut run, "ship");
    journal.commit(&mut run);
    let retried = ExecutionRetried {
        attempt: 1,
        error: Failure::new(ErrorCode::WorkflowFailed, "no"),
        retry_at: NOW,
    };
    journal.append(&mut run, vec![retried.into()]);

    let mut again = journal.cold();
    assert_eq!(again.turn(NOW), Turn::Idle, "it waits for its timer");
    assert_eq!(again.resting_status(), RunStatus::Retrying);
    let timer = TimerFired {
        purpose: TimerPurpose::ExecutionRetry,
        location: None,
        due: NOW,
    };
    journal.append(&mut again, vec![timer.into()]);
    assert_eq!(again.turn(NOW), Turn::Start);
    assert_eq!(again.pass(), 2);
    let charge = step(&mut again, "charge").unwrap();
    assert_eq!(
        again.turn(NOW),
        Turn::Resolved(charge, Resolution::Completed(json("7")))
    );
    let go = wait(&mut again, "go");
    assert!(
        matches!(again.turn(NOW), Turn::Resolved(op, Resolution::Events(events)) if op == go && events.len() == 1)
    );
    let ship = step(&mut again, "ship").unwrap();
    assert_eq!(again.turn(NOW), Turn::Idle);
    assert_eq!(begin(&mut again, ship).attempt, 2);
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
    run.note(&Scope::ROOT, "hello".to_owned(), here());
    run.turn(NOW);
    journal.commit(&mut run);
    let mut cold = journal.cold();
    cold.turn(NOW);
    wait(&mut cold, "go");
    cold.note(&Scope::ROOT, "hello".to_owned(), here());
    assert!(matches!(cold.turn(NOW), Turn::Resolved(..)));
    assert_eq!(cold.turn(NOW), Turn::Idle);
    assert!(!cold.has_outgoing());
}

#[test]
fn a_dropped_step_is_recorded_as_abandoned_and_a_late_result_is_ignored() {
    let mut journal = Journal::new();
    let mut run = journal.cold();
    run.turn(NOW);
    let op = step(&mut run, "slow").unwrap();
    let start = begin(&mut run, op);
    run.drop_operation(op);
    run.complete_attempt(op, &start, json("1"));
    assert_eq!(journal.commit(&mut run), ["step_started", "step_abandoned"]);
    assert_eq!(run.turn(NOW), Turn::Idle);
}

#[test]
fn an_execution_that_is_thrown_away_abandons_nothing() {
    let journal = Journal::new();
    let mut run = journal.cold();
    run.turn(NOW);
    let op = step(&mut run, "slow").unwrap();
    drop(run.take_outgoing());
    run.detach();
    run.drop_operation(op);
    assert!(!run.has_outgoing());
}

#[test]
fn a_run_that_is_over_stays_over() {
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
fn a_fatal_failure_reaches_the_code_with_its_reason() {
    let mut journal = Journal::new();
    let mut run = journal.cold();
    run.turn(NOW);
    let op = step(&mut run, "charge").unwrap();
    let start = begin(&mut run, op);
    run.fail_attempt(
        op,
        &start,
        Failure::new(ErrorCode::StepFailed, "no"),
        FailureClass::Fatal,
        NOW,
    );
    journal.commit(&mut run);
    match run.turn(NOW) {
        Turn::Resolved(_, Resolution::Failed(failure)) => {
            assert_eq!(failure.outcome, FailureOutcome::Fatal);
            assert_eq!(failure.error.attempt, 1);
        }
        other => panic!("{other:?}"),
    }
}
