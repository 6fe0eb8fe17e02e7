//! Dry executions, driven by the same messages as any other.

use super::*;

fn developing() -> Shell {
    Shell::new(entries(0, [created()]), |setup| setup.development = true)
}

#[test]
fn a_second_look_repeats_the_code_before_the_run_rests() {
    let mut shell = developing();
    shell.next();
    shell.wait_for_go();
    shell.driver.settled();
    assert_eq!(shell.next(), Action::Start(json("5")));
    assert_eq!(shell.driver.current().1, Code::Dry);
    shell.wait_for_go();
    shell.driver.settled();
    assert_eq!(shell.next(), Action::Drop(Code::Dry));
    let suspended = Then::Suspend(RunStatus::Waiting);
    assert_eq!(shell.written(), (vec!["waiting"], suspended));
}

#[test]
fn code_that_does_something_else_the_second_time_is_reported_and_parked() {
    let mut shell = developing();
    shell.next();
    shell.wait_for_go();
    shell.driver.settled();
    shell.next();
    shell
        .driver
        .returned(Returned::Completed(json("\"no need to wait\"")));
    assert_eq!(shell.next(), Action::Drop(Code::Dry));
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
    assert_eq!(shell.next(), Action::Drop(Code::Dry));
    assert!(matches!(shell.next(), Action::Resolve(resolved, _) if resolved == op));
    assert_eq!(shell.driver.current().1, Code::Live);
}

#[test]
fn a_check_reports_what_the_code_came_to() {
    let mut shell = Shell::of_new_run();
    let setup = Setup {
        run: RunId::new("r").unwrap(),
        generation: Generation::FIRST,
        execution_retries: None,
        development: false,
        cautious: false,
    };
    shell.driver = Driver::check(setup, shell.journal.clone());
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
