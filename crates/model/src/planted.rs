//! Planted bugs, which show that the simulation finds bugs of their kind.
//!
//! Without the feature `planted-bugs`, [`is`] is a constant, so the compiler removes the bugs. Only the search for
//! planted bugs (`cargo xtask sim --planted`) builds with it. A bug is planted in one thread: a simulation runs on a
//! single thread, so several threads can search for several bugs.

macro_rules! bugs {
    ($($bug:ident, $name:literal, $about:literal;)*) => {
        /// A planted bug, documented with the invariant that it breaks.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Bug { $(#[doc = $about] $bug,)* }

        impl Bug {
            /// All planted bugs.
            pub const ALL: &'static [Self] = &[$(Self::$bug,)*];

            /// The name on the command line.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$bug => $name,)* }
            }

            /// The bug of that name.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$bug),)* _ => None }
            }
        }
    };
}

bugs! {
    NoEpochCheck, "no-epoch-check",
        "The store knows a right by its nonce, and does not ask whether its epoch is still the latest: a node that was overtaken \
         appends (3).";
    NoNonceCheck, "no-nonce-check",
        "The store compares epochs alone: where an epoch was granted twice, both holders append (3).";
    AckBeforeDurable, "ack-before-durable",
        "The store answers at once and syncs once a second: a crash of it takes what was acknowledged (4).";
    DedupForgottenAtTakeover, "dedup-forgotten-at-takeover",
        "The dedup ids of a run are known to the node that holds it, and to no other that takes it over (14).";
    FenceDroppedByCompaction, "fence-dropped-by-compaction",
        "With the records that a loop drops goes the fence: until the next claim, anybody who ever held the run appends (3).";
    TimerEarly, "timer-early-by-one-tick",
        "A timer fires one millisecond before its time by the clock of its node (19).";
    TimerFiredTwice, "timer-fired-twice",
        "A timer fires without looking whether its row is still there: two nodes that poll fire it twice (20).";
    EventConsumedTwice, "event-consumed-twice",
        "An event that a wait takes as it comes is kept for the next wait too (14).";
    EventLostAtSuspension, "event-lost-at-suspension",
        "A sender that saw the run being executed does not mark it as ready: if it rests by then, nobody hears of the event (29).";
    UndoOrderReversed, "undo-order-reversed",
        "What was done first is undone first (22).";
    UndoRepeatedAfterCrash, "undo-repeated-after-crash",
        "Only the process that undid something knows that it did: after a crash it is undone again, record or not (22).";
    RaceLoserPersisted, "race-loser-persisted",
        "The journal names the first branch of a race as its winner, whichever it was (12).";
    CompletionBeatsCancel, "completion-beats-cancel",
        "A function that returned completes its run, even if the journal holds a cancellation before that (16).";
    ChildStartedTwice, "child-started-twice",
        "A start of a child that is delivered again takes its first start for another run, and starts the child once more (17).";
    OutboxRemovedFirst, "outbox-removed-first",
        "Effects on other runs are taken from the outbox and then delivered: a crash in between loses them (14, 17).";
    RetryCountedOnTakeover, "retry-counted-on-takeover",
        "Retries are counted by attempts and not by failures: one that was lost with its process uses one up (10).";
    ResultAfterTerminate, "result-after-terminate",
        "Terminating a run neither withdraws the right of its executor nor keeps it from appending (24).";
    ReadyClearedUnguarded, "ready-cleared-unguarded",
        "A run that rests clears its ready mark without looking at the inbox (2).";
    TwoResolvedPerPoll, "two-resolved-per-poll",
        "Where the next record resolves something too, both are resolved before the code is polled (12).";
    LoopUnrecorded, "loop-unrecorded",
        "A loop goes on to its next iteration without a record of the state it begins with (12).";
    KeyCheckedOutside, "key-checked-outside",
        "An idempotency key is looked up before the commit that takes it, and not in it (13).";
    NamesakesConfused, "namesakes-confused",
        "Runs are told apart by their ids alone: what one does to others is taken for a repetition of what a deleted one of its id \
         did (14, 17).";
    AppendPassedOnAgain, "append-passed-on-again",
        "A server that answered an append of a worker passes it on once more when it is sent again, as if it were the next (6).";
}

#[cfg(not(feature = "planted-bugs"))]
mod chosen {
    use super::Bug;

    /// Whether this bug is planted in the current thread. Always false in this build.
    #[must_use]
    #[inline(always)]
    pub const fn is(_: Bug) -> bool {
        false
    }

    /// What [`plant`] returns.
    #[derive(Debug)]
    pub struct Planted;

    impl Drop for Planted {
        // Callers end the planting with `drop`, which is pointless for a type without this.
        fn drop(&mut self) {}
    }

    /// Does nothing: only builds with the feature `planted-bugs` can plant a bug.
    pub fn plant(bug: Option<Bug>) -> Planted {
        assert!(
            bug.is_none(),
            "build with the feature `planted-bugs` to plant {bug:?}"
        );
        Planted
    }
}

#[cfg(feature = "planted-bugs")]
mod chosen {
    use std::cell::Cell;

    use super::Bug;

    std::thread_local! {
        static CHOSEN: Cell<Option<Bug>> = const { Cell::new(None) };
    }

    /// Whether this bug is planted in the current thread.
    #[must_use]
    pub fn is(bug: Bug) -> bool {
        CHOSEN.get() == Some(bug)
    }

    /// Plants a bug in its thread until it is dropped; then restores the earlier one.
    #[derive(Debug)]
    #[must_use = "the bug is gone when this is dropped"]
    pub struct Planted(Option<Bug>);

    /// Plants a bug in this thread. `None` plants no bug.
    pub fn plant(bug: Option<Bug>) -> Planted {
        Planted(CHOSEN.replace(bug))
    }

    impl Drop for Planted {
        fn drop(&mut self) {
            CHOSEN.set(self.0);
        }
    }
}

pub use chosen::*;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bug_has_a_name_it_is_found_by() {
        for bug in Bug::ALL {
            assert_eq!(Bug::named(bug.name()), Some(*bug));
        }
        assert_eq!(Bug::ALL.len(), 23);
    }

    #[test]
    fn no_bug_is_planted_unless_somebody_does() {
        assert!(!Bug::ALL.iter().any(|bug| is(*bug)));
    }

    #[cfg(feature = "planted-bugs")]
    #[test]
    fn a_bug_is_gone_with_whoever_planted_it() {
        let planted = plant(Some(Bug::TimerEarly));
        assert!(is(Bug::TimerEarly) && !is(Bug::TimerFiredTwice));
        let inner = plant(None);
        assert!(!is(Bug::TimerEarly));
        drop(inner);
        assert!(is(Bug::TimerEarly));
        drop(planted);
        assert!(!is(Bug::TimerEarly));
    }
}
