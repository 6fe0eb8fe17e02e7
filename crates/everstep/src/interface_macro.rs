//! The macro that declares interfaces.

/// Declares the interface of a workflow: the events that it accepts and the rpcs that it makes.
///
/// A workflow names its interface as [`Workflow::Interface`](crate::Workflow::Interface), a plain
/// function as the parameter of its [`Ctx`](crate::Ctx). The same declaration reaches servers: they
/// refuse other events, payloads that do not match, and answers that do not match, before they
/// store anything.
///
/// The interface is an enum with one variant for each event, so it can also be awaited as a set of
/// events:
///
/// ```
/// use everstep::schemars::{self, JsonSchema};
/// use everstep::testing::{TestEngine, virtual_time};
/// use everstep::{Ctx, Event, Payload, Result, Rpc, Workflows, interface};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, JsonSchema)]
/// struct Deposited { amount: u32 }
/// impl Event for Deposited { const NAME: &'static str = "deposited"; }
///
/// #[derive(Serialize, Deserialize, JsonSchema)]
/// struct Closed;
/// impl Event for Closed { const NAME: &'static str = "closed"; }
///
/// #[derive(Serialize, JsonSchema)]
/// struct ConfirmClosing { balance: u32 }
/// impl Rpc for ConfirmClosing {
///     const METHOD: &'static str = "confirmClosing";
///     type Answer = bool;
/// }
///
/// interface! {
///     /// What an account accepts and asks.
///     pub(crate) Account {
///         events: Deposited, Closed;
///         rpcs: ConfirmClosing;
///     }
/// }
///
/// async fn account(ctx: Ctx<Account>, mut balance: u32) -> Result<u32> {
///     loop {
///         match ctx.any_event::<Account>().await? {
///             Account::Deposited(deposited) => balance += deposited.amount,
///             Account::Closed(Closed) if ctx.rpc(ConfirmClosing { balance }).await? => return Ok(balance),
///             Account::Closed(Closed) => {}
///         }
///     }
/// }
/// # virtual_time(async {
/// #     let test = TestEngine::builder().workflows(Workflows::new().function("account", account)).start().await;
/// #     let run = test.start_by_name("account", Payload::from_value(&1).unwrap()).await.unwrap();
/// #     run.send_by_name("deposited", Payload::from_value(&Deposited { amount: 2 }).unwrap(), None).await.unwrap();
/// #     run.send_by_name("closed", Payload::null(), None).await.unwrap();
/// #     test.answer_next::<ConfirmClosing>(&run, &true).await;
/// #     assert_eq!(run.wait_json().await.unwrap().as_str(), "3");
/// # });
/// ```
#[macro_export]
macro_rules! interface {
    (
        $(#[$meta:meta])*
        $visibility:vis $name:ident {
            $(events: $($event:ident),+ $(,)?;)?
            $(rpcs: $($rpc:ident),+ $(,)?;)?
        }
    ) => {
        $(#[$meta])*
        #[allow(dead_code, missing_docs, clippy::large_enum_variant, reason = "a generated list of events")]
        $visibility enum $name {
            $($($event($event),)+)?
        }

        impl $crate::Interface for $name {
            fn declare(_declare: &mut $crate::Declare) {
                $($(_declare.event::<$event>();)+)?
                $($(_declare.rpc::<$rpc>();)+)?
            }
        }

        $(
            $(impl $crate::Accepts<$event> for $name {
                const DECLARED: $crate::Declared = $crate::Declared::BY_INTERFACE;
            })+

            impl<W> $crate::operation::EventSet<W> for $name
            where
                $(W: $crate::Accepts<$event>,)+
            {
                type Taken = Self;

                const NAMES: &'static [&'static str] = &[$(<$event as $crate::Event>::NAME),+];

                fn decode(
                    name: &str,
                    payload: &$crate::Payload,
                ) -> ::std::option::Option<::std::result::Result<Self, $crate::errors::PayloadError>> {
                    $(if name == <$event as $crate::Event>::NAME {
                        return ::std::option::Option::Some(payload.decode().map(Self::$event));
                    })+
                    ::std::option::Option::None
                }
            }
        )?

        $($(impl $crate::Asks<$rpc> for $name {
            const DECLARED: $crate::Declared = $crate::Declared::BY_INTERFACE;
        })+)?
    };
}
