//! Rollback through branches and loops, and past the point of no return.

use std::ops::ControlFlow;

use everstep::{Ctx, Error, Payload, Result, RunHandle, WaitError};

use super::world::{Outside, after_every_commit, assert_order, run, survives_every_death};
use crate::support::json;

async fn failed(run: &RunHandle) -> String {
    match run.wait_json().await {
        Err(WaitError::Failed(failure)) => failure.message,
        other => panic!("{other:?}"),
    }
}

// B126, B134
#[test]
fn a_rollback_through_a_loop_and_a_join() {
    survives_every_death(
        |ctx, outside| async move {
            let outside = &outside;
            outside.undoable(&ctx, "a").await?;
            ctx.repeat("twice", 0_u32, |ctx, n| async move {
                if n == 2 {
                    return Ok(ControlFlow::Break(()));
                }
                outside.undoable(&ctx, ["b", "c"][n as usize]).await?;
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
            Err::<(), _>(Error::fatal("no further"))
        },
        async |engine, outside| {
            assert_eq!(failed(&run(&engine).await).await, "no further");
            let expected = ["a", "b", "c", "d", "undo d", "undo c", "undo b", "undo a"];
            assert_order(&outside.take(), &expected);
        },
    );
}

// B126, B134, B166
#[test]
fn a_rollback_through_children() {
    let outside = Outside::default();
    let witness = outside.clone();
    after_every_commit(
        move |builder| {
            let (outside, child) = (witness.clone(), witness.clone());
            builder
                .function("child", move |ctx: Ctx, name: String| {
                    let outside = child.clone();
                    async move {
                        outside.step(&ctx, &name, 1).await?;
                        Ok(name)
                    }
                })
                .function("w", move |ctx: Ctx, (): ()| {
                    let outside = outside.clone();
                    async move {
                        outside.undoable(&ctx, "a").await?;
                        for name in ["b", "c"] {
                            let undone = outside.clone();
                            ctx.child_by_name("child", json(name))
                                .undo(move |output: Payload| async move {
                                    undone.happens(format!("undo {}", output.decode::<String>()?));
                                    Ok::<_, Error>(())
                                })
                                .await?;
                        }
                        outside.undoable(&ctx, "d").await?;
                        Err::<(), _>(Error::fatal("no further"))
                    }
                })
        },
        async |engine| {
            let run = run(&engine).await;
            assert_eq!(failed(&run).await, "no further");
            let expected = ["a", "b", "c", "d", "undo d", "undo c", "undo b", "undo a"];
            assert_order(&outside.take(), &expected);
            let journal = run.journal().await.unwrap();
            let undone = |entry: &&everstep::Entry| {
                matches!(entry.record.body, everstep::Body::UndoCompleted(_))
            };
            assert_eq!(journal.iter().filter(undone).count(), 4);
        },
    );
}

// B142
#[test]
fn the_point_of_no_return_and_an_explicit_rollback() {
    survives_every_death(
        |ctx, outside| async move {
            outside.undoable(&ctx, "a").await?;
            ctx.rollback().await?;
            outside.undoable(&ctx, "b").await?;
            internal(&outside, &ctx).await?;
            ctx.no_return();
            Err::<(), _>(Error::fatal("too late"))
        },
        async |engine, outside| {
            let run = run(&engine).await;
            assert_eq!(failed(&run).await, "too late");
            assert_order(&outside.take(), &["a", "undo a", "b", "i", "undo i"]);
            let journal = run.journal().await.unwrap();
            let skipped = |entry: &&everstep::Entry| {
                matches!(entry.record.body, everstep::Body::UndoSkipped(_))
            };
            assert_eq!(journal.iter().filter(skipped).count(), 1);
        },
    );
}

async fn internal(outside: &Outside, ctx: &Ctx) -> Result<u32> {
    let witness = outside.clone();
    ctx.step("i", || outside.act("i", 1))
        .undo(move |_| async move {
            witness.happens("undo i");
            Ok::<_, Error>(())
        })
        .undo_internal()
        .await
}
