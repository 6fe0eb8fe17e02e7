//! The workflow that executes a program. Its behaviour follows from its program and its journal
//! alone; it reports to the environment, which cannot influence it.

use std::ops::ControlFlow;
use std::pin::Pin;

use everstep::operation::{OneOf2, RunMetadata, StepContext, Undo};
use everstep::{AnyEvent, Ctx, Error, Event as _, Payload, Result, Retry, RunId, millis};
use futures_util::future::join_all;

use super::clients::COLLECTOR;
use super::env::Env;
use super::workflows::{Ask, Item, Ping, Pong};
use crate::program::{How, Op, Seen};

type Boxed<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// Executes a program and returns the results of its operations.
pub async fn run_program(ctx: Ctx<AnyEvent>, program: Vec<Op>, env: Env) -> Result<Vec<Seen>> {
    run_sequence(&ctx, &program, &env, "r".to_owned()).await
}

fn run_sequence<'a>(
    ctx: &'a Ctx<AnyEvent>,
    ops: &'a [Op],
    env: &'a Env,
    path: String,
) -> Boxed<'a, Vec<Seen>> {
    Box::pin(async move {
        let mut seen = Vec::with_capacity(ops.len());
        for (index, op) in ops.iter().enumerate() {
            let location = format!("{path}.{index}");
            env.record_call(op.name());
            seen.push(run_op(ctx, op, env, &location).await?);
        }
        Ok(seen)
    })
}

async fn run_op(ctx: &Ctx<AnyEvent>, op: &Op, env: &Env, location: &str) -> Result<Seen> {
    Ok(match op {
        Op::Step {
            how,
            takes_ms,
            failures,
        } => Seen::Did(run_step(ctx, (*how, *takes_ms, *failures), env, location).await?),
        Op::Sleep { ms } => {
            ctx.sleep(location, millis(*ms)).await?;
            Seen::Nothing
        }
        Op::Wait { .. } | Op::WaitAny { .. } | Op::Batch { .. } | Op::TryEvent => {
            Seen::Events(run_wait(ctx, op).await?)
        }
        Op::Ask { timeout_ms } => Seen::Answer(ctx.rpc(Ask).timeout(millis(*timeout_ms)).await?),
        Op::Child { .. } | Op::Detached { .. } => run_child(ctx, op, env, location).await?,
        Op::Send => {
            let item = Payload::from_value(&Item(Some(ctx.random())))?;
            ctx.send_by_name(COLLECTOR, Item::NAME, item)?;
            Seen::Nothing
        }
        Op::Version => Seen::Version(ctx.version("change", 3)?),
        Op::Note => {
            ctx.note(location);
            Seen::Nothing
        }
        Op::Emit => {
            ctx.emit("topic", &location)?;
            Seen::Nothing
        }
        Op::RollBack => {
            ctx.rollback().await?;
            Seen::Nothing
        }
        Op::NoReturn => {
            ctx.no_return();
            Seen::Nothing
        }
        Op::Fail => return Err(Error::fatal(format!("{location} fails the run"))),
        Op::FailPass if ctx.metadata().attempt == 1 => {
            return Err(Error::new("the first pass fails"));
        }
        Op::FailPass => Seen::Nothing,
        Op::Join(_)
        | Op::Each { .. }
        | Op::Race(_)
        | Op::Switch { .. }
        | Op::TryScope(_)
        | Op::Loop { .. } => run_composed(ctx, op, env, location).await?,
    })
}

/// Returns the value of the step at a location. No two locations have the same value.
pub(crate) fn value_of(run: &str, location: &str) -> String {
    format!("{run} {location}")
}

