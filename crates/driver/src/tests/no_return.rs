//! Code that uses something that is not durable while a step is passing the point of no return.

use everstep_machine::{Access, StepStart};
use everstep_model::UndoMode;
use everstep_model::record::{ForcedFailure, StepCompleted, StepStarted};

use super::*;

fn hold() -> StepOptions {
    StepOptions {
        undo: UndoMode::Undo,
        ..StepOptions::default()
    }
}

fn play() -> StepOptions {
    StepOptions {
        no_return: true,
        ..StepOptions::default()
    }
}

fn started(step: &str, options: StepOptions) -> Body {
    StepStarted {
        location: Location::root(name(step), 0),
        attempt: 1,
        options: Some(options),
    }
    .into()
}

fn held() -> Body {
    StepCompleted {
        location: Location::root(name("hold"), 0),
        attempt: 1,
        started_at: NOW,
        result: json("1"),
        undo: None,
        sensitive: false,
        early: None,
        no_return: false,
    }
    .into()
}

fn not_durable() -> Body {
    ForcedFailure {
        location: None,
        error: Failure::new(everstep_model::ErrorCode::NotDurable, "a timer"),
        by: Some("everstep".to_owned()),
        so_far: None,
    }
    .into()
}

fn call(shell: &mut Shell, step: &str, options: StepOptions) -> Option<OpId> {
    let replay = &mut shell.driver.live().replay;
    replay.call(&Scope::ROOT, &name(step), options, CallSite::Shell(0))
}

/// Lets the code run to its point of no return, and begins an attempt of it.
fn begin_playing(shell: &mut Shell) -> (OpId, StepStart) {
    assert!(matches!(shell.next(), Action::Start(_)));
    call(shell, "hold", hold()).unwrap();
    shell.driver.settled();
    assert!(matches!(shell.next(), Action::Resolve(..)));
    let op = call(shell, "play", play()).unwrap();
    shell.driver.settled();
    assert_eq!(shell.next(), Action::Begin);
    // The start of the attempt is durable before its work begins.
    if shell.driver.live().replay.begin_attempt(op).is_none() {
        shell.driver.settled();
        assert_eq!(shell.written().0, ["step_started"]);
        shell.commit();
        assert_eq!(shell.next(), Action::Begin);
    }
    let begun = shell.driver.live().replay.begin_attempt(op);
    shell.driver.settled();
    (op, begun.unwrap())
}

/// A run that did something that can be undone, and that then reached the point of no return.
fn playing(requests: impl IntoIterator<Item = Body>) -> (Shell, OpId, StepStart) {
    let begun = [
        created(),
        started("hold", hold()),
        held(),
        started("play", play()),
    ];
    let journal = entries(0, begun.into_iter().chain(requests));
    let mut shell = Shell::new(journal, |_| {});
    let (op, start) = begin_playing(&mut shell);
    (shell, op, start)
}

/// Commits the failure, and lets the driver read the journal again.
fn restart(shell: &mut Shell) {
    shell.commit();
    while !matches!(shell.next(), Action::Read(..)) {}
    assert_eq!(shell.next(), Action::Wait);
    shell.driver.read(ReadFor::Fold, shell.journal.clone());
}

// B873
#[test]
fn code_that_is_not_durable_beside_a_point_of_no_return_fails_when_that_has_ended() {
    for requests in [vec![], vec![not_durable()], vec![cancel()]] {
        let is_forced = requests.contains(&not_durable());
        let (mut shell, op, start) = playing(requests);
        // A timer of the async runtime wakes the other branch, which calls a step.
        assert_eq!(shell.driver.next(NOW, true), Action::Poll);
        assert_eq!(call(&mut shell, "x", hold()), None);
        shell.driver.settled();
        assert_eq!(shell.next(), Action::Wait, "the step is in flight");
        let replay = &mut shell.driver.live().replay;
        replay.complete_attempt(op, &start, json("2"));
        shell.driver.settled();
        assert_eq!(shell.written().0, ["step_completed"]);
        shell.commit();
        if !is_forced {
            let failed = (vec!["forced_failure"], Then::GoOnAs(RunStatus::RollingBack));
            assert_eq!(shell.written(), failed);
            restart(&mut shell);
            assert!(matches!(shell.next(), Action::Start(_)));
            call(&mut shell, "hold", hold()).unwrap();
            shell.driver.settled();
            assert!(matches!(shell.next(), Action::Resolve(..)));
            call(&mut shell, "play", play()).unwrap();
            shell.driver.settled();
        }
        assert!(matches!(shell.next(), Action::Resolve(..)));
        shell.driver.settled();
        while !matches!(shell.next(), Action::Append(_)) {}
        let written = types(shell.appended.as_ref().unwrap());
        assert_eq!(written, ["undo_skipped"], "nothing was repeated");
    }
}

// B873
#[test]
fn code_that_drops_a_point_of_no_return_without_reason_in_the_journal_fails_once() {
    let (mut shell, op, _) = playing([]);
    let failed = (vec!["forced_failure"], Then::GoOnAs(RunStatus::RollingBack));
    let ended = (vec!["failed"], Then::End(RunStatus::Failed));
    for (op, expected) in [(Some(op), failed), (None, ended)] {
        let op = op.unwrap_or_else(|| begin_playing(&mut shell).0);
        assert_eq!(shell.driver.next(NOW, true), Action::Poll);
        shell.driver.live().replay.drop_operation(op);
        shell.driver.settled();
        assert_eq!(shell.written(), expected);
        if expected.1 != Then::End(RunStatus::Failed) {
            restart(&mut shell);
        }
    }
}

#[test]
fn code_that_drops_a_step_without_reason_in_the_journal_fails_and_is_rolled_back() {
    let journal = entries(0, [created(), started("hold", hold()), held()]);
    let mut shell = Shell::new(journal, |_| {});
    shell.next();
    call(&mut shell, "hold", hold()).unwrap();
    shell.driver.settled();
    shell.next();
    let op = call(&mut shell, "s", StepOptions::default()).unwrap();
    shell.driver.settled();
    assert_eq!(shell.next(), Action::Begin);
    shell.driver.live().replay.set_access(Access::Forbidden);
    shell.driver.live().replay.drop_operation(op);
    shell.driver.settled();
    let failed = vec!["step_started", "forced_failure"];
    assert_eq!(
        shell.written().0,
        failed,
        "a replay would not drop it there"
    );
}
