//! Minimal records, rows and commits for cases, as the engine would write them.

use std::time::Duration;

use everstep_model::record::{
    Created, Data, Event, LoopAdvanced, StepCompleted, TimerPurpose, WaitCompleted,
};
use everstep_model::{
    Body, ExecutorSeq, Generation, Location, Name, NodeId, Nonce, Payload, Record, RecordNumber,
    RecordRange, RpcId, RunId, RunStatus, Seed, StreamName, StreamNumber, Timestamp,
};
use everstep_store::{
    AppendCommit, CommitTime, CreateCommit, DeliverCommit, Executor, Fence, ForkPoint,
    GenerationRow, IdempotencyRow, KeyPart, OutboxRow, ProducerMark, ProducerRow, RemoveCommit,
    Row, RowsCommit, RpcRow, RunRow, SharedKey, SharedKind, SharedRow, StreamRow, TimerRow,
};

use crate::clock::START;

pub const NODE: NodeId = NodeId(0xA);
pub const OTHER: NodeId = NodeId(0xB);
pub const NONCE: Nonce = Nonce(0x11);

pub fn name(text: &str) -> Name {
    Name::internal(text).unwrap()
}

pub fn location(text: &str) -> Location {
    text.parse().unwrap()
}

/// Returns a record with the time [`START`].
pub fn record(body: impl Into<Body>) -> Record {
    Record {
        time: START,
        body: body.into(),
    }
}

/// Returns the first record of a journal.
pub fn created() -> Record {
    record(Created {
        workflow: name("order"),
        version: 1,
        input: Payload::null(),
        seed: Seed(7),
        tags: Vec::new(),
        deadline: None,
        execution_retries: None,
        idempotency_key: None,
        parent: None,
        by: None,
        forked_from: None,
        mark: None,
        parent_identity: None,
        trace: None,
        no_return: false,
    })
}

/// Returns an inbox record.
pub fn event(text: &str) -> Record {
    record(Event {
        name: name(text),
        payload: Payload::from_value(text).unwrap(),
        dedup_id: None,
        reply_to: None,
        by: None,
    })
}

/// Returns a record of an executor.
pub fn step(text: &str) -> Record {
    record(StepCompleted {
        location: Location::root(name(text), 0),
        attempt: 1,
        started_at: START,
        result: Payload::from_value(text).unwrap(),
        undo: None,
        sensitive: false,
        early: None,
        no_return: false,
    })
}

/// Returns a record that consumes events.
pub fn wait_completed(events: &[u64]) -> Record {
    record(WaitCompleted {
        location: location("wait:0"),
        events: events.iter().map(|n| RecordNumber(*n)).collect(),
        deadline: None,
    })
}

/// Returns a record that drops records.
pub fn loop_advanced(dropped: &[RecordRange]) -> Record {
    record(LoopAdvanced {
        location: location("loop:0"),
        iteration: 1,
        state: Payload::null(),
        done: false,
        dropped: dropped.to_vec(),
        folded: RecordNumber(0),
        resolved: 0,
        now: Timestamp::default(),
        gone: Vec::new(),
        inbox_dropped: 0,
        gaps: Vec::new(),
        durable: false,
        began: RecordNumber(0),
        resolved_inside: Vec::new(),
        undo_begun: false,
        undone: false,
        moment: 0,
        at_once: 0,
    })
}

pub fn range(first: u64, last: u64) -> RecordRange {
    RecordRange {
        first: RecordNumber(first),
        last: RecordNumber(last),
    }
}

/// Returns a list row.
pub fn run(id: &str, workflow: &str, status: RunStatus) -> RunRow {
    RunRow {
        id: RunId::new(id).unwrap(),
        generation: Generation::FIRST,
        workflow: name(workflow),
        version: 1,
        status,
        tags: Vec::new(),
        created_at: START,
        updated_at: START,
    }
}

/// Returns a commit that creates a stream with one `created` record.
pub fn creation(stream: &str) -> CreateCommit {
    let mut commit = CreateCommit::new(StreamName::from_stored(stream), START);
    commit.records.push(created());
    commit
}

/// Returns a commit that creates a run with its list row.
pub fn run_creation(id: &str, workflow: &str, status: RunStatus) -> CreateCommit {
    let mut commit = creation(&format!("workflows/{id}"));
    commit.run = Some(run(id, workflow, status).into());
    commit
}

pub fn inbox(stream: StreamNumber, records: Vec<Record>) -> DeliverCommit {
    let mut commit = DeliverCommit::new(stream, START);
    commit.records = records;
    commit
}