async fn run_step(
    ctx: &Ctx<AnyEvent>,
    (how, takes_ms, failures): (How, u64, u32),
    env: &Env,
    location: &str,
) -> Result<Option<String>> {
    if how == How::Tried {
        let hopeless = || async {
            env.work(takes_ms).await;
            Err::<String, _>(Error::new("it never works"))
        };
        let tried = ctx.try_step(location, hopeless);
        let tried = tried.with(|step| step.retry(Retry::constant(1, millis(100))));
        return Ok(tried.await?.ok());
    }
    let run = ctx.metadata();
    let work = |step: StepContext| {
        let (env, run, location) = (env.clone(), run.clone(), location.to_owned());
        async move {
            let attempts = env.begin_attempt(&run, &location, how, &step);
            let too_slow = how == How::TimesOut && attempts <= failures;
            env.work(if too_slow { 5_000 } else { takes_ms }).await;
            let is_hopeless = how == How::BestEffort;
            if is_hopeless || attempts <= failures {
                return Err(Error::new("it does not work yet"));
            }
            Ok(value_of(run.id.as_str(), &location))
        }
    };
    let retry = Retry::constant(4, millis(300));
    let step = ctx.step_with(location, work).retry(retry);
    let value = match how {
        How::Plain | How::Tried => step.await?,
        How::Fenced => step.fenced().await?,
        How::Ephemeral => return Ok(Some(step.ephemeral().await?)),
        How::NoReturn => step.no_return().await?,
        How::TimesOut => step.timeout(millis(4_000)).retry_timeouts().await?,
        How::Undoable => {
            let (env, run) = (env.clone(), run.clone());
            let undo = move |value: String| async move { undo(&env, &run, &value, None).await };
            step.undo(undo).undo_retry(retry).await?
        }
        How::BestEffort => return step.retry(Retry::none()).best_effort().await,
    };
    env.observe_result(&run, &value);
    Ok(Some(value))
}

/// Undoes a step or a child by its value. Some undos take long enough for another node to take over
/// meanwhile.
async fn undo(env: &Env, run: &RunMetadata, value: &str, child: Option<&RunId>) -> Result<()> {
    let which = value.bytes().map(usize::from).sum::<usize>() % 3;
    let takes_ms = [0, 300, 2_000].get(which);
    env.work(takes_ms.copied().unwrap_or_default()).await;
    match env.undo(run, value, child) {
        true => Ok(()),
        false => Err(Error::new("it cannot be undone yet")),
    }
}

async fn run_wait(ctx: &Ctx<AnyEvent>, op: &Op) -> Result<Vec<u64>> {
    let one = |token: Option<u64>| token.into_iter().collect();
    Ok(match op {
        Op::Wait { pong, timeout_ms } if *pong => {
            let event = ctx.event::<Pong>().timeout(millis(*timeout_ms)).await?;
            one(event.map(|pong| pong.0))
        }
        Op::Wait { timeout_ms, .. } => {
            let event = ctx.event::<Ping>().timeout(millis(*timeout_ms)).await?;
            one(event.map(|ping| ping.0))
        }
        Op::WaitAny { timeout_ms } => {
            let any = ctx.any_event::<(Ping, Pong)>().timeout(millis(*timeout_ms));
            one(any.await?.map(|event| match event {
                OneOf2::A(Ping(token)) | OneOf2::B(Pong(token)) => token,
            }))
        }
        Op::Batch { max, timeout_ms } => {
            let batch = ctx
                .events::<Ping>(*max)
                .timeout(millis(*timeout_ms))
                .await?;
            batch.into_iter().map(|ping| ping.0).collect()
        }
        _ => one(ctx.try_event::<Pong>().await?.map(|pong| pong.0)),
    })
}

