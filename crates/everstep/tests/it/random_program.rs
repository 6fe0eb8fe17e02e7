//! Random workflows: programs as data, and the workflow that runs them and writes down everything it saw.
//!
//! A program is a sequence of operations, some of them joins or loops of further sequences. Whatever it calls and whatever it
//! gets back goes into a trace; two executions of one journal must have the same trace.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use everstep::{AnyEvent, Ctx, Error, Event, OneOf2, Result, Retry, Rpc, Timestamp, millis};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use crate::random_family::{FamilyOp, family, run_family};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Op {
    /// A step of that name that takes a while and fails so many times first.
    Step {
        name: u8,
        takes_ms: u16,
        failures: u8,
    },
    /// A step that gives its failure back as data.
    TryStep {
        name: u8,
        takes_ms: u16,
    },
    Sleep {
        name: u8,
        ms: u16,
    },
    Wait {
        event: u8,
        timeout_ms: Option<u16>,
    },
    Ask {
        timeout_ms: u16,
    },
    /// A step whose start is durable before it runs.
    Fenced {
        name: u8,
        takes_ms: u16,
    },
    /// A step that fails for good, and nobody minds.
    BestEffort {
        name: u8,
    },
    /// A sleep until so long after the last record, or before it.
    SleepUntil {
        name: u8,
        ms: i16,
    },
    /// A step that can be undone, after so many failed attempts to do so.
    Undoable {
        name: u8,
        takes_ms: u16,
        undo_failures: u8,
        internal: bool,
    },
    /// Undoes what is done and goes on.
    RollBack,
    NoReturn,
    /// Fails the whole function for good.
    Fail,
    /// Fails the whole function in its first pass.
    FailPass,
    Note,
    Row,
    Emit,
    Look,
    Version {
        change: u8,
    },
    Join(Vec<Vec<Op>>),
    /// So many iterations of a sequence, with so many kept.
    Loop {
        name: u8,
        times: u8,
        keep: u32,
        body: Vec<Op>,
    },
    /// The first of a step and an event; the other is dropped.
    Either {
        name: u8,
        takes_ms: u16,
        event: u8,
    },
    /// A step whose result takes effect before it is durable.
    Ephemeral {
        name: u8,
        takes_ms: u16,
    },
    /// Whichever event comes first.
    AnyEvent {
        timeout_ms: u16,
    },
    /// Up to so many events at once.
    Batch {
        max: u8,
        timeout_ms: u16,
    },
    /// An event, if one is there.
    TryEvent,
    /// Named branches, so many at once.
    Branches {
        at_once: u8,
        branches: Vec<Vec<Op>>,
    },
    /// Named branches of which the first counts.
    Race(Vec<Vec<Op>>),
    /// One of several branches.
    Switch {
        value: u8,
        cases: Vec<Vec<Op>>,
    },
    /// A part whose failure is data.
    TryScope(Vec<Op>),
    /// Something about other runs.
    Family(FamilyOp),
}

/// What happens from outside, and when.
#[derive(Clone, Debug)]
pub(crate) enum Happening {
    Send(u8),
    Answer,
    /// The process dies and another takes over.
    Crash,
}

