//! The kinds of faults.

everstep_model::words! {
    /// A kind of fault.
    pub enum FaultKind {
        /// A call or its answer is delayed, so that others overtake it.
        Delay = "delay",
        /// A call fails and has changed nothing.
        FailBefore = "fail-before",
        /// A call fails and has taken effect.
        FailAfter = "fail-after",
        /// A call fails, and takes effect some time later.
        Late = "late",
        /// A call arrives twice, the second time later.
        Repeat = "repeat",
        /// The node crashes before the call takes effect.
        CrashBefore = "crash-before",
        /// The node crashes after the call took effect and before it receives the answer.
        CrashAfter = "crash-after",
        /// A node cannot reach the store for a while.
        Outage = "outage",
        /// A node is paused, mostly for longer than its lease.
        Pause = "pause",
        /// The clock of a node is wrong from the start.
        Skew = "skew",
        /// The clock of a node jumps.
        Jump = "jump",
        /// A node is shut down in order and started again.
        Restart = "restart",
        /// A hint does not arrive.
        HintLost = "hint-lost",
        /// A hint arrives twice.
        HintRepeated = "hint-repeated",
        /// A hint arrives late.
        HintDelayed = "hint-delayed",
        /// A client does not receive the answer to its request.
        ReplyLost = "reply-lost",
        /// The store crashes, and is back after a while with what is durable.
        StoreCrash = "store-crash",
        /// A claim is granted and lost: the store failed over to a replica that lags behind.
        ClaimForgotten = "claim-forgotten",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_by_its_name() {
        for kind in FaultKind::ALL {
            assert_eq!(FaultKind::parse(kind.as_str()), Some(*kind));
        }
    }
}
