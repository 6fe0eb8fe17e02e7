//! The fields of each record kind that the full view shows. This is an allow-list: a field that is
//! added to a record stays internal until it is added here.

const SHOWN: &[(&str, &[&str])] = &[
    (
        "created",
        &[
            "workflow",
            "version",
            "input",
            "tags",
            "deadline",
            "executionRetries",
            "parent",
            "by",
            "forkedFrom",
        ],
    ),
    ("event", &["name", "payload", "dedupId", "by"]),
    ("rpc_answered", &["id", "rpcId", "answer", "by", "dedupId"]),
    ("timer_fired", &["purpose", "id", "due"]),
    ("child_finished", &["id", "outcome", "run"]),
    ("pause_requested", &["by", "reason"]),
    ("resume_requested", &["by"]),
    ("cancel_requested", &["by", "reason", "rollback"]),
    ("terminated", &["by", "reason", "abandoned"]),
    ("step_skipped", &["stepId", "result", "by", "soFar"]),
    ("step_edited", &["stepId", "result", "by", "soFar"]),
    ("forced_failure", &["id", "error", "by", "soFar"]),
    ("deadline_passed", &["deadline"]),
    ("data", &[]),
    ("step_started", &["stepId", "attempt", "options"]),
    (
        "step_completed",
        &["stepId", "attempt", "startedAt", "result"],
    ),
    (
        "step_failed",
        &[
            "stepId",
            "attempt",
            "startedAt",
            "error",
            "outcome",
            "retryAt",
            "retriesLeft",
        ],
    ),
    ("step_abandoned", &["stepId", "soFar"]),
    ("sleeping", &["id", "until"]),
    ("waiting", &["id", "names", "deadline", "batch"]),
    ("wait_completed", &["id", "events", "deadline"]),
    ("wait_timed_out", &["id"]),
    (
        "rpc_requested",
        &["id", "rpcId", "method", "args", "deadline", "schema"],
    ),
    ("rpc_completed", &["id", "rpcId", "timedOut", "deadline"]),
    ("branches_started", &["id", "kind", "branches"]),
    ("branch_completed", &["id", "branch"]),
    ("branch_failed", &["id", "branch", "error"]),
    ("race_won", &["id", "winner"]),
    (
        "loop_advanced",
        &["id", "iteration", "state", "done", "dropped", "gone"],
    ),
    ("switch_chosen", &["id", "branch"]),
    (
        "child_started",
        &[
            "id", "run", "workflow", "input", "tags", "deadline", "onClose", "detached", "undo",
        ],
    ),
    ("sent", &["id", "to", "event", "payload"]),
    ("replied", &["id", "event", "payload"]),
    (
        "state_changed",
        &["id", "collection", "key", "operation", "value"],
    ),
    ("emitted", &["id", "topic", "payload"]),
    ("note", &["id", "text"]),
    ("version_chosen", &["id", "version"]),
    ("removed", &["id", "kind"]),
    ("no_return", &["id"]),
    ("undo_started", &["stepId", "attempt", "run"]),
    ("undo_completed", &["stepId", "attempt", "run"]),
    (
        "undo_failed",
        &["stepId", "attempt", "error", "retryAt", "run"],
    ),
    ("undo_skipped", &["stepId", "run"]),
    ("paused", &["reason"]),
    ("resumed", &[]),
    ("diverged", &["id", "error"]),
    ("execution_retried", &["attempt", "error", "retryAt"]),
    ("completed", &["result", "abandoned"]),
    ("failed", &["error", "rolledBack", "abandoned", "causedBy"]),
    ("rollback_failed", &["error", "rollbackError", "abandoned"]),
    ("cancelled", &["reason", "rolledBack", "abandoned"]),
];

/// Returns the visible fields of a record type.
pub(super) fn fields(type_name: &str) -> &'static [&'static str] {
    let found = SHOWN.iter().find(|(known, _)| *known == type_name);
    found.map_or(&[], |(_, fields)| fields)
}

#[cfg(test)]
mod tests {
    use everstep_model::Body;

    use super::*;

    #[test]
    fn the_list_has_every_record_kind_once() {
        let listed: Vec<_> = SHOWN.iter().map(|(name, _)| *name).collect();
        assert_eq!(listed, Body::TYPE_NAMES);
    }

    #[test]
    fn internal_fields_are_not_on_the_list() {
        for (name, fields) in SHOWN {
            for secret in [
                "seed",
                "undo",
                "early",
                "replyTo",
                "idempotencyKey",
                "folded",
            ] {
                let is_mode = (*name, secret) == ("child_started", "undo");
                assert!(is_mode || !fields.contains(&secret), "{name} {secret}");
            }
        }
    }
}