fn simple() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (0u8..3, 0u16..40, prop_oneof![4 => Just(0u8), 1 => 1u8..3])
            .prop_map(|(name, takes_ms, failures)| Op::Step { name, takes_ms, failures }),
        1 => (0u8..3, 0u16..20).prop_map(|(name, takes_ms)| Op::TryStep { name, takes_ms }),
        2 => (0u8..3, 0u16..60).prop_map(|(name, ms)| Op::Sleep { name, ms }),
        2 => (0u8..2, prop_oneof![Just(None), (1u16..80).prop_map(Some)])
            .prop_map(|(event, timeout_ms)| Op::Wait { event, timeout_ms }),
        1 => (1u16..80).prop_map(|timeout_ms| Op::Ask { timeout_ms }),
        1 => (0u8..3, 0u16..20).prop_map(|(name, takes_ms)| Op::Fenced { name, takes_ms }),
        1 => (0u8..3).prop_map(|name| Op::BestEffort { name }),
        1 => (0u8..3, -20i16..40).prop_map(|(name, ms)| Op::SleepUntil { name, ms }),
        3 => (0u8..3, 0u16..30, prop_oneof![3 => Just(0u8), 1 => 1u8..3], any::<bool>())
            .prop_map(|(name, takes_ms, undo_failures, internal)| {
                Op::Undoable { name, takes_ms, undo_failures, internal }
            }),
        1 => Just(Op::RollBack),
        1 => Just(Op::NoReturn),
        1 => Just(Op::Fail),
        1 => Just(Op::FailPass),
        1 => Just(Op::Note),
        1 => Just(Op::Row),
        1 => Just(Op::Emit),
        1 => Just(Op::Look),
        1 => (0u8..2).prop_map(|change| Op::Version { change }),
        1 => (0u8..3, 0u16..40, 0u8..2)
            .prop_map(|(name, takes_ms, event)| Op::Either { name, takes_ms, event }),
        2 => (0u8..3, 0u16..20).prop_map(|(name, takes_ms)| Op::Ephemeral { name, takes_ms }),
        1 => (1u16..80).prop_map(|timeout_ms| Op::AnyEvent { timeout_ms }),
        1 => (1u8..4, 1u16..80).prop_map(|(max, timeout_ms)| Op::Batch { max, timeout_ms }),
        1 => Just(Op::TryEvent),
        3 => family().prop_map(Op::Family),
    ]
}

/// Operations made of sequences of operations.
fn composed(sequence: BoxedStrategy<Vec<Op>>) -> impl Strategy<Value = Op> {
    let sequences = proptest::collection::vec(sequence.clone(), 1..4);
    prop_oneof![
        2 => sequences.clone().prop_map(Op::Join),
        2 => (1u8..4, sequences.clone())
            .prop_map(|(at_once, branches)| Op::Branches { at_once, branches }),
        2 => sequences.clone().prop_map(Op::Race),
        1 => (0u8..4, sequences).prop_map(|(value, cases)| Op::Switch { value, cases }),
        1 => sequence.prop_map(Op::TryScope),
    ]
}

fn repeated(body: impl Strategy<Value = Op>) -> impl Strategy<Value = Op> {
    let body = proptest::collection::vec(body, 0..3);
    (0u8..2, 1u8..7, 0u32..3, body).prop_map(|(name, times, keep, body)| Op::Loop {
        name,
        times,
        keep,
        body,
    })
}

pub(crate) fn program() -> impl Strategy<Value = Vec<Op>> {
    let sequence = proptest::collection::vec(simple(), 0..4).boxed();
    let inner_loop = repeated(simple());
    let op = prop_oneof![3 => simple(), 1 => composed(sequence), 1 => inner_loop].boxed();
    let inner = proptest::collection::vec(op.clone(), 0..4).boxed();
    let outer_loop = repeated(op);
    let op = prop_oneof![3 => simple(), 2 => composed(inner), 1 => outer_loop];
    proptest::collection::vec(op, 1..6)
}

pub(crate) fn happenings(crashes: bool) -> impl Strategy<Value = Vec<(u16, Happening)>> {
    let happening = if crashes {
        prop_oneof![
            4 => (0u8..2).prop_map(Happening::Send),
            2 => Just(Happening::Answer),
            2 => Just(Happening::Crash),
        ]
        .boxed()
    } else {
        prop_oneof![4 => (0u8..2).prop_map(Happening::Send), 2 => Just(Happening::Answer)].boxed()
    };
    proptest::collection::vec((0u16..60, happening), 0..10)
}

#[derive(Serialize, Deserialize)]
struct Zero(u32);
impl Event for Zero {
    const NAME: &'static str = "zero";
}

#[derive(Serialize, Deserialize)]
struct One(u32);
impl Event for One {
    const NAME: &'static str = "one";
}

pub(crate) fn event_name(event: u8) -> &'static str {
    if event == 0 { Zero::NAME } else { One::NAME }
}

#[derive(Serialize)]
struct Ask;
impl Rpc for Ask {
    const METHOD: &'static str = "ask";
    type Answer = u32;
}

/// What marks results in a trace that may have been seen before they were durable.
pub(crate) const EARLY: &str = " early";