/// Returns an executor's commit without progress.
pub fn executor(
    stream: StreamNumber,
    fence: Fence,
    seq: u64,
    seen: u64,
    records: Vec<Record>,
) -> AppendCommit {
    let executor = Executor {
        fence,
        seq: ExecutorSeq(seq),
        seen: RecordNumber(seen),
        progress: false,
    };
    let mut commit = AppendCommit::new(stream, executor, START);
    commit.records = records;
    commit
}

pub fn with_progress(mut commit: AppendCommit) -> AppendCommit {
    commit.executor.progress = true;
    commit
}

/// Returns a change of rows, to which the caller adds the rows.
pub fn row_change(stream: StreamNumber) -> RowsCommit {
    RowsCommit::new(stream, START)
}

pub fn shared(kind: SharedKind, parts: &[KeyPart], value: &str) -> SharedRow {
    SharedRow {
        key: SharedKey::new(kind, parts.iter().cloned()).unwrap(),
        value: value.as_bytes().to_vec(),
        committed_at: CommitTime::Absent,
    }
}

/// Returns a timer that is due `seconds` after [`START`].
pub fn timer(stream: StreamNumber, seconds: u64, at: Option<&str>) -> TimerRow {
    TimerRow {
        due: Timestamp::from_millis(START.as_millis() + seconds * 1_000),
        stream,
        purpose: TimerPurpose::Sleep,
        location: at.map(location),
    }
}

pub fn rpc(stream: StreamNumber, id: &str) -> RpcRow {
    RpcRow {
        stream,
        id: RpcId(id.into()),
        location: location("loop/~3/ask:0"),
        method: name("approve"),
        deadline: Some(START),
        schema: Some(Payload::from_value(&["any"]).unwrap()),
    }
}

pub fn effect(stream: StreamNumber, key: &str) -> OutboxRow {
    OutboxRow {
        stream,
        key: key.to_owned(),
        effect: Payload::from_value(&["effect", key]).unwrap(),
    }
}

pub fn idempotency(workflow: &str, key: &str, stream: &str) -> Row {
    Row::Idempotency(IdempotencyRow {
        workflow: name(workflow),
        key: key.to_owned(),
        stream: StreamName::from_stored(stream),
    })
}

pub fn generation(run: &str, generation: u32, stream: StreamNumber) -> Row {
    Row::Generation(GenerationRow {
        run: RunId::new(run).unwrap(),
        generation: Generation(generation),
        stream,
    })
}

/// Returns a message of a user stream.
pub fn data(text: &str, ends: bool) -> Record {
    record(Data {
        bytes: text.as_bytes().to_vec().into(),
        ends,
    })
}

/// Returns the row of a user stream with all optional fields.
pub fn stream_row(stream: StreamNumber) -> StreamRow {
    StreamRow {
        stream,
        content_type: "text/plain".to_owned(),
        ttl: Some(Duration::from_secs(90)),
        expires_at: Some(START),
        created_at: START,
        touched_at: START,
        looked_at: Some(START),
        closed_by: Some(ProducerMark {
            id: "p".to_owned(),
            epoch: 1,
            seq: 2,
        }),
        last_seq: Some("7".to_owned()),
        forked_from: Some(ForkPoint {
            source: StreamNumber(3),
            path: "a/b".to_owned(),
            at: RecordNumber(9),
            asked: RecordNumber(7),
            sub_offset: 2,
        }),
        forks: 5,
        deleted: true,
    }
}

/// Returns the row of a user stream without optional fields.
pub fn bare_stream_row(stream: StreamNumber) -> StreamRow {
    StreamRow {
        ttl: None,
        expires_at: None,
        looked_at: None,
        closed_by: None,
        last_seq: None,
        forked_from: None,
        forks: 0,
        deleted: false,
        ..stream_row(stream)
    }
}

pub fn producer(stream: StreamNumber, id: &str, seq: u64) -> ProducerRow {
    ProducerRow {
        stream,
        id: id.to_owned(),
        epoch: 1,
        seq,
        end: RecordNumber(seq + 1),
    }
}

pub fn removal(streams: &[StreamNumber]) -> RemoveCommit {
    RemoveCommit::new(streams.to_vec(), START)
}

/// Returns a commit to the inbox that closes the stream.
pub fn closing(stream: StreamNumber) -> DeliverCommit {
    let mut commit = inbox(stream, vec![]);
    commit.close = true;
    commit
}
