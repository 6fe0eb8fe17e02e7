//! Shared by the tests of control verbs.

use everstep::testing::TestEngine;
use everstep::{AnyEvent, Ctx, Error, Event, Result, RunHandle, RunStatus, millis, secs};

use crate::support::Ping;

/// Work that takes a number of milliseconds.
pub(crate) async fn slow<T>(ms: u64, value: T) -> Result<T> {
    tokio::time::sleep(millis(ms)).await;
    Ok(value)
}

/// Two steps of 100 ms each.
pub(crate) async fn two_steps(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    let a: u32 = ctx.step("a", || slow(100, 1)).await?;
    let b: u32 = ctx.step("b", || slow(100, 2)).await?;
    Ok(a + b)
}

/// Sleeps an hour, then waits for a ping, and returns its number.
pub(crate) async fn resting(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    ctx.sleep("nap", secs(3_600)).await?;
    Ok(ctx.event::<Ping>().await?.0)
}

/// A step that completes, and one that fails until `ok` is set.
pub(crate) async fn fails_in_b(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    let a: u32 = ctx.step("a", || slow(1, 1)).await?;
    let b: u32 = ctx
        .step("b", || async { Err(Error::new("no bank")) })
        .retry(everstep::Retry::constant(1, millis(10)))
        .await?;
    Ok(a + b)
}

/// The status of the run according to the handle, the list and `why`.
pub(crate) async fn status_everywhere(test: &TestEngine, run: &RunHandle) -> RunStatus {
    let status = run.status().await.unwrap();
    let why = run.why().await.unwrap();
    assert_eq!(why.status, status, "{why}");
    let listed = test.list().status(status).await.unwrap().runs;
    assert!(listed.iter().any(|row| row.id == *run.id()), "{listed:?}");
    let all = test.list().await.unwrap().runs;
    let shown = all.iter().filter(|row| row.id == *run.id()).count();
    assert_eq!(shown, 1, "a run is listed once");
    status
}

/// The name of the event that [`resting`] waits for.
pub(crate) const PING: &str = Ping::NAME;
