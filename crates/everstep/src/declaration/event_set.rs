//! Sets of events that are awaited together.

use everstep_model::{Payload, PayloadError};

use super::{Accepts, Event};

/// A set of events, of which a wait takes the first to arrive. Tuples of up to four events are
/// sets; an
/// [`interface!`](crate::interface) is a set of any number.
pub trait EventSet<W>: Send + 'static {
    /// The event that arrived.
    type Taken: Send;

    #[allow(missing_docs, reason = "the name explains it")]
    const NAMES: &'static [&'static str];

    /// Decodes the event with this name. Returns `None` if it is not in the set.
    fn decode(name: &str, payload: &Payload) -> Option<Result<Self::Taken, PayloadError>>;
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

            fn decode(name: &str, payload: &Payload) -> Option<Result<Self::Taken, PayloadError>> {
                $(if name == $event::NAME {
                    return Some(payload.decode().map($one_of::$event));
                })*
                (name == $first::NAME).then(|| payload.decode().map($one_of::$first))
            }
        }
    };
}

sets!(OneOf2, "two": A, B);
sets!(OneOf3, "three": A, B, C);
sets!(OneOf4, "four": A, B, C, D);
