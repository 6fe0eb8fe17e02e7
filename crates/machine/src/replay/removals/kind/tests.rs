//! The kinds of operations that can be removed cover everything that code writes.

use everstep_samples::one_of_each;

use super::RemovedKind::{self, *};

const KINDS: [RemovedKind; 17] = [
    Step, Sleep, Event, Rpc, Join, Race, Switch, Loop, Child, Send, Reply, Note, Row, Emit,
    Attribute, Version, NoReturn,
];

/// Records of operations that another record began, and the mark of a removed operation.
const LATER: [&str; 8] = [
    "step_abandoned",
    "wait_completed",
    "wait_timed_out",
    "rpc_completed",
    "branch_completed",
    "branch_failed",
    "race_won",
    "removed",
];

// B179
#[test]
fn every_operation_with_a_scripted_record_can_be_removed() {
    for record in one_of_each() {
        let name = record.body.type_name();
        let is_known = KINDS.iter().any(|kind| kind.type_name() == name);
        assert!(
            is_known || LATER.contains(&name) || !record.body.is_scripted(),
            "{name} has no kind of removed operation"
        );
    }
}
