//! The stable error codes. Each has a page in `docs/errors/`.

use std::fmt;

/// A permanent error code. The page `docs/errors/<code>.md` explains cause and remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ErrorCode {
    /// A name breaks the rules of names.
    InvalidName,
    /// A run id breaks the rules of run ids.
    InvalidRunId,
    /// Options contradict each other or are out of range.
    InvalidOptions,
    /// A payload is over the limit.
    PayloadTooLarge,
    /// A value cannot be written as JSON.
    Unserializable,
    /// JSON does not have the expected shape.
    Undecodable,
    /// No workflow of that name is registered here.
    UnknownWorkflow,
    /// No run of that id exists.
    UnknownRun,
    /// The strict form of start found the id taken.
    RunExists,
    /// The run has ended and accepts nothing more.
    RunFinished,
    /// The workflow does not accept an event of that name.
    EventNotAccepted,
    /// The run holds too many events that no wait has consumed.
    TooManyEvents,
    /// The rpc was answered already, timed out, or never existed.
    RpcNotOpen,
    /// A payload does not match its declared schema.
    SchemaMismatch,
    /// A step failed with an error that is not retried.
    StepFailed,
    /// A step failed and no retries are left.
    StepExhausted,
    /// A step took longer than its timeout.
    StepTimedOut,
    /// A step panicked.
    StepPanicked,
    /// The run calls more steps than it may.
    TooManySteps,
    /// The workflow function returned an error.
    WorkflowFailed,
    /// The workflow function panicked.
    WorkflowPanicked,
    /// The run's deadline passed.
    DeadlineExceeded,
    /// The code does not match the journal.
    Diverged,
    /// The workflow awaited something that is not durable.
    NotDurable,
    /// An event did not arrive in time, and the code asked for an error.
    EventTimedOut,
    /// A client's wait ended before the run did.
    WaitTimedOut,
    /// The awaited run failed.
    RunFailed,
    /// The awaited run was cancelled.
    RunCancelled,
    /// The awaited run was terminated.
    RunTerminated,
    /// The awaited run failed and so did its rollback.
    RollbackFailed,
    /// The run was taken over too often without progress.
    NoProgress,
    /// Branches of a join or race failed.
    BranchesFailed,
    /// A switch has no case for its value, and no default.
    NoCase,
    /// The operation was refused because its run is being cancelled.
    Cancelled,
    /// An operator forced the operation or the run to fail.
    ForcedFailure,
    /// A step or child could not be undone.
    UndoFailed,
    /// A child of the run did not complete.
    ChildFailed,
    /// The event was already answered.
    RepliedAlready,
    /// The run ended, or the request timed out, without a reply.
    NoReply,
    /// The run has no operation at that location.
    UnknownOperation,
    /// The run is in a state that does not allow the request.
    WrongState,
    /// Another process has the directory open.
    StoreLocked,
    /// The directory was written by a newer version.
    StoreNewer,
    /// The stored data is damaged.
    StoreCorrupt,
    /// The disk is full.
    StoreFull,
    /// The store cannot be reached or read.
    StoreUnavailable,
    /// A sync failed; the store refuses writes until it is reopened.
    StorePoisoned,
    /// A setting of the store would lose data.
    StoreUnsafe,
    /// A journal contains records that this version does not know.
    JournalNewer,
    /// Another executor holds the run.
    Fenced,
    /// The engine is shutting down.
    ShuttingDown,
    /// The stream does not exist.
    StreamMissing,
    /// The stream was deleted and exists only for its forks.
    StreamGone,
    /// Another stream with that path exists.
    StreamExists,
    /// The stream is closed.
    StreamClosed,
    /// The content type of the messages is not that of the stream.
    StreamType,
    /// `Stream-Seq` is not higher than the last one.
    StreamSeq,
    /// The offset is not valid for this stream.
    InvalidOffset,
    /// The offset belongs to an earlier stream with the same path.
    OldOffset,
    /// Another process has taken over this producer.
    StaleProducer,
    /// An append of this producer is missing.
    ProducerGap,
    /// The request breaks a rule of streams.
    InvalidStreamRequest,
    /// The worker's session has ended or never existed.
    UnknownSession,
    /// The server did not respond, or its response was not valid.
    ServerUnreachable,
    /// The caller is not authenticated.
    Unauthenticated,
    /// The run token has expired.
    TokenExpired,
    /// The caller lacks the permission.
    Forbidden,
    /// No key with that id exists.
    UnknownKey,
    /// The stream belongs to the engine.
    ReservedStream,
    /// An append contains records that a worker may not write.
    InvalidAppend,
    /// The request is not valid.
    InvalidRequest,
    /// No such route, or the route does not support the method.
    NoRoute,
    /// The limit of waiting requests is reached.
    TooBusy,
}

