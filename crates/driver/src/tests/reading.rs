//! Records that others write.

use everstep_model::record::ExecutionRetried;

use super::*;

#[test]
fn hints_during_a_read_lead_to_one_further_read() {
    let mut shell = Shell::of_new_run();
    shell.next();
    shell.wait_for_go();
    shell.driver.settled();
    shell.written();
    shell.commit();
    for _ in 0..3 {
        shell.driver.receive(Message::Grew);
    }
    let from = RecordNumber(2);
    assert_eq!(shell.next(), Action::Read(ReadFor::Fold, from));
    assert_eq!(shell.next(), Action::Wait);
    shell.driver.read(ReadFor::Fold, entries(2, [go()]));
    let from = RecordNumber(3);
    assert_eq!(shell.next(), Action::Read(ReadFor::Fold, from));
    shell.driver.read(ReadFor::Fold, vec![]);
    assert_eq!(shell.next(), Action::Wait, "the run is suspended");
}

#[test]
fn a_resumed_run_continues_when_everything_is_read() {
    let mut shell = Shell::of_new_run();
    shell.next();
    let op = shell.wait_for_go();
    shell.driver.settled();
    shell.written();
    shell.commit();
    shell.driver.receive(Message::Resumed);
    assert!(matches!(shell.next(), Action::Read(ReadFor::Fold, _)));
    assert_eq!(shell.next(), Action::Wait);
    shell.driver.read(ReadFor::Fold, entries(2, [go()]));
    assert!(matches!(shell.next(), Action::Resolve(resolved, _) if resolved == op));
}

#[test]
fn a_pass_that_another_node_began_restarts_the_execution() {
    let mut shell = Shell::of_new_run();
    shell.next();
    shell.call_step("charge");
    shell.driver.settled();
    shell.driver.receive(Message::Grew);
    assert!(matches!(shell.next(), Action::Read(ReadFor::Fold, _)));
    let retried = ExecutionRetried {
        attempt: 1,
        error: Failure::new(everstep_model::ErrorCode::WorkflowFailed, "no"),
        retry_at: NOW,
    };
    shell
        .driver
        .read(ReadFor::Fold, entries(1, [retried.into()]));
    assert_eq!(shell.next(), Action::Drop(ExecutionKind::Live));
    let read_all = Action::Read(ReadFor::Fold, RecordNumber(0));
    assert_eq!(shell.next(), read_all);
}

#[test]
fn a_journal_that_cannot_be_read_ends_the_activation() {
    let mut shell = Shell::of_new_run();
    shell.driver.receive(Message::Grew);
    shell.next();
    shell.driver.read_failed(ReadFor::Fold);
    assert_eq!(shell.next(), Action::Exit);
}
