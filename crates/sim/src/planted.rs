//! The hunt for planted bugs: seeds are simulated with a bug until one fails, and it must fail because of that bug. The same seed
//! without it must be clean.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use everstep_model::planted::Bug;

use crate::campaign::simulate_caught;
use crate::observed::Violation;
use crate::plan::{Limits, Plan};

/// What may give a bug away: the invariant that does not hold, and the check that notices. Anything else that a seed fails by
/// has nothing to do with the bug; a panic is no sign of anything.
fn signs(bug: Bug) -> &'static [(u8, &'static str)] {
    match bug {
        Bug::NoEpochCheck | Bug::FenceDroppedByCompaction => &[(3, "appending")],
        // Of two with one epoch, the second may be told that its commit is a repetition of the other's.
        Bug::NoNonceCheck => &[(3, "appending"), (7, "restoring")],
        Bug::AckBeforeDurable => &[(4, "appending"), (4, "reading"), (1, "reading")],
        Bug::DedupForgottenAtTakeover => &[(14, "appending")],
        Bug::TimerEarly => &[(19, "firing")],
        Bug::TimerFiredTwice => &[(20, "firing")],
        Bug::EventConsumedTwice => &[(14, "events"), (12, "replaying")],
        Bug::EventLostAtSuspension => &[(29, "waking")],
        Bug::UndoOrderReversed => &[(22, "undoing")],
        Bug::UndoRepeatedAfterCrash => &[(22, "env"), (22, "undoing")],
        Bug::RaceLoserPersisted => &[(12, "replaying")],
        Bug::CompletionBeatsCancel => &[(16, "ending")],
        Bug::ChildStartedTwice => &[(17, "children")],
        // Whoever waits for a child that never came to be waits for ever.
        Bug::OutboxRemovedFirst => &[(14, "events"), (17, "children"), (29, "simulation")],
        Bug::RetryCountedOnTakeover => &[(10, "steps")],
        Bug::ResultAfterTerminate => &[(24, "appending")],
        Bug::ReadyClearedUnguarded => &[(2, "appending")],
        Bug::TwoResolvedPerPoll => &[(12, "replaying"), (12, "clients")],
        Bug::LoopUnrecorded => &[(12, "replaying")],
        Bug::KeyCheckedOutside => &[(13, "journals")],
        // Whoever waits for a child whose namesake passed for it waits for ever, too.
        Bug::NamesakesConfused => &[
            (14, "events"),
            (17, "children"),
            (11, "ending"),
            (29, "simulation"),
        ],
        // What is in a journal twice is not what the code said: it diverges, or replays to something else.
        Bug::AppendPassedOnAgain => &[(12, "clients"), (12, "replaying"), (9, "steps")],
    }
}

/// A bug that was found.
#[derive(Clone, Debug)]
pub struct Catch {
    /// The seed that found it.
    pub seed: u64,
    /// What gave it away.
    pub violation: Violation,
}

/// What became of the hunt for a bug.
#[derive(Clone, Debug)]
pub enum Hunt {
    /// It was found.
    Caught(Catch),
    /// No seed of so many failed.
    Missed(u64),
    /// The first seed that failed did so for a reason that has nothing to do with the bug.
    Unrelated(Catch),
    /// The seed that found it fails without it too.
    FailsAnyway(Catch),
}

impl Hunt {
    /// Whether the bug was found, and as it should be.
    #[must_use]
    pub fn is_caught(&self) -> bool {
        matches!(self, Self::Caught(_))
    }
}

/// Hunts for a bug in so many seeds, from this one on.
#[must_use]
pub fn hunt(bug: Bug, first: u64, seeds: u64) -> Hunt {
    for seed in first..first.saturating_add(seeds) {
        let plan = Plan::new(seed, Limits::default());
        let report = simulate_caught(&plan.clone().with_bug(Some(bug)), false);
        let Some(other) = report.violations.first() else {
            continue;
        };
        let is_sign = |found: &&Violation| signs(bug).contains(&(found.invariant, found.check));
        let Some(found) = report.violations.iter().find(is_sign) else {
            let violation = other.clone();
            return Hunt::Unrelated(Catch { seed, violation });
        };
        let control = simulate_caught(&plan, false).violations.into_iter().next();
        return match control {
            Some(violation) => Hunt::FailsAnyway(Catch { seed, violation }),
            None => Hunt::Caught(Catch {
                seed,
                violation: found.clone(),
            }),
        };
    }
    Hunt::Missed(seeds)
}

/// Hunts for all these bugs, several at once, telling how many are done about twice a second.
pub fn hunt_all(
    bugs: &[Bug],
    (first, seeds): (u64, u64),
    threads: usize,
    mut progress: impl FnMut(usize),
) -> Vec<(Bug, Hunt)> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let lock = || done.lock().unwrap_or_else(PoisonError::into_inner);
    let work = || {
        while let Some(bug) = bugs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let hunted = hunt(*bug, first, seeds);
            lock().push((*bug, hunted));
        }
    };
    std::thread::scope(|scope| {
        let threads = (0..threads.max(1)).map(|_| scope.spawn(work));
        let threads: Vec<_> = threads.collect();
        while threads.iter().any(|thread| !thread.is_finished()) {
            std::thread::park_timeout(Duration::from_millis(500));
            progress(lock().len());
        }
    });
    let mut done = lock().clone();
    done.sort_by_key(|(bug, _)| *bug);
    done
}

/// What became of each bug: the seeds it took, the invariant that was broken, and who noticed.
#[must_use]
pub fn table(hunted: &[(Bug, Hunt)], first: u64) -> String {
    let mut text = format!(
        "{:28} {:>5}  {:9}  {:10}  {}\n",
        "bug", "seeds", "invariant", "noticed by", "what was seen"
    );
    for (bug, hunt) in hunted {
        let name = bug.name();
        let _ = match hunt {
            Hunt::Caught(Catch { seed, violation }) => {
                let (seeds, what) = (seed - first + 1, cut(&violation.what));
                let (invariant, check) = (violation.invariant, violation.check);
                writeln!(
                    text,
                    "{name:28} {seeds:>5}  {invariant:9}  {check:10}  {what}"
                )
            }
            Hunt::Missed(seeds) => writeln!(text, "{name:28} NOT FOUND in {seeds} seeds"),
            Hunt::Unrelated(Catch { seed, violation }) => writeln!(
                text,
                "{name:28} seed {seed} FAILS FOR ANOTHER REASON: {violation} ({})",
                violation.check
            ),
            Hunt::FailsAnyway(Catch { seed, violation }) => {
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
    fn a_bug_that_no_seed_finds_is_told() {
        let missed = [(Bug::TimerEarly, hunt(Bug::TimerEarly, 0, 0))];
        assert!(!missed[0].1.is_caught());
        assert!(table(&missed, 0).contains("NOT FOUND in 0 seeds"));
    }

    #[test]
    fn every_bug_has_a_sign_and_a_panic_is_none() {
        for bug in Bug::ALL {
            assert!(!signs(*bug).is_empty());
            assert!(signs(*bug).iter().all(|(invariant, _)| *invariant != 0));
        }
    }
}
