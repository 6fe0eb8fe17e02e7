//! Events are types: an event that a workflow does not accept cannot be sent to it or awaited by
//! it.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A message to a run. A payload that does not match the JSON schema of its type is refused before
/// it is stored.
pub trait Event: Serialize + DeserializeOwned + JsonSchema + Send + 'static {
    /// The name of the event in journals and in other languages. It is permanent.
    const NAME: &'static str;
}

/// An event whose sender waits for a reply.
///
/// ```
/// use everstep::testing::{TestEngine, virtual_time};
/// use everstep::schemars::{self, JsonSchema};
/// use everstep::{Ctx, Event, Request, Workflows, interface};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, JsonSchema)]
/// struct Add(u32);
/// impl Event for Add { const NAME: &'static str = "add"; }
/// impl Request for Add { type Reply = u32; }
///
/// interface!(Counter { events: Add; });
///
/// virtual_time(async {
///     let counter = |ctx: Ctx<Counter>, _: ()| async move {
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