impl ErrorCode {
    /// All codes.
    pub const ALL: &'static [Self] = &[
        Self::InvalidName,
        Self::InvalidRunId,
        Self::InvalidOptions,
        Self::PayloadTooLarge,
        Self::Unserializable,
        Self::Undecodable,
        Self::UnknownWorkflow,
        Self::UnknownRun,
        Self::RunExists,
        Self::RunFinished,
        Self::EventNotAccepted,
        Self::TooManyEvents,
        Self::RpcNotOpen,
        Self::SchemaMismatch,
        Self::StepFailed,
        Self::StepExhausted,
        Self::StepTimedOut,
        Self::StepPanicked,
        Self::TooManySteps,
        Self::WorkflowFailed,
        Self::WorkflowPanicked,
        Self::DeadlineExceeded,
        Self::Diverged,
        Self::NotDurable,
        Self::EventTimedOut,
        Self::WaitTimedOut,
        Self::RunFailed,
        Self::RunCancelled,
        Self::RunTerminated,
        Self::RollbackFailed,
        Self::NoProgress,
        Self::BranchesFailed,
        Self::NoCase,
        Self::Cancelled,
        Self::ForcedFailure,
        Self::UndoFailed,
        Self::ChildFailed,
        Self::RepliedAlready,
        Self::NoReply,
        Self::UnknownOperation,
        Self::WrongState,
        Self::StoreLocked,
        Self::StoreNewer,
        Self::StoreCorrupt,
        Self::StoreFull,
        Self::StoreUnavailable,
        Self::StorePoisoned,
        Self::StoreUnsafe,
        Self::JournalNewer,
        Self::Fenced,
        Self::ShuttingDown,
        Self::StreamMissing,
        Self::StreamGone,
        Self::StreamExists,
        Self::StreamClosed,
        Self::StreamType,
        Self::StreamSeq,
        Self::InvalidOffset,
        Self::OldOffset,
        Self::StaleProducer,
        Self::ProducerGap,
        Self::InvalidStreamRequest,
        Self::UnknownSession,
        Self::ServerUnreachable,
        Self::Unauthenticated,
        Self::TokenExpired,
        Self::Forbidden,
        Self::UnknownKey,
        Self::ReservedStream,
        Self::InvalidAppend,
        Self::InvalidRequest,
        Self::NoRoute,
        Self::TooBusy,
    ];

    /// The permanent name on the wire.
    #[must_use]
    #[allow(clippy::too_many_lines, reason = "one line for each code")]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidName => "invalid_name",
            Self::InvalidRunId => "invalid_run_id",
            Self::InvalidOptions => "invalid_options",
            Self::PayloadTooLarge => "payload_too_large",
            Self::Unserializable => "unserializable",
            Self::Undecodable => "undecodable",
            Self::UnknownWorkflow => "unknown_workflow",
            Self::UnknownRun => "unknown_run",
            Self::RunExists => "run_exists",
            Self::RunFinished => "run_finished",
            Self::EventNotAccepted => "event_not_accepted",
            Self::TooManyEvents => "too_many_events",
            Self::RpcNotOpen => "rpc_not_open",
            Self::SchemaMismatch => "schema_mismatch",
            Self::StepFailed => "step_failed",
            Self::StepExhausted => "step_exhausted",
            Self::StepTimedOut => "step_timed_out",
            Self::StepPanicked => "step_panicked",
            Self::TooManySteps => "too_many_steps",
            Self::WorkflowFailed => "workflow_failed",
            Self::WorkflowPanicked => "workflow_panicked",
            Self::DeadlineExceeded => "deadline_exceeded",
            Self::Diverged => "diverged",
            Self::NotDurable => "not_durable",
            Self::EventTimedOut => "event_timed_out",
            Self::WaitTimedOut => "wait_timed_out",
            Self::RunFailed => "run_failed",
            Self::RunCancelled => "run_cancelled",
            Self::RunTerminated => "run_terminated",
            Self::RollbackFailed => "rollback_failed",
            Self::NoProgress => "no_progress",
            Self::BranchesFailed => "branches_failed",
            Self::NoCase => "no_case",
            Self::Cancelled => "cancelled",
            Self::ForcedFailure => "forced_failure",
            Self::UndoFailed => "undo_failed",
            Self::ChildFailed => "child_failed",
            Self::RepliedAlready => "replied_already",
            Self::NoReply => "no_reply",
            Self::UnknownOperation => "unknown_operation",
            Self::WrongState => "wrong_state",
            Self::StoreLocked => "store_locked",
            Self::StoreNewer => "store_newer",
            Self::StoreCorrupt => "store_corrupt",
            Self::StoreFull => "store_full",
            Self::StoreUnavailable => "store_unavailable",
            Self::StorePoisoned => "store_poisoned",
            Self::StoreUnsafe => "store_unsafe",
            Self::JournalNewer => "journal_newer",
            Self::Fenced => "fenced",
            Self::ShuttingDown => "shutting_down",
            Self::StreamMissing => "stream_missing",
            Self::StreamGone => "stream_gone",
            Self::StreamExists => "stream_exists",
            Self::StreamClosed => "stream_closed",
            Self::StreamType => "stream_type",
            Self::StreamSeq => "stream_seq",
            Self::InvalidOffset => "invalid_offset",
            Self::OldOffset => "old_offset",
            Self::StaleProducer => "stale_producer",
            Self::ProducerGap => "producer_gap",
            Self::InvalidStreamRequest => "invalid_stream_request",
            Self::UnknownSession => "unknown_session",
            Self::ServerUnreachable => "server_unreachable",
            Self::Unauthenticated => "unauthenticated",
            Self::TokenExpired => "token_expired",
            Self::Forbidden => "forbidden",
            Self::UnknownKey => "unknown_key",
            Self::ReservedStream => "reserved_stream",
            Self::InvalidAppend => "invalid_append",
            Self::InvalidRequest => "invalid_request",
            Self::NoRoute => "no_route",
            Self::TooBusy => "too_busy",
        }
    }

    /// The code with that name.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == word)
    }

    /// Whether the same request may succeed later.
    #[must_use]
    pub fn is_retryable(self) -> bool {
        matches!(
            self,
            Self::StoreUnavailable
                | Self::StorePoisoned
                | Self::StoreFull
                | Self::StoreLocked
                | Self::Fenced
                | Self::ShuttingDown
                | Self::WaitTimedOut
                | Self::TooManyEvents
                | Self::ProducerGap
                | Self::TooBusy
        )
    }

    /// Whether it is certain that the refused request changed nothing.
    #[must_use]
    pub fn has_no_side_effects(self) -> bool {
        !matches!(
            self,
            Self::StoreUnavailable
                | Self::StorePoisoned
                | Self::StoreFull
                | Self::StepFailed
                | Self::StepExhausted
                | Self::StepTimedOut
                | Self::StepPanicked
                | Self::WorkflowFailed
                | Self::WorkflowPanicked
                | Self::DeadlineExceeded
                | Self::RunFailed
                | Self::RunCancelled
                | Self::RunTerminated
                | Self::RollbackFailed
                | Self::BranchesFailed
                | Self::ChildFailed
                | Self::UndoFailed
                | Self::ForcedFailure
                | Self::NoReply
        )
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_listed_once_and_leads_back() {
        let mut words: Vec<_> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), ErrorCode::ALL.len());
        for &code in ErrorCode::ALL {
            assert_eq!(ErrorCode::parse(code.as_str()), Some(code));
        }
    }
}
