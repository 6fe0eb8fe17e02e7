//! Random journals of every kind of record. They use few locations and numbers, so that records
//! interact.

use std::sync::LazyLock;

use everstep_model::record::*;
use everstep_model::{Body, RpcId, RunId, UndoMode};
use proptest::prelude::*;

use everstep_samples::*;

/// The random parts of a record.
#[derive(Clone, Debug)]
struct Draw {
    location: String,
    number: u32,
    flag: bool,
    kind: usize,
    /// The child that an undo is for; `None` for a step.
    child: Option<RunId>,
}

impl Draw {
    fn sample() -> Self {
        Self {
            location: "a:0".to_owned(),
            number: 1,
            flag: true,
            kind: 0,
            child: None,
        }
    }
}

/// A record of any kind.
pub(crate) fn any_body() -> impl Strategy<Value = Body> {
    let paths = vec![
        "a:0",
        "b:0",
        "b:1",
        "fan/x/a:0",
        "fan/y/a:0",
        "each/~0/a:0",
        "each/~1/a:0",
    ];
    let location = proptest::sample::select(paths);
    let child = proptest::sample::select(vec![None, Some("ship-1"), Some("ship-2")]);
    let kinds = 0..Body::TYPE_NAMES.len();
    let fields = (location, 0u32..4, any::<bool>(), kinds, child);
    fields.prop_map(|(location, number, flag, kind, child)| {
        let draw = Draw {
            location: location.to_owned(),
            number,
            flag,
            kind,
            child: child.map(|id| RunId::new(id).unwrap()),
        };
        match FIXED.get(draw.kind) {
            Some(body) => body.clone(),
            None => drawn(&draw).swap_remove(draw.kind - FIXED.len()),
        }
    })
}

/// Kinds that interact with others.
fn drawn(draw: &Draw) -> Vec<Body> {
    [inbox(draw), operations(draw), rest(draw)].concat()
}

/// All other kinds; these are not random.
static FIXED: LazyLock<Vec<Body>> = LazyLock::new(|| {
    let drawn = drawn(&Draw::sample());
    let is_drawn = |body: &Body| drawn.iter().any(|drawn| drawn.tag() == body.tag());
    let all = one_of_each().into_iter().map(|record| record.body);
    all.filter(|body| !is_drawn(body)).collect()
});

/// A journal of random records. Most begin with `created` and do not end after a few records.
pub(crate) fn any_journal() -> impl Strategy<Value = Journal> {
    let body = prop_oneof![20 => any_open_body(), 1 => any_body()];
    let bodies = proptest::collection::vec(body, 0..40);
    (bodies, proptest::bool::weighted(0.9)).prop_map(|(bodies, begins)| {
        let journal = if begins {
            Journal::created()
        } else {
            Journal::default()
        };
        journal.with_all(bodies)
    })
}

/// A journal of a run that has not ended.
pub(crate) fn any_open_journal() -> impl Strategy<Value = Journal> {
    let bodies = proptest::collection::vec(any_open_body(), 0..40);
    bodies.prop_map(|bodies| Journal::created().with_all(bodies))
}

pub(crate) fn any_open_body() -> impl Strategy<Value = Body> {
    any_body().prop_filter("does not end the run", |body| body.terminal().is_none())
}

fn inbox(draw: &Draw) -> Vec<Body> {
    let path = draw.location.as_str();
    let purposes = [
        TimerPurpose::Sleep,
        TimerPurpose::Wait,
        TimerPurpose::Rpc,
        TimerPurpose::Retry,
        TimerPurpose::ExecutionRetry,
        TimerPurpose::Deadline,
        TimerPurpose::Child,
        TimerPurpose::Undo,
    ];
    let purpose = purposes[draw.number as usize * 2 + usize::from(draw.flag)];
    vec![
        created().into(),
        event(if draw.flag { "yes" } else { "no" }).into(),
        answered(path, &format!("rpc_{}", draw.number)).into(),
        fired(
            purpose,
            (draw.number > 0).then_some(path),
            time(100 * u64::from(draw.number)),
        )
        .into(),
        ChildFinished {
            run: draw.child.clone(),
            ..child_finished(path)
        }
        .into(),
        pause().into(),
        ResumeRequested { by: None }.into(),
        cancel("no").into(),
        terminated(&[path]).into(),
        StepSkipped {
            location: at(path),
            result: json("0"),
            by: None,
            so_far: None,
        }
        .into(),
        StepEdited {
            location: at(path),
            result: json("1"),
            by: None,
            so_far: None,
        }
        .into(),
        ForcedFailure {
            location: draw.flag.then(|| at(path)),
            error: failure("forced"),
            by: None,
            so_far: None,
        }
        .into(),
        DeadlinePassed { deadline: time(9) }.into(),
        Data {
            bytes: b"message".to_vec().into(),
            ends: draw.flag,
        }
        .into(),
    ]
}