/// Each child has a name of its own. Locations with the same name are numbered in the order of
/// calls, which depends on timing in a plain join, and a further pass of the function takes over
/// results by location.
async fn run_child(ctx: &Ctx<AnyEvent>, op: &Op, env: &Env, location: &str) -> Result<Seen> {
    let (takes_ms, fails, timeout_ms, can_be_undone) = match op {
        Op::Child {
            takes_ms,
            fails,
            timeout_ms,
            undo,
        } => (*takes_ms, *fails, *timeout_ms, *undo),
        Op::Detached { takes_ms } => (*takes_ms, false, None, false),
        _ => return Ok(Seen::Nothing),
    };
    let child = ctx.child_by_name("leaf", Payload::from_value(&(takes_ms, fails))?);
    let mut child = child.name(location);
    if can_be_undone {
        let (env, run) = (env.clone(), ctx.metadata());
        let value = value_of(run.id.as_str(), location);
        let undo = move |what: Undo<Payload>| async move {
            undo(&env, &run, &value, what.child.as_ref()).await
        };
        let retry = Retry::constant(4, millis(300));
        child = child.undo_with(undo).undo_retry(retry);
    }
    if matches!(op, Op::Detached { .. }) {
        child.detach().await?;
        return Ok(Seen::Nothing);
    }
    let ended = match timeout_ms {
        Some(timeout_ms) => child.timeout(millis(timeout_ms)).await,
        None => child.await.map(Some),
    };
    match ended {
        Ok(None) => Ok(Seen::Child(Ok(None))),
        Ok(Some(result)) => Ok(Seen::Child(Ok(Some(result.decode()?)))),
        Err(error) => match error.child_failure() {
            Some(child) => Ok(Seen::Child(Err(child.error.to_string()))),
            None => Err(error),
        },
    }
}

/// Executes an operation that consists of sequences.
fn run_composed<'a>(
    ctx: &'a Ctx<AnyEvent>,
    op: &'a Op,
    env: &'a Env,
    location: &'a str,
) -> Boxed<'a, Seen> {
    let part = move |ctx: Ctx<AnyEvent>, index: usize, ops: &'a [Op]| async move {
        let seen = run_sequence(&ctx, ops, env, format!("{location}-{index}")).await?;
        Ok((index, seen))
    };
    Box::pin(async move {
        Ok(match op {
            Op::Join(branches) => {
                let each = branches.iter().enumerate();
                let all =
                    each.map(|(i, ops)| run_sequence(ctx, ops, env, format!("{location}-{i}")));
                let all = join_all(all).await.into_iter().collect::<Result<_>>();
                Seen::All(all?)
            }
            Op::Each { at_once, branches } => {
                let items = branches.iter().enumerate();
                let each = ctx.for_each(location, items, move |ctx, (index, ops)| {
                    part(ctx, index, ops)
                });
                let all = each.concurrency(*at_once).await?;
                Seen::All(all.into_iter().map(|(_, seen)| seen).collect())
            }
            Op::Race(branches) => {
                let items = branches.iter().enumerate();
                let race = ctx.race(location).branches(
                    items,
                    |(index, _)| format!("b{index}"),
                    move |ctx, (index, ops)| part(ctx, index, ops),
                );
                let (index, seen) = race.await?.value;
                Seen::One(index, seen)
            }
            Op::Switch { value, cases } => {
                let mut switch = ctx.switch(location, value.to_string());
                for (index, ops) in cases.iter().enumerate() {
                    switch = switch.case(index.to_string(), move |ctx, _| part(ctx, index, ops));
                }
                let (index, seen) = switch
                    .default(|_, _| async { Ok((usize::MAX, Vec::new())) })
                    .await?;
                Seen::One(index, seen)
            }
            Op::TryScope(ops) => {
                let tried = ctx
                    .try_scope(location, move |ctx| part(ctx, 0, ops))
                    .await?;
                let tried = tried.map(|(_, seen)| seen);
                Seen::Scope(tried.map_err(|error| error.to_string()))
            }
            Op::Loop { times, keep, body } => {
                run_loop(ctx, (*times, *keep, body), env, location).await?
            }
            _ => Seen::Nothing,
        })
    })
}

async fn run_loop(
    ctx: &Ctx<AnyEvent>,
    (times, keep, body): (u32, u32, &[Op]),
    env: &Env,
    location: &str,
) -> Result<Seen> {
    let iteration = |ctx: Ctx<AnyEvent>, (n, done): (u32, u32)| {
        let path = format!("{location}i{n}");
        async move {
            let seen = run_sequence(&ctx, body, env, path).await?;
            let state = (n + 1, done + u32::try_from(seen.len()).unwrap_or(u32::MAX));
            Ok(match n + 1 >= times {
                true => ControlFlow::Break(state),
                false => ControlFlow::Continue(state),
            })
        }
    };
    let (iterations, done) = ctx.repeat(location, (0, 0), iteration).keep(keep).await?;
    Ok(Seen::Looped(iterations, done))
}
