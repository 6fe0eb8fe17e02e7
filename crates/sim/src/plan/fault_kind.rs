//! The kinds of faults.

macro_rules! kinds {
    ($($kind:ident, $name:literal, $about:literal;)*) => {
        /// A kind of fault.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum FaultKind { $(#[doc = $about] $kind,)* }

        impl FaultKind {
            pub const ALL: &'static [Self] = &[$(Self::$kind,)*];

            /// The name on the command line.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }

            /// The kind with this name.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$kind),)* _ => None }
            }
        }
    };
}

kinds! {
    Delay, "delay", "A call or its answer takes long; others overtake it.";
    FailBefore, "fail-before", "A call fails and has changed nothing.";
    FailAfter, "fail-after", "A call fails and has taken effect.";
    Late, "late", "A call fails, and takes effect some time later.";
    Repeat, "repeat", "A call arrives twice, the second time later.";
    CrashBefore, "crash-before", "The node crashes before the call takes effect.";
    CrashAfter, "crash-after", "The node crashes after the call took effect and before it receives the answer.";
    Outage, "outage", "A node cannot reach the store for a while.";
    Pause, "pause", "A node is paused, mostly for longer than its lease.";
    Skew, "skew", "The clock of a node is wrong from the start.";
    Jump, "jump", "The clock of a node jumps.";
    Restart, "restart", "A node is shut down in order and started again.";
    HintLost, "hint-lost", "A hint does not arrive.";
    HintRepeated, "hint-repeated", "A hint arrives twice.";
    HintDelayed, "hint-delayed", "A hint arrives late.";
    ReplyLost, "reply-lost", "A client does not receive the answer to its request.";
    StoreCrash, "store-crash", "The store crashes, and is back after a while with what is durable.";
    ClaimForgotten, "claim-forgotten", "A claim is granted and lost: the store failed over to a replica that lags behind.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_name_it_is_found_by() {
        for kind in FaultKind::ALL {
            assert_eq!(FaultKind::named(kind.name()), Some(*kind));
        }
    }
}