fn operations(draw: &Draw) -> Vec<Body> {
    let path = draw.location.as_str();
    let (location, branch) = (at(path), name("x"));
    let outcomes = [
        FailureOutcome::Retrying,
        FailureOutcome::Exhausted,
        FailureOutcome::Fatal,
        FailureOutcome::TimedOut,
    ];
    let outcome = outcomes[draw.number as usize % outcomes.len()];
    let numbers = [u64::from(draw.number) + 1, u64::from(draw.number) + 5];
    let dropped = [(numbers[0], numbers[1])];
    vec![
        started(path, draw.number).into(),
        StepCompleted {
            sensitive: draw.flag,
            ..completed_step(path, draw.number, "2")
        }
        .into(),
        failed_step(path, draw.number, outcome).into(),
        StepAbandoned {
            location: location.clone(),
            so_far: None,
        }
        .into(),
        sleeping(path).into(),
        waiting(path, if draw.flag { &["yes"] } else { &["yes", "no"] }).into(),
        took(path, &numbers).into(),
        WaitTimedOut {
            location: location.clone(),
        }
        .into(),
        asked(path, &format!("rpc_{}", draw.number)).into(),
        RpcCompleted {
            location: location.clone(),
            rpc_id: RpcId("rpc_1".into()),
            timed_out: draw.flag,
            deadline: None,
        }
        .into(),
        BranchesStarted {
            location: at("fan:0"),
            kind: BranchesKind::Race,
            branches: vec![name("x"), name("y")],
        }
        .into(),
        BranchCompleted {
            location: at("fan:0"),
            branch: branch.clone(),
        }
        .into(),
        BranchFailed {
            location: at("fan:0"),
            branch: branch.clone(),
            error: failure("x"),
        }
        .into(),
        RaceWon {
            location: at("fan:0"),
            winner: branch.clone(),
        }
        .into(),
        advanced(
            "each:0",
            numbers[0],
            draw.flag,
            if draw.flag { &dropped } else { &[] },
        )
        .into(),
        SwitchChosen { location, branch }.into(),
        ChildStarted {
            run: draw.child.clone().unwrap_or(RunId::new("ship-1").unwrap()),
            undo: match draw.number {
                0 => UndoMode::None,
                1 => UndoMode::Internal,
                _ => UndoMode::Undo,
            },
            ..child(path, draw.flag)
        }
        .into(),
    ]
}

fn rest(draw: &Draw) -> Vec<Body> {
    let location = at(&draw.location);
    let attempt = draw.number;
    let reason = draw.flag.then(|| failure("parked"));
    vec![
        Removed {
            location: location.clone(),
            kind: "sleeping".to_owned(),
        }
        .into(),
        NoReturn {
            location: location.clone(),
        }
        .into(),
        UndoStarted {
            location: location.clone(),
            attempt,
            run: draw.child.clone(),
            ends_run: false,
        }
        .into(),
        UndoCompleted {
            location: location.clone(),
            attempt,
            run: draw.child.clone(),
        }
        .into(),
        UndoFailed {
            location: location.clone(),
            attempt,
            error: failure("undo"),
            retry_at: draw.flag.then(|| time(50)),
            run: draw.child.clone(),
        }
        .into(),
        UndoSkipped {
            location: location.clone(),
            run: draw.child.clone(),
            ends_run: false,
        }
        .into(),
        Paused { reason }.into(),
        Resumed {}.into(),
        diverged(&draw.location).into(),
        execution_retried(attempt).into(),
        completed().into(),
        Failed {
            error: failure("f"),
            rolled_back: draw.flag,
            abandoned: vec![location],
            caused_by: Vec::new(),
        }
        .into(),
        RollbackFailed {
            error: failure("f"),
            rollback_error: failure("r"),
            abandoned: Vec::new(),
        }
        .into(),
        Cancelled {
            reason: None,
            rolled_back: draw.flag,
            abandoned: Vec::new(),
        }
        .into(),
    ]
}

#[test]
fn random_records_cover_every_kind_once() {
    let mut bodies = [drawn(&Draw::sample()), FIXED.clone()].concat();
    bodies.sort_by_key(Body::tag);
    let kinds: Vec<_> = bodies.iter().map(Body::type_name).collect();
    assert_eq!(kinds, Body::TYPE_NAMES);
}
