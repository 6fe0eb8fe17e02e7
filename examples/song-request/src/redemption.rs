//! A redemption: points that a viewer paid for a reward. Both sagas begin by holding it, and
//! fulfilling it is their point of no return.

use everstep::{Ctx, Error, Result};

use crate::world::World;

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
        .await
}

/// Keeps the points. From here on there is no refund: a rollback executes only the undos marked as
/// internal.
pub(crate) async fn fulfill<W>(ctx: &Ctx<W>, world: &World, redemption: &str) -> Result<()> {
    ctx.step("fulfill-redemption", || async {
        // Twitch's refusal is permanent, so it is fatal and fails the saga.
        let fulfilled = world.fulfill(redemption).await;
        fulfilled.map_err(|refused| Error::from(refused).non_retryable())
    })
    .await?;
    ctx.no_return();
    Ok(())
}
