//! How an activation ends.

use everstep_model::record::{ChildFinished, ChildOutcome, DeadlinePassed};

use super::*;

fn suspended() -> Shell {
    let mut shell = Shell::of_new_run();
    shell.next();
    shell.wait_for_go();
    shell.driver.settled();
    shell.written();
    shell.commit();
    assert_eq!(shell.next(), Action::Wait, "it stays in memory");
    shell
}

#[test]
fn a_suspended_activation_is_evicted() {
    let mut shell = suspended();
    shell.driver.receive(Message::Evict);
    assert_eq!(shell.next(), Action::Exit);
}

#[test]
fn an_eviction_before_the_answer_to_the_suspension_is_not_lost() {
    let mut shell = Shell::of_new_run();
    shell.next();
    shell.wait_for_go();
    shell.driver.settled();
    shell.written();
    shell.driver.receive(Message::Evict);
    assert_eq!(shell.next(), Action::Wait);
    shell.commit();
    assert_eq!(shell.next(), Action::Exit);
}

#[test]
fn a_stopped_activation_begins_no_step_and_releases_the_run() {
    let mut shell = Shell::of_new_run();
    shell.next();
    shell.call_step("charge");
    shell.driver.settled();
    shell.driver.receive(Message::Stop);
    assert_eq!(shell.written(), (vec![], Then::Release));
    shell.commit();
    assert_eq!(shell.next(), Action::Exit);
}

// B704
#[test]
fn a_stopped_activation_writes_results_but_not_starts_of_steps_that_do_not_begin() {
    let mut shell = Shell::of_new_run();
    shell.next();
    let running = shell.call_step("running");
    let replay = &mut shell.driver.live().replay;
    let start = replay.begin_attempt(running).unwrap();
    shell.driver.settled();
    shell.driver.receive(Message::Stop);
    shell.call_step("next");
    shell.driver.settled();
    assert_eq!(shell.next(), Action::Wait, "a step is in flight");
    let replay = &mut shell.driver.live().replay;
    replay.complete_attempt(running, &start, json("7"));
    shell.driver.settled();
    let expected = (vec!["step_started", "step_completed"], Then::Continue);
    assert_eq!(shell.written(), expected);
    shell.commit();
    match shell.next() {
        Action::Resolve(op, _) => assert_eq!(op, running),
        other => panic!("{other:?}"),
    }
    shell.driver.settled();
    assert_eq!(shell.written(), (vec![], Then::Release));
}

#[test]
fn a_lost_activation_exits_and_ignores_later_messages() {
    let mut shell = suspended();
    shell.driver.receive(Message::Lost);
    shell.driver.receive(Message::Resumed);
    assert!(shell.driver.is_over());
    assert_eq!(shell.next(), Action::Exit);
}

#[test]
fn an_activation_that_is_over_stays_over() {
    let mut shell = Shell::of_new_run();
    shell.driver.receive(Message::Grew);
    shell.next();
    shell.driver.receive(Message::Lost);
    shell.driver.read(ReadFor::Fold, entries(1, [go()]));
    shell.driver.read_failed(ReadFor::Undos);
    shell.driver.settled();
    assert!(shell.driver.is_over());
    assert_eq!(shell.next(), Action::Exit);
}

/// Creates a run whose only step has completed. The append of that is in flight.
fn appending() -> Shell {
    let mut shell = Shell::of_new_run();
    shell.next();
    let op = shell.call_step("charge");
    shell.complete(op, "7");
    shell.driver.settled();
    shell.written();
    shell
}

#[test]
fn a_run_that_halts_while_an_append_is_in_flight_ends_after_its_answer() {
    let mut shell = appending();
    // The code is polled again and uses something that is not durable.
    let replay = &mut shell.driver.live().replay;
    replay.halt_not_durable("a timer".to_owned());
    shell.driver.settled();
    assert_eq!(shell.next(), Action::Wait, "an append is in flight");
    shell.commit();
    let expected = (vec!["failed"], Then::End(RunStatus::Failed));
    assert_eq!(shell.written(), expected);
}

fn refused() -> Message {
    let reason = Failure::new(everstep_model::ErrorCode::Forbidden, "not this workflow");
    Message::Refused(Box::new(reason))
}

