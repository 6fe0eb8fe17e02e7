//! A redemption: points that a viewer paid for a reward. Both sagas begin by holding it and come to a point where it is
//! fulfilled, which is the point of no return.

use everstep::{Ctx, Error, Result};

use crate::world::World;

/// Makes sure that the points go back if the run fails.
///
/// The viewer paid before the run began, so no step of ours took the points, and yet a rollback must return them. This
/// first step stands for the payment. Rollback goes backwards, so its undo, the refund, comes last: the points are returned
/// when nothing else is left of the request. Code that catches errors at the end of the workflow could refund too, but it
/// would not be asked when the run is cancelled or passes its deadline. An undo is.
pub(crate) async fn hold<W>(ctx: &Ctx<W>, world: &World, redemption: &str) -> Result<()> {
    let (world, redemption) = (world.clone(), redemption.to_owned());
    ctx.step("hold-redemption", || async { Ok::<_, Error>(()) })
        .undo(move |()| async move { world.refund(&redemption).await })
        .await
}

/// Keeps the points for good. From here on there is no refund, whatever happens: a rollback runs only the undos that are
/// marked as internal.
pub(crate) async fn fulfill<W>(ctx: &Ctx<W>, world: &World, redemption: &str) -> Result<()> {
    ctx.step("fulfill-redemption", || async {
        // Twitch does not change its mind, so a refusal is final. It is also the failure of the saga.
        let fulfilled = world.fulfill(redemption).await;
        fulfilled.map_err(|refused| Error::from(refused).non_retryable())
    })
    .await?;
    ctx.no_return();
    Ok(())
}
