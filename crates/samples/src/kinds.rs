//! One record of each kind.

use std::time::Duration;

use super::journal::{at, json, name};
use everstep_model::record::*;
use everstep_model::{
    Failure, Generation, RecordNumber, RecordRange, RetryPolicy, RpcId, RunId, Seed, SpanId,
    StepOptions, Timestamp, TraceId, TraceParent,
};

fn failure() -> Failure {
    let cause = Failure::new(everstep_model::ErrorCode::StepTimedOut, "too slow").at_attempt(2);
    Failure::new(everstep_model::ErrorCode::StepExhausted, "gave up")
        .named("Gateway")
        .caused_by(cause)
}

fn options() -> StepOptions {
    StepOptions {
        retry: RetryPolicy::default(),
        timeout: Some(Duration::from_secs(30)),
        sensitive: true,
        undo: everstep_model::UndoMode::Internal,
        no_return: true,
        ..StepOptions::default()
    }
}

/// Returns one record of each kind, in the order of the tags.
#[allow(clippy::too_many_lines, reason = "one sample of each kind")]
pub fn one_of_each() -> Vec<Record> {
    let time = Timestamp::from_millis(1_794_729_600_123);
    let by = Some("alice".to_owned());
    let run = RunId::new("order-1").unwrap();
    let rpc_id = RpcId("rpc_1".into());
    let location = at("order/~3/ship/charge:0");
    let bodies: Vec<Body> = vec![
        Created {
            workflow: name("payment"),
            version: 2,
            input: json("{\"a\": 1}"),
            seed: Seed(u64::MAX),
            tags: vec!["eu".into()],
            deadline: Some(time),
            execution_retries: Some(1),
            idempotency_key: Some("k".into()),
            parent: Some(ParentLink {
                run: run.clone(),
                generation: Generation(2),
                location: location.clone(),
            }),
            by: by.clone(),
            forked_from: Some(ForkedFrom {
                run: run.clone(),
                generation: Generation(1),
                reason: ForkReason::Recover,
                keys_of: Some(Generation(1)),
                at: Some(location.clone()),
                edited: Some("d".into()),
            }),
            mark: Some(Seed(8)),
            parent_identity: Some(Seed(9)),
            trace: Some(TraceParent {
                trace: TraceId([7; 16]),
                span: SpanId([9; 8]),
            }),
            no_return: true,
        }
        .into(),
        Event {
            name: name("approval"),
            payload: json("true"),
            dedup_id: Some("d".into()),
            reply_to: None,
            by: by.clone(),
        }
        .into(),
        RpcAnswered {
            location: location.clone(),
            rpc_id: rpc_id.clone(),
            answer: json("1"),
            by: by.clone(),
            dedup_id: Some("d".into()),
        }
        .into(),
        TimerFired {
            purpose: TimerPurpose::Sleep,
            location: Some(location.clone()),
            due: time,
        }
        .into(),
        ChildFinished {
            location: location.clone(),
            outcome: ChildOutcome::Failed(failure()),
            run: Some(RunId::new("child").unwrap()),
        }
        .into(),
        PauseRequested {
            by: by.clone(),
            reason: None,
        }
        .into(),
        ResumeRequested { by: by.clone() }.into(),
        CancelRequested {
            by: by.clone(),
            reason: Some("no".into()),
            rollback: true,
        }
        .into(),
        Terminated {
            by: by.clone(),
            reason: None,
            abandoned: vec![location.clone()],
            next_generation: Some(Generation(2)),
        }
        .into(),
        StepSkipped {
            location: location.clone(),
            result: json("null"),
            by: by.clone(),
            so_far: Some(StepSoFar {
                attempts: 2,
                started_at: Some(time),
                sensitive: true,
                no_return: true,
            }),
        }
        .into(),
        StepEdited {
            location: location.clone(),
            result: json("2"),
            by: by.clone(),
            so_far: None,
        }
        .into(),
        ForcedFailure {
            location: None,
            error: failure(),
            by,
            so_far: None,
        }
        .into(),
        DeadlinePassed { deadline: time }.into(),
        Data {
            bytes: bytes::Bytes::from_static(b"\x00hello\xff"),
            ends: true,
        }
        .into(),
        StepStarted {
            location: location.clone(),
            attempt: 1,
            options: Some(options()),
        }
        .into(),
        StepCompleted {
            location: location.clone(),
            attempt: 1,
            started_at: time,
            result: json("{\"id\":\"ch_1\"}"),
            undo: Some(json("7")),
            sensitive: false,
            early: Some(Box::new(TookEffect {
                folded: RecordNumber(4),
                now: time,
                moment: 1,
            })),
            no_return: true,
        }
        .into(),
        StepFailed {
            location: location.clone(),
            attempt: 1,
            started_at: time,
            error: failure(),
            outcome: FailureOutcome::Retrying,
            retry_at: Some(time),
            undo: None,
            retries_left: None,
        }
        .into(),
        StepAbandoned {
            location: location.clone(),
            so_far: None,
        }
        .into(),
        Sleeping {
            location: location.clone(),
            until: time,
        }
        .into(),
        Waiting {
            location: location.clone(),
            names: vec![name("approval")],
            deadline: Some(time),
            batch: 1,
        }
        .into(),
        WaitCompleted {
            location: location.clone(),
            events: vec![RecordNumber(4)],
            deadline: None,
        }
        .into(),
        WaitTimedOut {
            location: location.clone(),
        }
        .into(),
        RpcRequested {
            location: location.clone(),
            rpc_id: rpc_id.clone(),
            method: name("approve"),
            args: json("[]"),
            deadline: None,
            schema: Some(json("{}")),
        }
        .into(),
        RpcCompleted {
            location: location.clone(),
            rpc_id,
            timed_out: false,
            deadline: Some(time),
        }
        .into(),
        BranchesStarted {
            location: location.clone(),
            kind: BranchesKind::Race,
            branches: vec![name("a"), name("b")],
        }
        .into(),
        BranchCompleted {
            location: location.clone(),
            branch: name("a"),
        }
        .into(),
        BranchFailed {
            location: location.clone(),
            branch: name("b"),
            error: failure(),
        }
        .into(),
        RaceWon {
            location: location.clone(),
            winner: name("a"),
        }
        .into(),
        LoopAdvanced {
            location: location.clone(),
            iteration: 9,
            state: json("{}"),
            done: false,
            folded: RecordNumber(7),
            resolved: 1,
            now: time,
            dropped: vec![RecordRange {
                first: RecordNumber(3),
                last: RecordNumber(5),
            }],
            gone: vec![IterationRange { first: 0, last: 4 }],
            inbox_dropped: 2,
            gaps: vec![Gap {
                first: RecordNumber(1),
                last: RecordNumber(5),
                time,
            }],
            durable: true,
            began: RecordNumber(1),
            resolved_inside: vec![ResolvedInside {
                location: location.clone(),
                iteration: 3,
                count: 2,
            }],
            undo_begun: true,
            undone: true,
            moment: 1,
            at_once: 2,
        }
        .into(),
        SwitchChosen {
            location: location.clone(),
            branch: name("a"),
        }
        .into(),
        ChildStarted {
            location: location.clone(),
            run: run.clone(),
            workflow: name("ship"),
            input: json("{}"),
            tags: vec!["eu".into()],
            deadline: Some(time),
            on_close: ParentClose::Terminate,
            detached: true,
            undo: everstep_model::UndoMode::Undo,
        }
        .into(),
        Sent {
            location: location.clone(),
            to: run,
            event: name("hello"),
            payload: json("{}"),
        }
        .into(),
        Replied {
            location: location.clone(),
            event: RecordNumber(3),
            payload: json("{}"),
        }
        .into(),
        StateChanged {
            location: location.clone(),
            collection: name("order"),
            key: "1".into(),
            operation: RowOperation::Upsert,
            value: json("{}"),
        }
        .into(),
        Emitted {
            location: location.clone(),
            topic: name("shipped"),
            payload: json("{}"),
        }
        .into(),
        Note {
            location: location.clone(),
            text: "ok".into(),
        }
        .into(),
        VersionChosen {
            location: location.clone(),
            version: 2,
        }
        .into(),
        Removed {
            location: location.clone(),
            kind: "sleeping".into(),
        }
        .into(),
        NoReturn {
            location: location.clone(),
        }
        .into(),
        UndoStarted {
            location: location.clone(),
            attempt: 1,
            run: Some(RunId::new("child").unwrap()),
            ends_run: false,
        }
        .into(),
        UndoCompleted {
            location: location.clone(),
            attempt: 1,
            run: Some(RunId::new("child").unwrap()),
        }
        .into(),
        UndoFailed {
            location: location.clone(),
            attempt: 1,
            error: failure(),
            retry_at: Some(time),
            run: Some(RunId::new("child").unwrap()),
        }
        .into(),
        UndoSkipped {
            location: location.clone(),
            run: Some(RunId::new("child").unwrap()),
            ends_run: false,
        }
        .into(),
        Paused {
            reason: Some(failure()),
        }
        .into(),
        Resumed {}.into(),
        Diverged {
            location: Some(location.clone()),
            error: failure(),
        }
        .into(),
        ExecutionRetried {
            attempt: 1,
            error: failure(),
            retry_at: time,
        }
        .into(),
        AttributeSet {
            location: at("__attribute:0"),
            attribute: name("stage"),
            value: json("\"shipping\""),
        }
        .into(),
        Completed {
            result: json("null"),
            abandoned: vec![location],
        }
        .into(),
        Failed {
            error: failure(),
            rolled_back: false,
            abandoned: vec![],
            caused_by: vec![at("charge:0")],
        }
        .into(),
        RollbackFailed {
            error: failure(),
            rollback_error: failure(),
            abandoned: vec![],
        }
        .into(),
        Cancelled {
            reason: None,
            rolled_back: true,
            abandoned: vec![],
        }
        .into(),
    ];
    bodies
        .into_iter()
        .map(|body| Record { time, body })
        .collect()
}

#[test]
fn the_samples_cover_every_kind() {
    let kinds: Vec<_> = one_of_each().iter().map(|r| r.body.type_name()).collect();
    assert_eq!(kinds, Body::TYPE_NAMES);
}
