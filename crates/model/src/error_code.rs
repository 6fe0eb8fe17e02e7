//! The stable error codes. Each has a page in `docs/errors/`.

crate::words! {
    /// A permanent error code. The page `docs/errors/<code>.md` explains cause and remedy.
    #[non_exhaustive]
    pub enum ErrorCode {
        /// A name breaks the rules of names.
        InvalidName = "invalid_name",
        /// A run id breaks the rules of run ids.
        InvalidRunId = "invalid_run_id",
        /// Options contradict each other or are out of range.
        InvalidOptions = "invalid_options",
        /// A payload is over the limit.
        PayloadTooLarge = "payload_too_large",
        /// A value cannot be written as JSON.
        Unserializable = "unserializable",
        /// JSON does not have the expected shape.
        Undecodable = "undecodable",
        /// No workflow of that name is registered here.
        UnknownWorkflow = "unknown_workflow",
        /// No run of that id exists.
        UnknownRun = "unknown_run",
        /// The strict form of start found the id taken.
        RunExists = "run_exists",
        /// The run has ended and accepts nothing more.
        RunFinished = "run_finished",
        /// The workflow does not accept an event of that name.
        EventNotAccepted = "event_not_accepted",
        /// The run holds too many events that no wait has consumed.
        TooManyEvents = "too_many_events",
        /// The rpc was answered already, timed out, or never existed.
        RpcNotOpen = "rpc_not_open",
        /// A payload does not match its declared schema.
        SchemaMismatch = "schema_mismatch",
        /// A step failed with an error that is not retried.
        StepFailed = "step_failed",
        /// A step failed and no retries are left.
        StepExhausted = "step_exhausted",
        /// A step took longer than its timeout.
        StepTimedOut = "step_timed_out",
        /// A step panicked.
        StepPanicked = "step_panicked",
        /// The run calls more steps than it may.
        TooManySteps = "too_many_steps",
        /// The workflow function returned an error.
        WorkflowFailed = "workflow_failed",
        /// The workflow function panicked.
        WorkflowPanicked = "workflow_panicked",
        /// The run's deadline passed.
        DeadlineExceeded = "deadline_exceeded",
        /// The code does not match the journal.
        Diverged = "diverged",
        /// The workflow awaited something that is not durable.
        NotDurable = "not_durable",
        /// An event did not arrive in time, and the code asked for an error.
        EventTimedOut = "event_timed_out",
        /// A client's wait ended before the run did.
        WaitTimedOut = "wait_timed_out",
        /// The awaited run failed.
        RunFailed = "run_failed",
        /// The awaited run was cancelled.
        RunCancelled = "run_cancelled",
        /// The awaited run was terminated.
        RunTerminated = "run_terminated",
        /// The awaited run failed, and its rollback failed too.
        RollbackFailed = "rollback_failed",
        /// The run was taken over too often without progress.
        NoProgress = "no_progress",
        /// Branches of a join or race failed.
        BranchesFailed = "branches_failed",
        /// A switch has no case for its value, and no default.
        NoCase = "no_case",
        /// The operation was refused because its run is being cancelled.
        Cancelled = "cancelled",
        /// An operator forced the operation or the run to fail.
        ForcedFailure = "forced_failure",
        /// A step or child could not be undone.
        UndoFailed = "undo_failed",
        /// A child of the run did not complete.
        ChildFailed = "child_failed",
        /// The event was already answered.
        RepliedAlready = "replied_already",
        /// The run ended, or the request timed out, without a reply.
        NoReply = "no_reply",
        /// The run has no operation at that location.
        UnknownOperation = "unknown_operation",
        /// The run is in a state that does not allow the request.
        WrongState = "wrong_state",
        /// Another process has the directory open.
        StoreLocked = "store_locked",
        /// The directory was written by a newer version.
        StoreNewer = "store_newer",
        /// The stored data is damaged.
        StoreCorrupt = "store_corrupt",
        /// The disk is full.
        StoreFull = "store_full",
        /// The store cannot be reached or read.
        StoreUnavailable = "store_unavailable",
        /// A write or sync failed, or the directory was removed; the store refuses writes until it
        /// is reopened.
        StorePoisoned = "store_poisoned",
        /// A setting of the store would lose data.
        StoreUnsafe = "store_unsafe",
        /// A journal contains records that this version does not know.
        JournalNewer = "journal_newer",
        /// The journal of the run is too large for the memory of this node.
        JournalTooLarge = "journal_too_large",
        /// Another executor holds the run.
        Fenced = "fenced",
        /// The engine is shutting down.
        ShuttingDown = "shutting_down",
        /// The stream does not exist.
        StreamMissing = "stream_missing",
        /// The stream was deleted and exists only for its forks.
        StreamGone = "stream_gone",
        /// Another stream with that path exists.
        StreamExists = "stream_exists",
        /// The stream is closed.
        StreamClosed = "stream_closed",
        /// The content type of the messages is not that of the stream.
        StreamType = "stream_type",
        /// `Stream-Seq` is not higher than the last one.
        StreamSeq = "stream_seq",
        /// The offset is not valid for this stream.
        InvalidOffset = "invalid_offset",
        /// The offset belongs to an earlier stream with the same path.
        OldOffset = "old_offset",
        /// Another process has taken over this producer.
        StaleProducer = "stale_producer",
        /// An append of this producer is missing.
        ProducerGap = "producer_gap",
        /// The request breaks a rule of streams.
        InvalidStreamRequest = "invalid_stream_request",
        /// The worker's session has ended or never existed.
        UnknownSession = "unknown_session",
        /// The server did not respond, or its response was not valid.
        ServerUnreachable = "server_unreachable",
        /// The caller is not authenticated.
        Unauthenticated = "unauthenticated",
        /// The run token has expired.
        TokenExpired = "token_expired",
        /// The caller lacks the permission.
        Forbidden = "forbidden",
        /// The request does not address this machine, or comes from a page of another origin.
        NotLocal = "not_local",
        /// No key with that id exists.
        UnknownKey = "unknown_key",
        /// The stream belongs to the engine.
        ReservedStream = "reserved_stream",
        /// An append contains records that a worker may not write.
        InvalidAppend = "invalid_append",
        /// The server and the worker have no version of the protocol in common.
        ProtocolUnsupported = "protocol_unsupported",
        /// The request is not valid.
        InvalidRequest = "invalid_request",
        /// No such route, or the route does not support the method.
        NoRoute = "no_route",
        /// The limit of waiting requests is reached.
        TooBusy = "too_busy",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_has_its_own_word() {
        for &code in ErrorCode::ALL {
            assert_eq!(ErrorCode::parse(code.as_str()), Some(code));
        }
    }
}
