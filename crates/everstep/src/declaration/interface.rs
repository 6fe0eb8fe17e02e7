//! Interfaces: the events that a workflow accepts and the rpcs that it makes, declared once for the
//! compiler and for servers.

use super::{Declare, Event, Rpc};

/// The events that a workflow accepts and the rpcs that it makes. [`interface!`](crate::interface)
/// declares one.
///
/// `()` is the interface of a workflow that accepts no events and makes no rpcs, [`AnyEvent`] of
/// one that accepts all.
pub trait Interface: Send + 'static {
    #[doc(hidden)]
    fn declare(declare: &mut Declare);
}

/// A workflow or interface that accepts an event. Waiting for an event that is not accepted, or
/// sending it, does not compile, and a server refuses it. [`interface!`](crate::interface)
/// implements the trait.
///
/// ```
/// use everstep::schemars::{self, JsonSchema};
/// use everstep::{Ctx, Event, Result, Workflow, interface};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, JsonSchema)]
/// struct Approval;
/// impl Event for Approval { const NAME: &'static str = "approval"; }
///
/// interface!(Payments { events: Approval; });
///
/// struct Payment;
/// impl Workflow for Payment {
///     const NAME: &'static str = "payment";
///     type Input = ();
///     type Output = ();
///     type Interface = Payments;
///     async fn run(&self, ctx: Ctx<Self>, _: ()) -> Result<()> {
///         ctx.event::<Approval>().await?;
///         Ok(())
///     }
/// }
/// ```
///
/// An event that is not in the interface:
///
/// ```compile_fail,E0277
/// use everstep::schemars::{self, JsonSchema};
/// use everstep::{Ctx, Event, Result, Workflow};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, JsonSchema)]
/// struct Approval;
/// impl Event for Approval { const NAME: &'static str = "approval"; }
///
/// struct Payment;
/// impl Workflow for Payment {
///     const NAME: &'static str = "payment";
///     type Input = ();
///     type Output = ();
///     type Interface = ();
///     async fn run(&self, ctx: Ctx<Self>, _: ()) -> Result<()> {
///         ctx.event::<Approval>().await?; // `Payment` does not accept the event `Approval`
///         Ok(())
///     }
/// }
/// ```
///
/// Only `interface!` can implement the trait, so that the compiler and servers always agree:
///
/// ```compile_fail,E0046
/// # use everstep::schemars::{self, JsonSchema};
/// # use everstep::{Accepts, Event, interface};
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Serialize, Deserialize, JsonSchema)]
/// # struct Approval;
/// # impl Event for Approval { const NAME: &'static str = "approval"; }
/// interface!(Payments {});
/// impl Accepts<Approval> for Payments {} // not all trait items are implemented
/// ```
// B204: the compiler refuses what is not accepted. B400: the interface is the only declaration.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not accept the event `{E}`",
    note = "name the event in the workflow's `interface!`; the context of a plain function names its interface, such as `Ctx<Payments>`"
)]
pub trait Accepts<E: Event> {
    #[doc(hidden)]
    const DECLARED: Declared;
}

/// A workflow or interface that accepts every event, as [`AnyEvent`] does.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not accept every event",
    note = "a name that is known only at run time can be awaited if the interface is `AnyEvent`"
)]
pub trait AcceptsAny {
    #[doc(hidden)]
    const DECLARED: Declared;
}

impl AcceptsAny for AnyEvent {
    const DECLARED: Declared = Declared;
}

/// A workflow or interface that makes an rpc. [`interface!`](crate::interface) implements the
/// trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not make the rpc `{R}`",
    note = "name the rpc in the workflow's `interface!`; the context of a plain function names its interface, such as `Ctx<Payments>`"
)]
pub trait Asks<R: Rpc> {
    #[doc(hidden)]
    const DECLARED: Declared;
}

/// Proves that an implementation of [`Accepts`] or [`Asks`] belongs to an interface.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Declared;

impl Declared {
    #[doc(hidden)]
    pub const BY_INTERFACE: Self = Self;
}

/// Returns what an interface declares.
pub(crate) fn declared<C: Interface>() -> Declare {
    let mut declare = Declare::default();
    C::declare(&mut declare);
    declare
}

impl Interface for () {
    fn declare(_: &mut Declare) {}
}

/// The interface of a workflow that accepts every event and may make every rpc. The payloads of its
/// events are not checked before the workflow reads them.
#[derive(Clone, Copy, Debug)]
pub struct AnyEvent;

impl Interface for AnyEvent {
    fn declare(declare: &mut Declare) {
        declare.any_event();
    }
}

impl<E: Event> Accepts<E> for AnyEvent {
    const DECLARED: Declared = Declared;
}

impl<R: Rpc> Asks<R> for AnyEvent {
    const DECLARED: Declared = Declared;
}
