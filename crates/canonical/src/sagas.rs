//! Canonical workflows with rollback of branches, loops and children, and with a point of no
//! return.

use std::ops::ControlFlow;

use everstep::journal::Body;
use everstep::{AnyEvent, Ctx, Engine, Error, Payload, Result, RunHandle};

use crate::assertions::{AssertionFailed, fails, same};
use crate::clients::run;
use crate::outside::Outside;
use crate::scenario::{Canonical, Registry, WORKFLOW};

const ALL_UNDONE: [&str; 8] = ["a", "b", "c", "d", "undo d", "undo c", "undo b", "undo a"];

pub(crate) struct ARollbackThroughALoopAndAJoin;

impl Canonical for ARollbackThroughALoopAndAJoin {
    const NAME: &'static str = "a_rollback_through_a_loop_and_a_join";
    type Output = ();

    async fn run(ctx: Ctx<AnyEvent>, outside: Outside) -> Result<()> {
        let outside = &outside;
        outside.undoable(&ctx, "a").await?;
        ctx.repeat("twice", 0_u32, |ctx, n| async move {
            let name = match n {
                0 => "b",
                1 => "c",
                _ => return Ok(ControlFlow::Break(())),
            };
            outside.undoable(&ctx, name).await?;
            Ok(ControlFlow::Continue(n + 1))
        })
        .keep(0)
        .await?;
        ctx.join("one")
            .branch(
                "only",
                |ctx| async move { outside.undoable(&ctx, "d").await },
            )
            .await?;
        Err(Error::fatal("no further"))
    }

    async fn drive(engine: Engine, outside: Outside) -> std::result::Result<(), AssertionFailed> {
        fails(&run(&engine).await?, "no further").await?;
        outside.holds_in_order(&ALL_UNDONE)
    }
}

pub(crate) struct ARollbackThroughChildren;

impl Canonical for ARollbackThroughChildren {
    const NAME: &'static str = "a_rollback_through_children";
    type Output = ();

    async fn run(ctx: Ctx<AnyEvent>, outside: Outside) -> Result<()> {
        outside.undoable(&ctx, "a").await?;
        for name in ["b", "c"] {
            let undone = outside.clone();
            ctx.child_by_name("child", Payload::from_value(name)?)
                .undo(move |output: Payload| async move {
                    undone.happens(format!("undo {}", output.decode::<String>()?));
                    Ok::<_, Error>(())
                })
                .await?;
        }
        outside.undoable(&ctx, "d").await?;
        Err(Error::fatal("no further"))
    }

    fn define<R: Registry>(registry: R, outside: &Outside) -> R {
        let (outside, child) = (outside.clone(), outside.clone());
        registry
            .function("child", move |ctx: Ctx<AnyEvent>, name: String| {
                let outside = child.clone();
                async move {
                    outside.step(&ctx, &name, 1).await?;
                    Ok(name)
                }
            })
            .function(WORKFLOW, move |ctx, (): ()| Self::run(ctx, outside.clone()))
    }

    async fn drive(engine: Engine, outside: Outside) -> std::result::Result<(), AssertionFailed> {
        let run = run(&engine).await?;
        fails(&run, "no further").await?;
        outside.holds_in_order(&ALL_UNDONE)?;
        let undone = count(&run, |body| matches!(body, Body::UndoCompleted(_))).await?;
        same("undos recorded", undone, 4)
    }
}

pub(crate) struct ThePointOfNoReturnAndAnExplicitRollback;

impl Canonical for ThePointOfNoReturnAndAnExplicitRollback {
    const NAME: &'static str = "the_point_of_no_return_and_an_explicit_rollback";
    type Output = ();

    async fn run(ctx: Ctx<AnyEvent>, outside: Outside) -> Result<()> {
        outside.undoable(&ctx, "a").await?;
        ctx.rollback().await?;
        outside.undoable(&ctx, "b").await?;
        let witness = outside.clone();
        ctx.step("i", || outside.act("i", 1))
            .undo(move |_| async move {
                witness.happens("undo i");
                Ok::<_, Error>(())
            })
            .undo_internal()
            .await?;
        ctx.no_return();
        Err(Error::fatal("too late"))
    }

    async fn drive(engine: Engine, outside: Outside) -> std::result::Result<(), AssertionFailed> {
        let run = run(&engine).await?;
        fails(&run, "too late").await?;
        outside.holds_in_order(&["a", "undo a", "b", "i", "undo i"])?;
        let skipped = count(&run, |body| matches!(body, Body::UndoSkipped(_))).await?;
        same("undos skipped", skipped, 1)
    }
}

async fn count(
    run: &RunHandle,
    is_such: fn(&Body) -> bool,
) -> std::result::Result<usize, AssertionFailed> {
    let journal = run.journal().await?;
    let such = journal.iter().filter(|entry| is_such(&entry.record.body));
    Ok(such.count())
}
