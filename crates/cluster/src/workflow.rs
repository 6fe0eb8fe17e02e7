//! The workflow that executes a program. Every attempt of a step records an effect in the ledger of
//! its process.

use std::future::Future;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use everstep::operation::StepContext;
use everstep::schemars::{self, JsonSchema};
use everstep::{
    AnyEvent, Ctx, EngineBuilder, Error, Event, Options, Payload, Result, Retry, Workflows, millis,
};
use futures_util::future::join_all;
use serde::{Deserialize, Serialize};

use crate::ledger::{Effect, EffectKind, Ledger};
use crate::program::{Op, Program, child_id, location, value};

pub(crate) const PROGRAM: &str = "program";

/// The event that clients send, numbered from 1.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Token(pub(crate) u64);

impl Event for Token {
    const NAME: &'static str = "token";
}

pub(crate) fn register(builder: EngineBuilder, ledger: Arc<Ledger>) -> EngineBuilder {
    builder.workflows(Workflows::new().function_with(
        PROGRAM,
        Options::new(),
        move |ctx, program: Program| run(ctx, program, ledger.clone()),
    ))
}

/// Executes the program without recording effects, for replays.
pub(crate) async fn run_without_effects(
    ctx: Ctx<AnyEvent>,
    program: Program,
) -> Result<Vec<String>> {
    run(ctx, program, Arc::new(Ledger::discarding())).await
}

async fn run(ctx: Ctx<AnyEvent>, program: Program, ledger: Arc<Ledger>) -> Result<Vec<String>> {
    let interpreter = Interpreter {
        run: ctx.metadata().id.to_string(),
        undoes: program.fails,
        ledger,
    };
    let all = interpreter
        .sequence(&ctx, &program.ops, "r".to_owned())
        .await?;
    match program.fails {
        true => Err(Error::fatal("the program fails at its end")),
        false => Ok(all),
    }
}

/// The interpreter of one run.
struct Interpreter {
    run: String,
    /// Whether the steps register an undo.
    undoes: bool,
    ledger: Arc<Ledger>,
}

type Boxed<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

impl Interpreter {
    fn sequence<'a>(
        &'a self,
        ctx: &'a Ctx<AnyEvent>,
        ops: &'a [Op],
        path: String,
    ) -> Boxed<'a, Vec<String>> {
        Box::pin(async move {
            let mut all = Vec::new();
            for (index, op) in ops.iter().enumerate() {
                all.extend(self.operation(ctx, op, location(&path, index)).await?);
            }
            Ok(all)
        })
    }

    async fn operation(
        &self,
        ctx: &Ctx<AnyEvent>,
        op: &Op,
        location: String,
    ) -> Result<Vec<String>> {
        Ok(match op {
            Op::Step { takes_ms, failures } => {
                vec![self.step(ctx, &location, *takes_ms, *failures).await?]
            }
            Op::Fenced { takes_ms } => {
                let work = |step| self.work(EffectKind::Fenced, step, &location, *takes_ms, 0);
                let step = ctx.step_with(&location, work).retry(retry());
                vec![step.fenced().await?]
            }
            Op::Sleep { ms } => {
                self.record_time(ctx, format!("{location}-before")).await?;
                ctx.sleep(&location, millis(*ms)).await?;
                self.record_time(ctx, format!("{location}-after")).await?;
                Vec::new()
            }
            Op::Child(ops) => {
                let program = Program {
                    ops: ops.clone(),
                    fails: false,
                };
                let input = Payload::from_value(&program)?;
                let child = ctx.child_by_name(PROGRAM, input).name(&location);
                child.id(child_id(&self.run, &location)).await?.decode()?
            }
            Op::Event => {
                let Token(token) = ctx.event::<Token>().await?;
                vec![format!("token {token}")]
            }
            Op::Join(parts) => {
                let each = parts.iter().enumerate();
                let all = each.map(|(n, ops)| self.sequence(ctx, ops, format!("{location}-{n}")));
                let all = join_all(all).await.into_iter().collect::<Result<Vec<_>>>();
                all?.into_iter().flatten().collect()
            }
            Op::Loop { times } => vec![self.repeat(ctx, &location, *times).await?],
        })
    }

    async fn step(
        &self,
        ctx: &Ctx<AnyEvent>,
        location: &str,
        takes_ms: u64,
        failures: u32,
    ) -> Result<String> {
        let work = |step| self.work(EffectKind::Step, step, location, takes_ms, failures);
        let step = ctx.step_with(location, work).retry(retry());
        if !self.undoes {
            return step.await;
        }
        let (ledger, run) = (self.ledger.clone(), self.run.clone());
        let undo = move |done: String| async move {
            ledger.write(&Effect {
                kind: EffectKind::Undo,
                run,
                location: done,
                attempt: 0,
                key: String::new(),
            });
            Ok::<_, Error>(())
        };
        step.undo(undo).undo_retry(retry()).await
    }

    /// Executes a step that only records when it began.
    async fn record_time(&self, ctx: &Ctx<AnyEvent>, location: String) -> Result<String> {
        let work = |step| self.work(EffectKind::Step, step, &location, 0, 0);
        ctx.step_with(&location, work).retry(retry()).await
    }

    async fn repeat(&self, ctx: &Ctx<AnyEvent>, location: &str, times: u32) -> Result<String> {
        let iteration = |ctx: Ctx<AnyEvent>, n: u32| async move {
            self.step(&ctx, &format!("{location}i{n}"), 20, 0).await?;
            Ok(match n + 1 >= times {
                true => ControlFlow::Break(n + 1),
                false => ControlFlow::Continue(n + 1),
            })
        };
        let done = ctx.repeat(location, 0, iteration).keep(1).await?;
        Ok(format!("{done} times {location}"))
    }

    fn work(
        &self,
        kind: EffectKind,
        step: StepContext,
        location: &str,
        takes_ms: u64,
        failures: u32,
    ) -> impl Future<Output = Result<String>> + Send + 'static {
        let effect = Effect {
            kind,
            run: self.run.clone(),
            location: location.to_owned(),
            attempt: step.attempt,
            key: step.idempotency_key(),
        };
        let ledger = self.ledger.clone();
        async move {
            ledger.write(&effect);
            tokio::time::sleep(Duration::from_millis(takes_ms)).await;
            match effect.attempt <= failures {
                true => Err(Error::new("it does not work yet")),
                false => Ok(value(&effect.run, &effect.location)),
            }
        }
    }
}

fn retry() -> Retry {
    Retry::constant(5, millis(150))
}
