//! Events are types: an event that a workflow does not accept cannot be sent to it or awaited by it.

use everstep_model::{Payload, PayloadError};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A message to a run.
pub trait Event: Serialize + DeserializeOwned + Send + 'static {
    /// The name of the event in journals and in other languages. It is permanent.
    const NAME: &'static str;
}

/// Declares that a workflow accepts an event. Waiting for an event that is not accepted, or sending it, does not compile.
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
/// Without `impl Accepts`:
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
// B204: the compiler refuses what is not accepted.
pub trait Accepts<E: Event> {}

/// An event whose sender waits for a reply.
///
/// ```
/// use everstep::testing::{TestEngine, virtual_time};
/// use everstep::{Ctx, Event, Request, Workflows};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct Add(u32);
/// impl Event for Add { const NAME: &'static str = "add"; }
/// impl Request for Add { type Reply = u32; }
///
/// virtual_time(async {
///     let counter = |ctx: Ctx, _: ()| async move {
///         let add = ctx.event::<Add>().received().await?;
///         ctx.reply(&add, &(add.event.0 + 1))?;
///         Ok(())
///     };
///     let test = TestEngine::builder().workflows(Workflows::new().function("counter", counter)).start().await;
///     let run = test.start_by_name("counter", everstep::Payload::null()).await.unwrap();
///     assert_eq!(run.request(&Add(41)).await.unwrap(), 42);
/// });
/// ```
pub trait Request: Event {
    #[allow(missing_docs, reason = "the name explains it")]
    type Reply: Serialize + DeserializeOwned + Send + 'static;
}

/// A set of events, of which a wait takes the first to arrive. Tuples of up to four events are sets.
pub trait EventSet<W>: Send + 'static {
    /// The event that arrived.
    type Taken: Send;

    #[allow(missing_docs, reason = "the name explains it")]
    const NAMES: &'static [&'static str];

    /// Decodes the event with this name.
    fn decode(name: &str, payload: &Payload) -> Result<Self::Taken, PayloadError>;
}

macro_rules! sets {
    ($one_of:ident, $count:literal: $first:ident $(, $event:ident)*) => {
        #[doc = concat!("One of ", $count, " kinds of events.")]
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "the variants are the positions in the set")]
        pub enum $one_of<$first, $($event),*> {
            $first($first),
            $($event($event),)*
        }

        impl<W, $first: Event, $($event: Event),*> EventSet<W> for ($first, $($event,)*)
        where
            W: Accepts<$first> $(+ Accepts<$event>)*,
        {
            type Taken = $one_of<$first, $($event),*>;

            const NAMES: &'static [&'static str] = &[$first::NAME, $($event::NAME),*];

            fn decode(name: &str, payload: &Payload) -> Result<Self::Taken, PayloadError> {
                $(if name == $event::NAME {
                    return payload.decode().map($one_of::$event);
                })*
                payload.decode().map($one_of::$first)
            }
        }
    };
}

sets!(OneOf2, "two": A, B);
sets!(OneOf3, "three": A, B, C);
sets!(OneOf4, "four": A, B, C, D);
