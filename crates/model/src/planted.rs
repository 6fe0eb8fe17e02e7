//! Planted bugs, which prove that the simulation finds bugs of their kind.
//!
//! Without the feature `planted-bugs`, [`is`] is a constant, so the compiler removes the bugs. Only
//! the search for planted bugs (`cargo xtask sim --planted`) builds with it. A bug is planted in
//! one thread: a simulation runs on a single thread, so several threads can search for several
//! bugs.

crate::words! {
    /// A planted bug, documented with the invariant that it breaks.
    pub enum Bug {
        /// The store compares only the nonce of a claim, not its epoch: a node whose claim was
        /// taken over still appends (3).
        NoEpochCheck = "no-epoch-check",
        /// The store compares only epochs: if an epoch was granted twice, both holders append (3).
        NoNonceCheck = "no-nonce-check",
        /// The store acknowledges commits at once and syncs once a second: its crash loses
        /// acknowledged commits (4).
        AckBeforeDurable = "ack-before-durable",
        /// Only the node that holds a run has its dedup ids: a node that takes the run over accepts
        /// repetitions (14).
        DedupForgottenAtTakeover = "dedup-forgotten-at-takeover",
        /// Dropping the records of a loop also drops the fence: until the next claim, every earlier
        /// holder may append (3).
        FenceDroppedByCompaction = "fence-dropped-by-compaction",
        /// A timer fires one millisecond before its deadline by the clock of its node (19).
        TimerEarly = "timer-early-by-one-tick",
        /// A timer fires without a check that its row still exists: two nodes that poll fire it
        /// twice (20).
        TimerFiredTwice = "timer-fired-twice",
        /// An event that a wait takes on arrival also stays in the mailbox for the next wait (14).
        EventConsumedTwice = "event-consumed-twice",
        /// A sender that saw the run being executed sets no ready mark: if the run is suspended by
        /// then, nothing wakes it (29).
        EventLostAtSuspension = "event-lost-at-suspension",
        /// Steps are undone in the order of their completion instead of the reverse (22).
        UndoOrderReversed = "undo-order-reversed",
        /// Completed undos are kept only in memory: after a crash they run again, although the
        /// journal has their records (22).
        UndoRepeatedAfterCrash = "undo-repeated-after-crash",
        /// The result of a step that is the point of no return does not say so: a later failure
        /// leads to undos (22).
        NoReturnApart = "no-return-apart",
        /// The journal always names the first branch of a race as its winner (12).
        RaceLoserPersisted = "race-loser-persisted",
        /// A function that returned completes its run, even if the journal has an earlier
        /// cancellation (16).
        CompletionBeatsCancel = "completion-beats-cancel",
        /// A repeated delivery of a child's start is not recognised, and starts the child again
        /// (17).
        ChildStartedTwice = "child-started-twice",
        /// Effects on other runs are removed from the outbox before they are delivered: a crash in
        /// between loses them (14, 17).
        OutboxRemovedFirst = "outbox-removed-first",
        /// Retries are counted by attempts instead of failures: an attempt that was lost with its
        /// process uses one up (10).
        RetryCountedOnTakeover = "retry-counted-on-takeover",
        /// Terminating a run neither withdraws the executor's claim nor prevents its appends (24).
        ResultAfterTerminate = "result-after-terminate",
        /// A suspension clears the ready mark without comparing the inbox (2).
        ReadyClearedUnguarded = "ready-cleared-unguarded",
        /// If the next record also resolves an operation, both are resolved before the code is
        /// polled (12).
        TwoResolvedPerPoll = "two-resolved-per-poll",
        /// A loop begins its next iteration without a record of the state (12).
        LoopUnrecorded = "loop-unrecorded",
        /// An idempotency key is looked up before the commit that takes it instead of inside it
        /// (13).
        KeyCheckedOutside = "key-checked-outside",
        /// Runs are distinguished by their ids alone: effects of a run count as repetitions of
        /// those of a deleted run with its id (14, 17).
        NamesakesConfused = "namesakes-confused",
        /// A server that receives an answered append of a worker again forwards it as if it were
        /// the next one (6).
        AppendPassedOnAgain = "append-passed-on-again",
    }
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

    /// The guard that [`plant`] returns.
    #[derive(Debug)]
    pub struct Planted;

    impl Drop for Planted {
        // Callers remove the bug with `drop`, which clippy rejects for a type without `Drop`.
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

    /// A guard that plants a bug in its thread until it is dropped, and then restores the earlier
    /// one.
    #[derive(Debug)]
    #[must_use = "dropping the guard removes the bug"]
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
    fn every_bug_is_found_by_its_name() {
        for bug in Bug::ALL {
            assert_eq!(Bug::parse(bug.as_str()), Some(*bug));
        }
        assert_eq!(Bug::ALL.len(), 24);
    }

    #[test]
    fn the_document_lists_every_bug() {
        let document = include_str!("../../../docs/simulation.md");
        let (_, table) = document.split_once("\n| bug | ").unwrap();
        let rows = table.lines().skip(2).take_while(|line| !line.is_empty());
        let documented: Vec<&str> = rows
            .map(|row| row.split('|').nth(1).unwrap_or_default().trim())
            .collect();
        let bugs: Vec<&str> = Bug::ALL.iter().map(|bug| bug.as_str()).collect();
        assert_eq!(documented, bugs);
    }

    #[test]
    fn no_bug_is_planted_by_default() {
        assert!(!Bug::ALL.iter().any(|bug| is(*bug)));
    }

    #[cfg(feature = "planted-bugs")]
    #[test]
    fn dropping_the_guard_removes_the_bug() {
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