/// The traces of all executions so far, and how often the work of each step was done.
#[derive(Clone, Default)]
pub(crate) struct Witness(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    /// With the pass of the function each belongs to.
    traces: Vec<(u32, Vec<String>)>,
    completed: HashMap<String, u32>,
    attempts: HashMap<String, u32>,
    /// What was undone, as often as that was done, in the order it was done.
    undone: Vec<String>,
}

impl Witness {
    fn begin(&self, pass: u32) -> Trace {
        let mut seen = self.0.lock().unwrap();
        seen.traces.push((pass, Vec::new()));
        Trace {
            witness: self.clone(),
            index: seen.traces.len() - 1,
        }
    }

    pub(crate) fn traces(&self) -> Vec<(u32, Vec<String>)> {
        self.0.lock().unwrap().traces.clone()
    }

    /// How often the work at a place ran to its end.
    pub(crate) fn completions(&self) -> HashMap<String, u32> {
        self.0.lock().unwrap().completed.clone()
    }
}

impl Witness {
    pub(crate) fn undone(&self) -> Vec<String> {
        self.0.lock().unwrap().undone.clone()
    }

    /// Undoes the work of a place, after so many failures.
    pub(crate) fn undo(&self, output: &str, failures: u8) -> Result<()> {
        let mut seen = self.0.lock().unwrap();
        let attempts = seen.attempts.entry(format!("undo {output}")).or_default();
        *attempts += 1;
        if *attempts <= u32::from(failures) {
            return Err(Error::new("it cannot be undone yet"));
        }
        seen.undone.push(output.to_owned());
        Ok(())
    }
}

#[derive(Clone)]
struct Trace {
    witness: Witness,
    index: usize,
}

impl Trace {
    fn saw(&self, what: String) {
        self.witness.0.lock().unwrap().traces[self.index]
            .1
            .push(what);
    }
}

/// The workflow that runs a program. It returns its own trace, without what happened in loops: a replay does not see all
/// of that again.
pub(crate) async fn run_program(
    ctx: Ctx<AnyEvent>,
    program: Vec<Op>,
    witness: Witness,
) -> Result<Vec<String>> {
    let trace = witness.begin(ctx.metadata().attempt);
    run_sequence(&ctx, &program, &trace, "r".to_owned()).await?;
    trace.saw("end".to_owned());
    let mut traces = witness.traces();
    let mut own = traces.swap_remove(trace.index).1;
    own.retain(|line| !line.contains('~'));
    Ok(own)
}

fn run_sequence<'a>(
    ctx: &'a Ctx<AnyEvent>,
    ops: &'a [Op],
    trace: &'a Trace,
    path: String,
) -> std::pin::Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>> {
    Box::pin(async move {
        for (index, op) in ops.iter().enumerate() {
            let place = format!("{path}.{index}");
            trace.saw(format!("{place} calls"));
            let result = run_op(ctx, op, trace, &place).await?;
            trace.saw(format!("{place} = {result}"));
        }
        Ok(())
    })
}

