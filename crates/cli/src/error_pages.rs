//! The pages of `docs/errors/`, compiled into the binary so that they match its version.

use everstep::ErrorCode;

macro_rules! pages {
    ($($code:ident => $word:literal,)*) => {
        /// Returns the page of a code. A test checks that every code has one.
        pub(crate) fn page(code: ErrorCode) -> Option<&'static str> {
            match code {
                $(ErrorCode::$code => Some(include_str!(concat!("../../../docs/errors/", $word, ".md"))),)*
                _ => None,
            }
        }
    };
}

pages! {
    InvalidName => "invalid_name",
    InvalidRunId => "invalid_run_id",
    InvalidOptions => "invalid_options",
    PayloadTooLarge => "payload_too_large",
    Unserializable => "unserializable",
    Undecodable => "undecodable",
    UnknownWorkflow => "unknown_workflow",
    UnknownRun => "unknown_run",
    RunExists => "run_exists",
    RunFinished => "run_finished",
    EventNotAccepted => "event_not_accepted",
    TooManyEvents => "too_many_events",
    RpcNotOpen => "rpc_not_open",
    SchemaMismatch => "schema_mismatch",
    StepFailed => "step_failed",
    StepExhausted => "step_exhausted",
    StepTimedOut => "step_timed_out",
    StepPanicked => "step_panicked",
    TooManySteps => "too_many_steps",
    WorkflowFailed => "workflow_failed",
    WorkflowPanicked => "workflow_panicked",
    DeadlineExceeded => "deadline_exceeded",
    Diverged => "diverged",
    NotDurable => "not_durable",
    EventTimedOut => "event_timed_out",
    WaitTimedOut => "wait_timed_out",
    RunFailed => "run_failed",
    RunCancelled => "run_cancelled",
    RunTerminated => "run_terminated",
    RollbackFailed => "rollback_failed",
    NoProgress => "no_progress",
    BranchesFailed => "branches_failed",
    NoCase => "no_case",
    Cancelled => "cancelled",
    ForcedFailure => "forced_failure",
    UndoFailed => "undo_failed",
    ChildFailed => "child_failed",
    RepliedAlready => "replied_already",
    NoReply => "no_reply",
    UnknownOperation => "unknown_operation",
    WrongState => "wrong_state",
    StoreLocked => "store_locked",
    StoreNewer => "store_newer",
    StoreCorrupt => "store_corrupt",
    StoreFull => "store_full",
    StoreUnavailable => "store_unavailable",
    StorePoisoned => "store_poisoned",
    StoreUnsafe => "store_unsafe",
    JournalNewer => "journal_newer",
    Fenced => "fenced",
    ShuttingDown => "shutting_down",
    StreamMissing => "stream_missing",
    StreamGone => "stream_gone",
    StreamExists => "stream_exists",
    StreamClosed => "stream_closed",
    StreamType => "stream_type",
    StreamSeq => "stream_seq",
    InvalidOffset => "invalid_offset",
    OldOffset => "old_offset",
    StaleProducer => "stale_producer",
    ProducerGap => "producer_gap",
    InvalidStreamRequest => "invalid_stream_request",
    Unauthenticated => "unauthenticated",
    TokenExpired => "token_expired",
    Forbidden => "forbidden",
    UnknownKey => "unknown_key",
    ReservedStream => "reserved_stream",
    InvalidAppend => "invalid_append",
    InvalidRequest => "invalid_request",
    NoRoute => "no_route",
    TooBusy => "too_busy",
    UnknownSession => "unknown_session",
    ServerUnreachable => "server_unreachable",
}

/// Returns the first sentence of a code's page.
pub(crate) fn summary(code: ErrorCode) -> Option<&'static str> {
    let lines = page(code)?.lines();
    lines
        .map(str::trim)
        .find(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Returns the section "What to do" of a code's page.
pub(crate) fn remedy(code: ErrorCode) -> Option<&'static str> {
    let (_, below) = page(code)?.split_once("## What to do")?;
    let section = below.split("\n## ").next()?;
    Some(section.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_page_with_a_summary_and_a_remedy() {
        for &code in ErrorCode::ALL {
            let page = page(code).unwrap_or_else(|| panic!("{code} has no page"));
            assert_eq!(page.lines().next(), Some(format!("# {code}").as_str()));
            assert!(summary(code).is_some_and(|line| line.len() > 10), "{code}");
            assert!(remedy(code).is_some_and(|text| text.len() > 10), "{code}");
        }
    }
}
