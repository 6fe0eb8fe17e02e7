//! The bound of results that are recorded.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A result that can be recorded: any type that implements `Serialize` and `Deserialize`.
///
/// Code that never names its result does not compile. A loop that never breaks needs the type of
/// what it would break with:
///
/// ```
/// # use std::ops::ControlFlow;
/// # use everstep::{Ctx, Result, minutes};
/// async fn tick(ctx: Ctx, _: ()) -> Result<()> {
///     ctx.repeat("tick", 0_u32, |ctx, n| async move {
///         ctx.sleep("pause", minutes(1)).await?;
///         Ok(ControlFlow::<(), _>::Continue(n + 1))
///     })
///     .await?;
///     Ok(())
/// }
/// ```
///
/// ```compile_fail,E0277
/// # use std::ops::ControlFlow;
/// # use everstep::{Ctx, Result, minutes};
/// async fn tick(ctx: Ctx, _: ()) -> Result<()> {
///     ctx.repeat("tick", 0_u32, |ctx, n| async move {
///         ctx.sleep("pause", minutes(1)).await?;
///         Ok(ControlFlow::Continue(n + 1)) // `!` cannot be recorded
///     })
///     .await?;
///     Ok(())
/// }
/// ```
///
/// The work of a step that only panics needs a function that names its result:
///
/// ```
/// # use everstep::{Ctx, Result};
/// async fn refund() -> Result<()> {
///     todo!()
/// }
///
/// async fn pay(ctx: Ctx, _: ()) -> Result<()> {
///     ctx.step("refund", refund).await?;
///     Ok(())
/// }
/// ```
///
/// ```compile_fail,E0277
/// # use everstep::{Ctx, Result};
/// async fn pay(ctx: Ctx, _: ()) -> Result<()> {
///     ctx.step("refund", || async { todo!() }).await?; // `!` cannot be recorded
///     Ok(())
/// }
/// ```
// B746
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be recorded as a result",
    label = "the result is `{Self}`",
    note = "results are recorded, so they implement `serde::Serialize` and `serde::Deserialize`",
    note = "`!` is the result of code that names none: return `Ok(ControlFlow::<(), _>::Continue(state))` in a loop that never \
            breaks, and pass a function with a return type to a step whose work only panics"
)]
pub trait Recorded: Serialize + DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> Recorded for T {}
