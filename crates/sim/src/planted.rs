//! The search for planted bugs. Seeds are simulated with a bug until one fails. It must fail
//! because of the bug, and the same seed must pass without it.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use everstep_model::planted::Bug;

use crate::campaign::simulate_caught;
use crate::observed::Violation;
use crate::plan::{Limits, Plan};
use crate::report::run_on_threads;

/// Returns the signs of a bug: the violated invariant and the check that noticed it. A seed that
/// fails in any other way, for example with a panic, has not found the bug.
fn signs(bug: Bug) -> &'static [(u8, &'static str)] {
    match bug {
        Bug::NoEpochCheck | Bug::FenceDroppedByCompaction => &[(3, "appending")],
        // Of two executors with the same epoch, the commit of the second can be mistaken for a
        // repetition of the first one's.
        Bug::NoNonceCheck => &[(3, "appending"), (7, "restoring")],
        Bug::AckBeforeDurable => &[(4, "appending"), (4, "reading"), (1, "reading")],
        Bug::DedupForgottenAtTakeover => &[(14, "appending")],
        Bug::TimerEarly => &[(19, "firing")],
        Bug::TimerFiredTwice => &[(20, "firing")],
        Bug::EventConsumedTwice => &[(14, "events"), (12, "replaying")],
        Bug::EventLostAtSuspension => &[(29, "waking")],
        Bug::UndoOrderReversed => &[(22, "undoing")],
        Bug::UndoRepeatedAfterCrash => &[(22, "env"), (22, "undoing")],
        Bug::NoReturnApart => &[(22, "undoing")],
        Bug::RaceLoserPersisted => &[(12, "replaying")],
        Bug::CompletionBeatsCancel => &[(16, "ending")],
        Bug::ChildStartedTwice => &[(17, "children")],
        // A run that waits for a child that was never created never ends.
        Bug::OutboxRemovedFirst => &[(14, "events"), (17, "children"), (29, "simulation")],
        Bug::RetryCountedOnTakeover => &[(10, "steps")],
        // The journal of the terminated run stays open and grows, which a read may notice first.
        Bug::ResultAfterTerminate => &[(24, "appending"), (1, "reading"), (4, "reading")],
        Bug::ReadyClearedUnguarded => &[(2, "appending")],
        Bug::TwoResolvedPerPoll => &[(12, "replaying"), (12, "clients")],
        Bug::LoopUnrecorded => &[(12, "replaying")],
        Bug::KeyCheckedOutside => &[(13, "journals")],
        // A run that waits for a child that was confused with another run never ends, either.
        Bug::NamesakesConfused => &[
            (14, "events"),
            (17, "children"),
            (11, "ending"),
            (29, "simulation"),
        ],
        // A record that is in a journal twice does not fit the code: the run diverges or replays to
        // another result. An append that arrives while the repetition is in flight gets its answer
        // without being written, and the code continues before its results are durable.
        Bug::AppendPassedOnAgain => &[
            (12, "clients"),
            (12, "replaying"),
            (9, "steps"),
            (10, "steps"),
            (11, "env"),
        ],
    }
}

#[derive(Clone, Debug)]
pub struct Finding {
    /// The seed that found it.
    pub seed: u64,
    pub violation: Violation,
}

/// The result of the search for a bug.
#[derive(Clone, Debug)]
pub enum SearchResult {
    Found(Finding),
    /// No seed failed. Contains the number of seeds.
    Missed(u64),
    /// The first failing seed violated something that is not a sign of the bug.
    Unrelated(Finding),
    /// The seed that found it also fails without it.
    FailsAnyway(Finding),
}

impl SearchResult {
    /// Whether the bug was found by one of its signs.
    #[must_use]
    pub fn is_found(&self) -> bool {
        matches!(self, Self::Found(_))
    }
}

/// Searches for a bug in a number of seeds.
#[must_use]
pub fn search(bug: Bug, first: u64, seeds: u64) -> SearchResult {
    for seed in first..first.saturating_add(seeds) {
        let plan = Plan::new(seed, Limits::default());
        let report = simulate_caught(&plan.clone().with_bug(Some(bug)), false);
        let Some(other) = report.violations.first() else {
            continue;
        };
        let is_sign = |found: &&Violation| signs(bug).contains(&(found.invariant, found.check));
        let Some(found) = report.violations.iter().find(is_sign) else {
            let violation = other.clone();
            return SearchResult::Unrelated(Finding { seed, violation });
        };
        let control = simulate_caught(&plan, false).violations.into_iter().next();
        return match control {
            Some(violation) => SearchResult::FailsAnyway(Finding { seed, violation }),
            None => SearchResult::Found(Finding {
                seed,
                violation: found.clone(),
            }),
        };
    }
    SearchResult::Missed(seeds)
}

/// Searches for several bugs at once, and reports the number of finished searches about twice a
/// second.
pub fn search_all(
    bugs: &[Bug],
    (first, seeds): (u64, u64),
    threads: usize,
    mut progress: impl FnMut(usize),
) -> Vec<(Bug, SearchResult)> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let lock = || done.lock().unwrap_or_else(PoisonError::into_inner);
    let work = || {
        while let Some(bug) = bugs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let results = search(*bug, first, seeds);
            lock().push((*bug, results));
        }
    };
    run_on_threads(threads, work, || progress(lock().len()));
    let mut done = lock().clone();
    done.sort_by_key(|(bug, _)| *bug);
    done
}

/// Returns the result of each search: the number of seeds, the violated invariant and the check
/// that noticed it.
#[must_use]
pub fn table(results: &[(Bug, SearchResult)], first: u64) -> String {
    let mut text = format!(
        "{:28} {:>5}  {:9}  {:10}  {}\n",
        "bug", "seeds", "invariant", "noticed by", "what was seen"
    );
    for (bug, search) in results {
        let name = bug.as_str();
        let _ = match search {
            SearchResult::Found(Finding { seed, violation }) => {
                let (seeds, what) = (seed - first + 1, cut(&violation.what));
                let (invariant, check) = (violation.invariant, violation.check);
                writeln!(
                    text,
                    "{name:28} {seeds:>5}  {invariant:9}  {check:10}  {what}"
                )
            }
            SearchResult::Missed(seeds) => writeln!(text, "{name:28} NOT FOUND in {seeds} seeds"),
            SearchResult::Unrelated(Finding { seed, violation }) => writeln!(
                text,
                "{name:28} seed {seed} FAILS FOR ANOTHER REASON: {violation} ({})",
                violation.check
            ),
            SearchResult::FailsAnyway(Finding { seed, violation }) => {
                writeln!(
                    text,
                    "{name:28} seed {seed} FAILS WITHOUT IT TOO: {violation}"
                )
            }
        };
    }
    text
}

fn cut(what: &str) -> String {
    what.chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bug_that_no_seed_finds_is_reported() {
        let missed = [(Bug::TimerEarly, search(Bug::TimerEarly, 0, 0))];
        assert!(!missed[0].1.is_found());
        assert!(table(&missed, 0).contains("NOT FOUND in 0 seeds"));
    }

    #[test]
    fn every_bug_has_a_sign_that_is_not_a_panic() {
        for bug in Bug::ALL {
            assert!(!signs(*bug).is_empty());
            assert!(signs(*bug).iter().all(|(invariant, _)| *invariant != 0));
        }
    }
}
