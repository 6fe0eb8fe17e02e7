//! The workflow that runs a program and records a trace.

use super::*;

/// The workflow that runs a program. It returns its trace without the content of loops, because a
/// replay does not see dropped iterations again.
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
            let location = format!("{path}.{index}");
            trace.saw(format!("{location} calls"));
            let result = run_op(ctx, op, trace, &location).await?;
            trace.saw(format!("{location} = {result}"));
        }
        Ok(())
    })
}

#[allow(clippy::too_many_lines, reason = "one arm for each operation")]
async fn run_op(ctx: &Ctx<AnyEvent>, op: &Op, trace: &Trace, location: &str) -> Result<String> {
    Ok(match op {
        Op::Step {
            name,
            takes_ms,
            failures,
        } => {
            let value: String = ctx
                .step(&format!("s{name}"), || {
                    work(trace, location, *takes_ms, *failures)
                })
                .retry(Retry::constant(5, millis(7)))
                .await?;
            value
        }
        Op::TryStep { name, takes_ms } => {
            let tried: Result<String, _> = ctx
                .try_step(&format!("s{name}"), || {
                    work(trace, location, *takes_ms, u8::MAX)
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
            ctx.step(&format!("s{name}"), || work(trace, location, *takes_ms, 0))
                .fenced()
                .await?
        }
        Op::Passing { name, takes_ms } => {
            ctx.step(&format!("s{name}"), || work(trace, location, *takes_ms, 0))
                .no_return()
                .await?
        }
        Op::BestEffort { name } => {
            let step = ctx
                .step(&format!("s{name}"), || work(trace, location, 0, u8::MAX))
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
                .step(&format!("s{name}"), || work(trace, location, *takes_ms, 0))
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
        Op::Fail => return Err(Error::fatal(format!("{location} fails the run"))),
        Op::FailPass => {
            let pass = ctx.metadata().attempt;
            if pass == 1 {
                return Err(Error::new("the first pass fails"));
            }
            "passed".to_owned()
        }
        Op::Note => {
            ctx.note(location);
            "noted".to_owned()
        }
        Op::Row => {
            ctx.set_row("rows", location, &1)?;
            "set".to_owned()
        }
        Op::Emit => {
            ctx.emit("topic", &location)?;
            "emitted".to_owned()
        }
        Op::Look => format!("{} {} {}", ctx.now(), ctx.random(), ctx.uuid()),
        Op::Family(op) => run_family(ctx, op, location, &trace.witness).await?,
        Op::Version { change } => format!("v{}", ctx.version(&format!("c{change}"), 3)?),
        Op::Join(branches) => {
            let sequences = branches
                .iter()
                .enumerate()
                .map(|(index, ops)| run_sequence(ctx, ops, trace, format!("{location}/{index}")));
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
                let path = format!("{location}~{n}");
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
            let step = ctx.step(&format!("s{name}"), || work(trace, location, *takes_ms, 0));
            tokio::select! {
                biased;
                value = step => value?,
                event = wait(ctx, *event, 500) => event?,
            }
        }
        Op::Ephemeral { name, takes_ms } => {
            ctx.step(&format!("s{name}"), || {
                early_work(trace, location, *takes_ms)
            })
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
            run_composed(ctx, op, trace, location).await?
        }
    })
}

/// Runs an operation whose parts have scopes of their own.
fn run_composed<'a>(
    ctx: &'a Ctx<AnyEvent>,
    op: &'a Op,
    trace: &'a Trace,
    location: &'a str,
) -> std::pin::Pin<Box<dyn Future<Output = Result<String>> + Send + 'a>> {
    let part = move |ctx: Ctx<AnyEvent>, index: usize, ops: &'a [Op]| async move {
        run_sequence(&ctx, ops, trace, format!("{location}/{index}")).await?;
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
                // As with switches, branches with the same name are the same for every pass.
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
                // A second pass may find another switch at this location. Switches with the same
                // name have the same cases.
                let name = format!("among{}", cases.len());
                let mut switch = ctx.switch(&name, value.to_string());
                for (index, ops) in cases.iter().enumerate() {
                    switch = switch.case(index.to_string(), move |ctx, _| part(ctx, index, ops));
                }
                let chosen = switch.default(|_, _| async { Ok(usize::MAX) }).await?;
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
async fn early_work(trace: &Trace, location: &str, takes_ms: u16) -> Result<String> {
    let done = work(trace, location, takes_ms, 0).await?;
    Ok(format!("{done}{EARLY}"))
}

/// The work of a step. It returns a different value each time, so that repeated work is detected.
async fn work(trace: &Trace, location: &str, takes_ms: u16, failures: u8) -> Result<String> {
    let attempt = {
        let mut seen = trace.witness.0.lock().unwrap();
        let attempts = seen.attempts.entry(location.to_owned()).or_default();
        *attempts += 1;
        *attempts
    };
    if takes_ms > 0 {
        tokio::time::sleep(Duration::from_millis(u64::from(takes_ms))).await;
    }
    if attempt <= u32::from(failures) {
        return Err(Error::new(format!("{location} fails")));
    }
    let mut seen = trace.witness.0.lock().unwrap();
    let times = seen.completed.entry(location.to_owned()).or_default();
    *times += 1;
    Ok(format!("{location} done {times}"))
}
