//! Events are types: what is not declared cannot be sent or awaited.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Something that can be sent to a run. Its name is permanent: it is what other languages and journals know it by.
pub trait Event: Serialize + DeserializeOwned + Send + 'static {
    /// The event's name.
    const NAME: &'static str;
}

/// A workflow that accepts an event. Waiting for or sending one that is not accepted does not compile.
///
/// ```
/// use everstep::{Accepts, Ctx, Event, Result, Workflow};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct Approval;
/// impl Event for Approval { const NAME: &'static str = "approval"; }
///
/// struct Payment;
/// impl Accepts<Approval> for Payment {}
///
/// impl Workflow for Payment {
///     const NAME: &'static str = "payment";
///     type Input = ();
///     type Output = ();
///     async fn run(&self, ctx: Ctx<Self>, _: ()) -> Result<()> {
///         ctx.event::<Approval>().await?;
///         Ok(())
///     }
/// }
/// ```
///
/// Without the line that accepts it:
///
/// ```compile_fail,E0277
/// use everstep::{Accepts, Ctx, Event, Result, Workflow};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct Approval;
/// impl Event for Approval { const NAME: &'static str = "approval"; }
///
/// struct Payment;
///
/// impl Workflow for Payment {
///     const NAME: &'static str = "payment";
///     type Input = ();
///     type Output = ();
///     async fn run(&self, ctx: Ctx<Self>, _: ()) -> Result<()> {
///         ctx.event::<Approval>().await?;
///         Ok(())
///     }
/// }
/// ```
pub trait Accepts<E: Event> {}
