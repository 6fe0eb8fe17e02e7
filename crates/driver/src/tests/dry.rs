//! Dry executions, driven by the same messages as any other.

use everstep_machine::{Advance, IterationEnd, LoopCall};

use super::*;

fn developing() -> Shell {
    Shell::new(entries(0, [created()]), |setup| setup.development = true)
}

#[test]
fn a_second_look_repeats_the_code_before_the_run_is_suspended() {
    let mut shell = developing();
    shell.next();
    shell.wait_for_go();
    shell.driver.settled();
    assert_eq!(shell.next(), Action::Start(json("5")));
    assert_eq!(shell.driver.current().1, ExecutionKind::Dry);
    shell.wait_for_go();
    shell.driver.settled();
    assert_eq!(shell.next(), Action::Drop(ExecutionKind::Dry));
    let suspended = Then::Suspend(RunStatus::Waiting);
    assert_eq!(shell.written(), (vec!["waiting"], suspended));
}

#[test]
fn code_that_differs_in_the_second_look_is_reported_and_parked() {
    let mut shell = developing();
    shell.next();
    shell.wait_for_go();
    shell.driver.settled();
    shell.next();
    shell
        .driver
        .returned(Returned::Completed(json("\"no need to wait\"")));
    assert_eq!(shell.next(), Action::Drop(ExecutionKind::Dry));
    assert!(matches!(shell.next(), Action::Report(_)));
    let expected = (vec!["waiting", "diverged"], Then::Park(RunStatus::Diverged));
    assert_eq!(shell.written(), expected);
}

#[test]
fn records_that_arrive_during_a_second_look_end_it() {
    let mut shell = developing();
    shell.next();
    let op = shell.wait_for_go();
    shell.driver.settled();
    assert_eq!(shell.next(), Action::Start(json("5")));
    shell.driver.receive(Message::Grew);
    assert!(matches!(shell.next(), Action::Read(ReadFor::Fold, _)));
    shell.driver.read(ReadFor::Fold, entries(1, [go()]));
    assert_eq!(shell.next(), Action::Drop(ExecutionKind::Dry));
    assert!(matches!(shell.next(), Action::Resolve(resolved, _) if resolved == op));
    assert_eq!(shell.driver.current().1, ExecutionKind::Live);
}

#[test]
fn a_check_reports_the_result_of_the_code() {
    let mut shell = Shell::of_new_run();
    shell.driver = Driver::check(setup(), shell.journal.clone());
    assert_eq!(shell.next(), Action::Start(json("5")));
    let returned = Returned::Completed(json("7"));
    shell.driver.returned(returned.clone());
    match shell.next() {
        Action::Checked(verified) => {
            let verified = verified.unwrap();
            assert_eq!(verified.returned, Some(returned));
            assert_eq!(verified.unrecorded, None);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(shell.next(), Action::Exit);
}

/// Executes two iterations of a loop without steps.
fn iterate_twice(shell: &mut Shell, keep: u64) -> Location {
    let replay = &mut shell.driver.current().0.replay;
    let site = CallSite::Shell(0);
    let (location, _) = replay
        .call(&Scope::ROOT, &name("each"), LoopCall, site)
        .unwrap();
    for iteration in 0..2 {
        advance(shell, &location, iteration, keep);
    }
    location
}

fn advance(shell: &mut Shell, location: &Location, iteration: u64, keep: u64) {
    let replay = &mut shell.driver.current().0.replay;
    let end = IterationEnd {
        location,
        iteration,
        done: false,
        keep,
    };
    let advance = replay.advance_loop(end, json("1"), CallSite::Shell(0));
    assert!(matches!(advance, Some(Advance::Iteration(..))));
}

#[test]
fn a_dry_execution_forgets_the_undos_of_iterations_that_it_drops() {
    let mut shell = Shell::of_new_run();
    shell.next();
    iterate_twice(&mut shell, 100);
    shell.wait_for_go();
    shell.driver.settled();
    shell.written();
    shell.commit();
    let next = shell.journal.len() as u64;
    shell.journal.extend(entries(next, [go()]));

    shell.driver = Driver::check(setup(), shell.journal.clone());
    shell.next();
    let location = iterate_twice(&mut shell, 100);
    let gone: Location = "each/~1/a:0".parse().unwrap();
    let host = &mut shell.driver.current().0.host;
    host.0.insert(gone.clone());
    shell.wait_for_go();
    shell.driver.settled();
    assert!(matches!(shell.next(), Action::Resolve(..)));
    assert!(shell.driver.current().0.host.has_undo(&gone));
    advance(&mut shell, &location, 2, 0);
    shell.driver.settled();
    assert!(!shell.driver.current().0.host.has_undo(&gone));
}
