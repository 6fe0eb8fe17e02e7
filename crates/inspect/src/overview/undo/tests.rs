//! Tests of the progress of rollbacks.

use everstep_model::record::TimerPurpose;

use super::*;
use crate::tests::*;

fn undone(run: &RunId) -> UndoCompleted {
    UndoCompleted {
        location: at("ship:0"),
        attempt: 1,
        run: Some(run.clone()),
    }
}

fn retried(run: &RunId, retry_at: u64) -> UndoFailed {
    UndoFailed {
        location: at("ship:0"),
        attempt: 1,
        error: failure("refused"),
        retry_at: Some(time(retry_at)),
        run: Some(run.clone()),
    }
}

#[test]
fn undos_of_two_children_at_one_location_are_distinguished() {
    let [first, second] = ["ship-1", "ship-2"].map(|id| RunId::new(id).unwrap());
    let retries = |journal: &Journal| {
        let rollback = journal.overview().rollback;
        matches!(rollback, Some(RollbackView::Retrying { attempt: 1, .. }))
    };
    let children = two_children("ship:0");
    let waits = children.with(undone(&second)).with(retried(&first, 50));
    assert!(retries(&waits), "the other one is undone, not this");
    let timer = |due| fired(TimerPurpose::Undo, Some("ship:0"), time(due));
    assert!(retries(&waits.clone().with(timer(80))), "the other's timer");
    assert!(!retries(&waits.clone().with(timer(50))));
    assert!(!retries(&waits.with(retried(&second, 90))), "it is undone");
}

#[test]
fn an_undone_child_without_other_records_is_no_step() {
    let run = RunId::new("ship-1").unwrap();
    let journal = Journal::created().with(undone(&run));
    assert!(journal.overview().steps.is_empty());
    assert!(journal.with(retried(&run, 50)).overview().rollback == Some(RollbackView::Between));
}