async fn run_op(ctx: &Ctx<AnyEvent>, op: &Op, trace: &Trace, place: &str) -> Result<String> {
    Ok(match op {
        Op::Step {
            name,
            takes_ms,
            failures,
        } => {
            let value: String = ctx
                .step(&format!("s{name}"), || {
                    work(trace, place, *takes_ms, *failures)
                })
                .retry(Retry::constant(5, millis(7)))
                .await?;
            value
        }
        Op::TryStep { name, takes_ms } => {
            let tried: Result<String, _> = ctx
                .try_step(&format!("s{name}"), || {
                    work(trace, place, *takes_ms, u8::MAX)
                })
                .with(|step| step.retry(Retry::constant(1, millis(3))))
                .await?;
            format!("{:?}", tried.map_err(|failure| failure.error.message))
        }
        Op::Sleep { name, ms } => {
            ctx.sleep(&format!("n{name}"), millis(u64::from(*ms)))
                .await?;
            "slept".to_owned()
        }
        Op::Wait { event, timeout_ms } => wait(ctx, *event, timeout_ms.unwrap_or(200)).await?,
        Op::Ask { timeout_ms } => {
            format!(
                "{:?}",
                ctx.rpc(Ask).timeout(millis(u64::from(*timeout_ms))).await?
            )
        }
        Op::Fenced { name, takes_ms } => {
            ctx.step(&format!("s{name}"), || work(trace, place, *takes_ms, 0))
                .fenced()
                .await?
        }
        Op::BestEffort { name } => {
            let step = ctx
                .step(&format!("s{name}"), || work(trace, place, 0, u8::MAX))
                .retry(Retry::none());
            format!("{:?}", step.best_effort().await?)
        }
        Op::SleepUntil { name, ms } => {
            let now = i128::from(ctx.now().as_millis()) + i128::from(*ms);
            let until = Timestamp::from_millis(u64::try_from(now).unwrap());
            ctx.sleep_until(&format!("n{name}"), until).await?;
            "slept".to_owned()
        }
        Op::Undoable {
            name,
            takes_ms,
            undo_failures,
            internal,
        } => {
            let (witness, failures) = (trace.witness.clone(), *undo_failures);
            let step = ctx
                .step(&format!("s{name}"), || work(trace, place, *takes_ms, 0))
                .undo(move |output: String| async move { witness.undo(&output, failures) })
                .undo_retry(Retry::constant(3, millis(6)));
            if *internal {
                step.undo_internal().await?
            } else {
                step.await?
            }
        }
        Op::RollBack => {
            ctx.rollback().await?;
            "rolled back".to_owned()
        }
        Op::NoReturn => {
            ctx.no_return();
            "no return".to_owned()
        }
        Op::Fail => return Err(Error::fatal(format!("{place} fails the run"))),
        Op::FailPass => {
            let pass = ctx.metadata().attempt;
            if pass == 1 {
                return Err(Error::new("the first pass fails"));
            }
            "passed".to_owned()
        }
        Op::Note => {
            ctx.note(place);
            "noted".to_owned()
        }
        Op::Row => {
            ctx.set_row("rows", place, &1)?;
            "set".to_owned()
        }
        Op::Emit => {
            ctx.emit("topic", &place)?;
            "emitted".to_owned()
        }
        Op::Look => format!("{} {} {}", ctx.now(), ctx.random(), ctx.uuid()),
        Op::Family(op) => run_family(ctx, op, place, &trace.witness).await?,
        Op::Version { change } => format!("v{}", ctx.version(&format!("c{change}"), 3)?),
        Op::Join(branches) => {
            let sequences = branches
                .iter()
                .enumerate()
                .map(|(index, ops)| run_sequence(ctx, ops, trace, format!("{place}/{index}")));
            for result in futures_util::future::join_all(sequences).await {
                result?;
            }
            "joined".to_owned()
        }
        Op::Loop {
            name,
            times,
            keep,
            body,
        } => {
            let iteration = |ctx: Ctx<AnyEvent>, n: u8| {
                let path = format!("{place}~{n}");
                async move {
                    run_sequence(&ctx, body, trace, path).await?;
                    Ok(if n + 1 >= *times {
                        ControlFlow::Break(n)
                    } else {
                        ControlFlow::Continue(n + 1)
                    })
                }
            };
            let looped = ctx.repeat(&format!("l{name}"), 0, iteration).keep(*keep);
            format!("{}", looped.await?)
        }
        Op::Either {
            name,
            takes_ms,
            event,
        } => {
            let step = ctx.step(&format!("s{name}"), || work(trace, place, *takes_ms, 0));
            tokio::select! {
                biased;
                value = step => value?,
                event = wait(ctx, *event, 500) => event?,
            }
        }
        Op::Ephemeral { name, takes_ms } => {
            ctx.step(&format!("s{name}"), || early_work(trace, place, *takes_ms))
                .ephemeral()
                .await?
        }
        Op::AnyEvent { timeout_ms } => {
            let timeout = millis(u64::from(*timeout_ms));
            match ctx.any_event::<(Zero, One)>().timeout(timeout).await? {
                Some(OneOf2::A(Zero(n))) => format!("zero {n}"),
                Some(OneOf2::B(One(n))) => format!("one {n}"),
                None => "no event".to_owned(),
            }
        }
        Op::Batch { max, timeout_ms } => {
            let timeout = millis(u64::from(*timeout_ms));
            let batch = ctx.events::<Zero>(u32::from(*max)).timeout(timeout).await?;
            format!("{:?}", batch.iter().map(|zero| zero.0).collect::<Vec<_>>())
        }
        Op::TryEvent => format!("{:?}", ctx.try_event::<One>().await?.map(|one| one.0)),
        Op::Branches { .. } | Op::Race(_) | Op::Switch { .. } | Op::TryScope(_) => {
            run_composed(ctx, op, trace, place).await?
        }
    })
}

