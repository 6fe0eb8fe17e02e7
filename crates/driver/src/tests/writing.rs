//! What is written, and when.

use super::*;

#[test]
fn a_result_is_written_at_once_and_resolves_when_it_is_durable() {
    let mut shell = Shell::of_new_run();
    assert_eq!(shell.next(), Action::Start(json("5")));
    let op = shell.call_step("charge");
    shell.complete(op, "7");
    shell.driver.settled();
    let expected = (vec!["step_started", "step_completed"], Then::Continue);
    assert_eq!(shell.written(), expected);
    assert_eq!(shell.next(), Action::Wait, "one append is in flight");
    shell.commit();
    let resolution = Resolution::Completed(json("7"));
    assert_eq!(shell.next(), Action::Resolve(op, resolution));
}

#[test]
fn a_step_is_offered_once() {
    let mut shell = Shell::of_new_run();
    shell.next();
    let op = shell.call_step("charge");
    shell.driver.settled();
    assert_eq!(shell.next(), Action::Begin);
    assert_eq!(shell.driver.startable(), [op]);
    shell.driver.settled();
    assert_eq!(shell.next(), Action::Flush, "its call is written later");
    assert_eq!(shell.next(), Action::Wait);
    shell.driver.flush();
    assert_eq!(shell.written(), (vec!["step_started"], Then::Continue));
}

#[test]
fn code_that_woke_itself_is_polled_before_a_decision() {
    let mut shell = Shell::of_new_run();
    shell.next();
    shell.wait_for_go();
    shell.driver.settled();
    assert_eq!(shell.driver.next(NOW, true), Action::Poll);
    shell.driver.settled();
    let suspended = Then::Suspend(RunStatus::Waiting);
    assert_eq!(shell.written(), (vec!["waiting"], suspended));
}

#[test]
fn a_flush_timer_of_an_earlier_append_changes_nothing() {
    let mut shell = Shell::of_new_run();
    shell.next();
    let op = shell.call_step("charge");
    shell.driver.settled();
    shell.next();
    assert_eq!(shell.next(), Action::Flush);
    shell.complete(op, "7");
    shell.driver.settled();
    shell.written();
    shell.driver.flush();
    shell.commit();
    assert!(matches!(shell.next(), Action::Resolve(..)));
}

#[test]
fn a_refused_suspension_is_decided_again_with_the_new_records() {
    let mut shell = Shell::of_new_run();
    shell.next();
    let op = shell.wait_for_go();
    shell.driver.settled();
    shell.written();
    shell.refuse(entries(1, [go()]));
    match shell.next() {
        Action::Resolve(resolved, Resolution::Events(events)) => {
            assert_eq!((resolved, events.len()), (op, 1));
        }
        other => panic!("{other:?}"),
    }
    let returned = Returned::Completed(json("1"));
    shell.driver.returned(returned);
    let expected = vec!["waiting", "wait_completed", "completed"];
    assert_eq!(shell.written(), (expected, Then::End(RunStatus::Completed)));
}

#[test]
fn a_cautious_activation_writes_the_start_of_an_attempt_before_it_begins() {
    let mut shell = Shell::new(entries(0, [created()]), |setup| setup.cautious = true);
    shell.next();
    let op = shell.call_step("charge");
    let replay = &mut shell.driver.live().replay;
    assert_eq!(replay.begin_attempt(op), None);
    shell.driver.settled();
    assert_eq!(shell.written(), (vec!["step_started"], Then::Continue));
    shell.commit();
    assert_eq!(shell.next(), Action::Begin);
    shell.complete(op, "7");
    shell.driver.settled();
    shell.written();
    shell.commit();
    shell.next();
    let next = shell.call_step("next");
    let replay = &mut shell.driver.live().replay;
    assert!(replay.begin_attempt(next).is_some(), "it made progress");
}
