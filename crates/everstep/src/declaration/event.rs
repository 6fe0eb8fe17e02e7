//! Events are types: what is not declared cannot be sent or awaited.

use everstep_model::{Payload, PayloadError};
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
// B204: the compiler refuses what is not accepted.
pub trait Accepts<E: Event> {}

/// An event whose sender waits for an answer.
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
    /// What the workflow answers with.
    type Reply: Serialize + DeserializeOwned + Send + 'static;
}

/// Several kinds of events, of which a wait takes whichever comes first. Tuples of up to four events are sets.
pub trait EventSet<W>: Send + 'static {
    /// The event that came.
    type Taken: Send;

    /// The names of the events.
    const NAMES: &'static [&'static str];

    /// Reads the event of that name.
    ///
    /// # Errors
    /// If the payload does not fit its type.
    fn read(name: &str, payload: &Payload) -> Result<Self::Taken, PayloadError>;
}

macro_rules! sets {
    ($one_of:ident, $count:literal: $first:ident $(, $event:ident)*) => {
        #[doc = concat!("One of ", $count, " kinds of events.")]
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "the variants are the places in the set")]
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

            fn read(name: &str, payload: &Payload) -> Result<Self::Taken, PayloadError> {
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
