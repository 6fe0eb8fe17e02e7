//! Tests of the undos that are kept.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::testing::{TestEngine, virtual_time};
use crate::{Ctx, Error, Payload, Result, Workflows};

/// Executes a step and rolls it back, in each of a hundred iterations.
async fn rolls_back(ctx: Ctx, most: Arc<AtomicUsize>) -> Result<()> {
    let body = |ctx: Ctx, n: u32| {
        let most = most.clone();
        async move {
            let step = ctx.step("do", || async { Ok::<_, Error>(n) });
            step.undo(|_| async { Ok::<_, Error>(()) }).await?;
            ctx.rollback().await?;
            let undos = ctx.shared().with(|execution| execution.host.undos.len());
            most.fetch_max(undos.unwrap(), Ordering::Relaxed);
            Ok(match n {
                99 => ControlFlow::Break(()),
                n => ControlFlow::Continue(n + 1),
            })
        }
    };
    ctx.repeat("round", 0, body).keep(3).await
}

// B105
#[test]
fn undos_of_dropped_iterations_are_dropped() {
    let most = Arc::new(AtomicUsize::new(0));
    let seen = most.clone();
    virtual_time(async move {
        let code = move |ctx: Ctx, (): ()| rolls_back(ctx, seen.clone());
        let test = TestEngine::builder()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = test.start_by_name("w", Payload::null()).await.unwrap();
        run.wait_json().await.unwrap();
    });
    let most = most.load(Ordering::Relaxed);
    assert!((1..=8).contains(&most), "{most}");
}
