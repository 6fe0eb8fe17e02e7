//! Journals and records of single operations, with defaults for most fields.

use everstep_model::record::*;
use everstep_model::{
    Body, Entry, ErrorCode, Failure, Location, Name, Payload, Record, RecordNumber, RecordRange,
    RpcId, RunId, Seed, StepOptions, Timestamp, UndoMode,
};

/// Returns the time of record `n` of a [`Journal`]: one second after the previous one.
pub fn time(n: u64) -> Timestamp {
    Timestamp::from_millis(1_794_729_600_000 + n * 1_000)
}

pub fn at(text: &str) -> Location {
    text.parse().unwrap()
}

pub fn name(text: &str) -> Name {
    Name::internal(text).unwrap()
}

pub fn json(text: &str) -> Payload {
    Payload::from_json(text.to_owned()).unwrap()
}

pub fn failure(message: &str) -> Failure {
    Failure::new(ErrorCode::StepFailed, message)
}

/// Records numbered from 0.
#[derive(Clone, Debug, Default)]
pub struct Journal(pub Vec<Entry>);

impl Journal {
    /// Creates a journal that begins with `created`.
    pub fn created() -> Self {
        Self::default().with(created())
    }

    pub fn with(mut self, body: impl Into<Body>) -> Self {
        let number = self.0.len() as u64;
        let record = Record {
            time: time(number),
            body: body.into(),
        };
        self.0.push(Entry {
            number: RecordNumber(number),
            record,
        });
        self
    }

    pub fn with_all(self, bodies: impl IntoIterator<Item = Body>) -> Self {
        bodies.into_iter().fold(self, Self::with)
    }
}

pub fn created() -> Created {
    Created {
        workflow: name("payment"),
        version: 2,
        input: json("{\"amount\":5}"),
        seed: Seed(1),
        tags: vec!["eu".to_owned()],
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
    }
}

pub fn event(text: &str) -> Event {
    Event {
        name: name(text),
        payload: Payload::null(),
        dedup_id: None,
        reply_to: None,
        by: None,
    }
}

pub fn started(location: &str, attempt: u32) -> StepStarted {
    StepStarted {
        location: at(location),
        attempt,
        options: (attempt == 1).then(StepOptions::default),
    }
}

pub fn completed_step(location: &str, attempt: u32, result: &str) -> StepCompleted {
    StepCompleted {
        location: at(location),
        attempt,
        started_at: time(0),
        result: json(result),
        undo: None,
        sensitive: false,
        early: None,
        no_return: false,
    }
}

pub fn failed_step(location: &str, attempt: u32, outcome: FailureOutcome) -> StepFailed {
    StepFailed {
        location: at(location),
        attempt,
        started_at: time(0),
        error: failure("gateway down").at_attempt(attempt),
        outcome,
        retry_at: (outcome == FailureOutcome::Retrying).then(|| time(100)),
        undo: None,
        retries_left: None,
    }
}

pub fn waiting(location: &str, names: &[&str]) -> Waiting {
    Waiting {
        location: at(location),
        names: names.iter().map(|text| name(text)).collect(),
        deadline: Some(time(500)),
        batch: 1,
    }
}

pub fn took(location: &str, events: &[u64]) -> WaitCompleted {
    WaitCompleted {
        location: at(location),
        events: events.iter().copied().map(RecordNumber).collect(),
        deadline: None,
    }
}

pub fn sleeping(location: &str) -> Sleeping {
    Sleeping {
        location: at(location),
        until: time(200),
    }
}

pub fn asked(location: &str, id: &str) -> RpcRequested {
    RpcRequested {
        location: at(location),
        rpc_id: RpcId(id.into()),
        method: name("approve"),
        args: json("[7]"),
        deadline: None,
        schema: None,
    }
}

pub fn answered(location: &str, id: &str) -> RpcAnswered {
    RpcAnswered {
        location: at(location),
        rpc_id: RpcId(id.into()),
        answer: json("true"),
        by: None,
        dedup_id: None,
    }
}

pub fn fired(purpose: TimerPurpose, location: Option<&str>, due: Timestamp) -> TimerFired {
    TimerFired {
        purpose,
        location: location.map(at),
        due,
    }
}

pub fn execution_retried(attempt: u32) -> ExecutionRetried {
    ExecutionRetried {
        attempt,
        error: failure("no luck"),
        retry_at: time(300),
    }
}

pub fn cancel(reason: &str) -> CancelRequested {
    CancelRequested {
        by: Some("alice".to_owned()),
        reason: Some(reason.to_owned()),
        rollback: true,
    }
}

pub fn pause() -> PauseRequested {
    PauseRequested {
        by: Some("alice".to_owned()),
        reason: Some("maintenance".to_owned()),
    }
}

pub fn diverged(location: &str) -> Diverged {
    Diverged {
        location: Some(at(location)),
        error: Failure::new(ErrorCode::Diverged, "the journal holds another step"),
    }
}

pub fn child(location: &str, detached: bool) -> ChildStarted {
    ChildStarted {
        location: at(location),
        run: RunId::new("ship-1").unwrap(),
        workflow: name("ship"),
        input: Payload::null(),
        tags: Vec::new(),
        deadline: None,
        on_close: ParentClose::Cancel,
        detached,
        undo: UndoMode::None,
    }
}

/// Returns a journal with two undoable children at one location. The first was abandoned and
/// completed nevertheless.
pub fn two_children(location: &str) -> Journal {
    let child = |run: &str| ChildStarted {
        run: RunId::new(run).unwrap(),
        undo: UndoMode::Undo,
        ..child(location, false)
    };
    let finished = |run: &str| ChildFinished {
        run: Some(RunId::new(run).unwrap()),
        ..child_finished(location)
    };
    Journal::created()
        .with(child("ship-1"))
        .with(StepAbandoned {
            location: at(location),
            so_far: None,
        })
        .with(execution_retried(1))
        .with(finished("ship-1"))
        .with(child("ship-2"))
        .with(finished("ship-2"))
}

pub fn child_finished(location: &str) -> ChildFinished {
    ChildFinished {
        location: at(location),
        outcome: ChildOutcome::Completed(Payload::null()),
        run: None,
    }
}

pub fn advanced(
    location: &str,
    iteration: u64,
    done: bool,
    dropped: &[(u64, u64)],
) -> LoopAdvanced {
    let range = |&(first, last): &(u64, u64)| RecordRange {
        first: RecordNumber(first),
        last: RecordNumber(last),
    };
    LoopAdvanced {
        location: at(location),
        iteration,
        state: Payload::null(),
        done,
        folded: RecordNumber(0),
        resolved: 0,
        now: time(0),
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
        dropped: dropped.iter().map(range).collect(),
    }
}

pub fn completed() -> Completed {
    Completed {
        result: json("\"done\""),
        abandoned: Vec::new(),
    }
}

pub fn terminated(abandoned: &[&str]) -> Terminated {
    Terminated {
        by: None,
        reason: Some("stop".to_owned()),
        abandoned: abandoned.iter().map(|text| at(text)).collect(),
        next_generation: None,
    }
}