#[test]
fn a_run_whose_append_is_refused_is_parked_and_says_why() {
    let mut shell = Shell::of_new_run();
    shell.next();
    let (charge, ship) = (shell.call_step("charge"), shell.call_step("ship"));
    let replay = &mut shell.driver.live().replay;
    let start = replay.begin_attempt(ship).unwrap();
    shell.complete(charge, "7");
    shell.driver.settled();
    shell.written();
    // Unsent, because an append is in flight.
    let replay = &mut shell.driver.live().replay;
    replay.complete_attempt(ship, &start, json("8"));
    shell.driver.settled();
    shell.driver.receive(refused());
    assert_eq!(shell.next(), Action::Drop(ExecutionKind::Live));
    let Action::Append(append) = shell.next() else {
        panic!("nothing is written");
    };
    assert_eq!(append.then, Then::Park(RunStatus::Diverged));
    let [record] = append.records.as_slice() else {
        panic!("{:?}", append.records);
    };
    match &record.body {
        Body::Diverged(diverged) => assert_eq!(diverged.error.code, "forbidden"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_refusal_takes_precedence_over_a_halt_that_is_not_written() {
    let mut shell = appending();
    let replay = &mut shell.driver.live().replay;
    replay.halt_not_durable("a timer".to_owned());
    shell.driver.settled();
    assert_eq!(shell.next(), Action::Wait, "an append is in flight");
    shell.driver.receive(refused());
    shell.next();
    let expected = (vec!["diverged"], Then::Park(RunStatus::Diverged));
    assert_eq!(shell.written(), expected);
}

#[test]
fn an_activation_whose_parking_is_refused_too_is_over() {
    let mut shell = appending();
    shell.driver.receive(refused());
    shell.next();
    shell.written();
    shell.driver.receive(refused());
    assert_eq!(shell.next(), Action::Exit);
}

#[test]
fn equal_call_sites_are_registered_once() {
    let mut shell = Shell::of_new_run();
    let sites = ["pay.ts:12", "pay.ts:13", "pay.ts:12"];
    let added = sites.map(|site| shell.driver.add_site(site.to_owned()));
    assert_eq!(added, [0, 1, 0]);
}

#[test]
fn a_function_that_may_be_retried_begins_again_from_the_journal() {
    let mut shell = Shell::new(entries(0, [created()]), |setup| {
        setup.execution_retries = Some(1);
    });
    shell.next();
    shell.driver.returned(fails("no"));
    let expected = (vec!["execution_retried"], Then::GoOnAs(RunStatus::Running));
    assert_eq!(shell.written(), expected);
    shell.commit();
    let read_all = Action::Read(ReadFor::Fold, RecordNumber(0));
    assert_eq!(shell.next(), read_all);
    assert_eq!(shell.next(), Action::Wait);
    shell.driver.read(ReadFor::Fold, shell.journal.clone());
    let expected = (vec![], Then::Suspend(RunStatus::Retrying));
    assert_eq!(shell.written(), expected);
}

#[test]
fn a_cancelled_run_is_signalled_once_and_ends_as_cancelled() {
    let mut shell = suspended();
    shell.driver.receive(Message::Resumed);
    let from = RecordNumber(2);
    assert_eq!(shell.next(), Action::Read(ReadFor::Fold, from));
    shell.driver.read(ReadFor::Fold, entries(2, [cancel()]));
    match shell.next() {
        Action::Resolve(_, Resolution::Refused(_)) => {}
        other => panic!("{other:?}"),
    }
    shell.driver.returned(fails("cancelled"));
    assert_eq!(shell.next(), Action::Cancel);
    let end = Then::End(RunStatus::Cancelled);
    assert_eq!(shell.written(), (vec!["cancelled"], end));
}

#[test]
fn code_that_waits_for_nothing_durable_fails() {
    let mut shell = Shell::of_new_run();
    shell.next();
    shell.driver.settled();
    match shell.next() {
        Action::Append(append) => {
            assert_eq!(append.then, Then::End(RunStatus::Failed));
            let Body::Failed(failed) = &append.records[0].body else {
                panic!("{append:?}")
            };
            assert!(failed.error.message.contains("not durable"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn code_that_diverges_is_parked_with_the_call_site_of_its_shell() {
    let mut shell = appending();
    shell.commit();

    let mut changed = Shell::new(shell.journal.clone(), |_| {});
    assert_eq!(changed.driver.add_site("pay.ts:12".to_owned()), 0);
    changed.next();
    let replay = &mut changed.driver.live().replay;
    let site = CallSite::Shell(0);
    let options = StepOptions::default();
    replay.call(&Scope::ROOT, &name("pay"), options, site);
    changed.driver.settled();
    match changed.next() {
        Action::Append(append) => {
            assert_eq!(append.then, Then::Park(RunStatus::Diverged));
            let Body::Diverged(diverged) = &append.records[0].body else {
                panic!("{append:?}")
            };
            assert!(diverged.error.message.contains("pay.ts:12"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_child_that_completes_as_the_deadline_passes_is_undone() {
    let mut shell = Shell::of_new_run();
    shell.next();
    shell.call_child();
    shell.driver.settled();
    assert_eq!(shell.written().0, ["child_started"]);
    shell.commit();
    let started = shell.journal.clone();
    let run = match &started[1].record.body {
        Body::ChildStarted(child) => child.run.clone(),
        other => panic!("{other:?}"),
    };
    let deadline = DeadlinePassed { deadline: NOW };
    let passed = entries(2, [deadline.into()]);
    let mut shell = Shell::new([started, passed].concat(), |_| {});
    shell.next();
    shell.call_child();
    shell.driver.settled();
    assert_eq!(shell.next(), Action::Drop(ExecutionKind::Live));
    let fails = (vec!["failed"], Then::End(RunStatus::Failed));
    assert_eq!(shell.written(), fails);
    let finished = ChildFinished {
        location: Location::root(name("ship"), 0),
        run: Some(run),
        outcome: ChildOutcome::Completed(json("1")),
    };
    shell.refuse(entries(3, [finished.into()]));
    let undoes = (vec!["undo_started"], Then::GoOnAs(RunStatus::RollingBack));
    assert_eq!(shell.written(), undoes);
}