/// Runs an operation whose parts have scopes of their own.
fn run_composed<'a>(
    ctx: &'a Ctx<AnyEvent>,
    op: &'a Op,
    trace: &'a Trace,
    place: &'a str,
) -> std::pin::Pin<Box<dyn Future<Output = Result<String>> + Send + 'a>> {
    let part = move |ctx: Ctx, index: usize, ops: &'a [Op]| async move {
        run_sequence(&ctx, ops, trace, format!("{place}/{index}")).await?;
        Ok(index)
    };
    Box::pin(async move {
        Ok(match op {
            Op::Branches { at_once, branches } => {
                let items = branches.iter().enumerate();
                let each = ctx.for_each("b", items, move |ctx, (index, ops)| part(ctx, index, ops));
                format!("{:?}", each.concurrency(usize::from(*at_once)).await?)
            }
            Op::Race(branches) => {
                // As with switches: those of a name have the same branches.
                let name = format!("first{}", branches.len());
                let items = branches.iter().enumerate();
                let race = ctx.race(&name).branches(
                    items,
                    |(index, _)| format!("b{index}"),
                    move |ctx, (index, ops)| part(ctx, index, ops),
                );
                race.await?.winner
            }
            Op::Switch { value, cases } => {
                // A second pass may find another switch in this place: those of a name offer the same.
                let name = format!("among{}", cases.len());
                let mut switch = ctx.switch(&name, value.to_string());
                for (index, ops) in cases.iter().enumerate() {
                    switch = switch.case(&index.to_string(), move |ctx| part(ctx, index, ops));
                }
                let chosen = switch.default(|_| async { Ok(usize::MAX) }).await?;
                format!("case {chosen}")
            }
            Op::TryScope(ops) => {
                let tried = ctx.try_scope("t", move |ctx| part(ctx, 0, ops)).await?;
                format!("{:?}", tried.map_err(|error| error.to_string()))
            }
            _ => unreachable!("simple operations have no parts"),
        })
    })
}

async fn wait(ctx: &Ctx<AnyEvent>, event: u8, timeout_ms: u16) -> Result<String> {
    let timeout = millis(u64::from(timeout_ms));
    Ok(if event == 0 {
        format!(
            "{:?}",
            ctx.event::<Zero>()
                .timeout(timeout)
                .await?
                .map(|event| event.0)
        )
    } else {
        format!(
            "{:?}",
            ctx.event::<One>()
                .timeout(timeout)
                .await?
                .map(|event| event.0)
        )
    })
}

/// The work of an ephemeral step.
async fn early_work(trace: &Trace, place: &str, takes_ms: u16) -> Result<String> {
    let done = work(trace, place, takes_ms, 0).await?;
    Ok(format!("{done}{EARLY}"))
}

/// The work of a step. Each time it is done it gives something else, so that what was done twice is seen.
async fn work(trace: &Trace, place: &str, takes_ms: u16, failures: u8) -> Result<String> {
    let attempt = {
        let mut seen = trace.witness.0.lock().unwrap();
        let attempts = seen.attempts.entry(place.to_owned()).or_default();
        *attempts += 1;
        *attempts
    };
    if takes_ms > 0 {
        tokio::time::sleep(Duration::from_millis(u64::from(takes_ms))).await;
    }
    if attempt <= u32::from(failures) {
        return Err(Error::new(format!("{place} fails")));
    }
    let mut seen = trace.witness.0.lock().unwrap();
    let times = seen.completed.entry(place.to_owned()).or_default();
    *times += 1;
    Ok(format!("{place} done {times}"))
}
