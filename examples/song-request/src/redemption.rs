//! A redemption: points that a viewer paid for a reward. Both sagas begin by holding it, and
//! fulfilling it is their point of no return.

use std::time::Duration;

use everstep::{Ctx, Error, Result, minutes, secs};

use crate::world::World;

/// How long a run may take. If the redemption is not fulfilled by then, the points are refunded.
pub const DEADLINE: Duration = minutes(10);

/// How long one call to a service may take.
pub(crate) const CALL: Duration = secs(10);

/// Ensures that the points are refunded if the run fails.
///
/// The viewer paid before the run began, so no step of the run took the points, and yet a rollback
/// must return them. This first step represents the payment. Rollback proceeds backwards, so its
/// undo, the refund, comes last, after everything else is undone. Code that catches errors at the
/// end of the workflow could also refund, but it does not run if the run is cancelled or exceeds
/// its deadline. An undo does.
pub(crate) async fn hold<W>(ctx: &Ctx<W>, world: &World, redemption: &str) -> Result<()> {
    let (world, redemption) = (world.clone(), redemption.to_owned());
    ctx.step("hold-redemption", || async { Ok::<_, Error>(()) })
        .undo(move |()| async move { world.refund(&redemption).await })
        .undo_timeout(CALL)
        .await
}

/// Keeps the points. This step is the point of no return: from its completion on there is no
/// refund, and a rollback executes only the undos marked as internal.
///
/// The record of its result says so too. A moderator who cancels the run, or its deadline,
/// therefore waits for the end of this step, and a crash cannot come between the fulfilment and the
/// mark. Twitch ignores a repetition, so an attempt that took too long is repeated until its result
/// is known.
pub(crate) async fn fulfill<W>(ctx: &Ctx<W>, world: &World, redemption: &str) -> Result<()> {
    ctx.step("fulfill-redemption", || async {
        // Twitch's refusal is permanent, so it is fatal and fails the saga.
        let fulfilled = world.fulfill(redemption).await;
        fulfilled.map_err(|refused| Error::from(refused).non_retryable())
    })
    .timeout(CALL)
    .retry_timeouts()
    .no_return()
    .await
}
