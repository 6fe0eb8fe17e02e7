//! Invariants 21, 28 and 29: once the faults have ended, runs that can continue do so within a
//! lease and a sweep, and overdue timers fire.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use everstep_model::{Epoch, StreamNumber};
use everstep_store::{Store as _, StreamRef, TimerQuery, TimerRow};
use futures_util::FutureExt as _;

use crate::cluster::{World, true_time};
use crate::observed::Violation;

/// The interval of the check.
const EVERY: Duration = Duration::from_secs(1);
/// Additional time for starts, claims and the network.
const SLACK: Duration = Duration::from_secs(5);

/// Runs and timers without progress, and since when.
#[derive(Default)]
pub struct Watch {
    ready: BTreeMap<Free, u64>,
    timers: BTreeMap<TimerRow, u64>,
}

/// A run that can continue and has no executor. Its epoch shows whether a node had claimed it
/// between two checks.
type Free = (StreamNumber, Option<Epoch>);

impl Watch {
    /// Checks until the simulation ends.
    pub async fn over(world: Arc<World>) {
        let mut watch = Self::default();
        let settings = &world.plan.settings;
        // A timer that could not be fired is retried after a lease, and a timer whose hint was lost
        // is found when timers are read again.
        let wait = settings.lease_ttl + settings.sweep_interval + SLACK;
        let timers = settings.lease_ttl + settings.timer_horizon + SLACK;
        loop {
            world.sleep(EVERY).await;
            let now = world.executor.now();
            let ready = world.store.ready(None, 1_000).now_or_never();
            let ready = ready.and_then(Result::ok).unwrap_or_default();
            let free = ready.iter().filter(|run| run.executed_by.is_none());
            let free = free.map(|run| (run.stream, epoch(&world, run.stream)));
            let query = TimerQuery {
                until: true_time(now),
                after: None,
                limit: 1_000,
            };
            let due = world.store.timers(query).now_or_never();
            let due = due.and_then(Result::ok).unwrap_or_default();
            let found = watch.check(now, free, due, (wait, timers));
            found
                .into_iter()
                .for_each(|violation| world.violated(violation));
        }
    }

    /// Runs that can continue and have no executor, and timers that are due.
    fn check(
        &mut self,
        now: u64,
        free: impl Iterator<Item = Free>,
        due: Vec<TimerRow>,
        (run_wait, timer_wait): (Duration, Duration),
    ) -> Vec<Violation> {
        let since = |known: Option<&u64>| known.copied().unwrap_or(now);
        self.ready = free.map(|run| (run, since(self.ready.get(&run)))).collect();
        let timers = due.into_iter().map(|timer| {
            let known = since(self.timers.get(&timer));
            (timer, known)
        });
        self.timers = timers.collect();
        let is_too_long = |since: &u64, wait: Duration| now - since > wait.as_micros() as u64;
        let mut found = Vec::new();
        for ((run, _), _) in self
            .ready
            .iter()
            .filter(|(_, since)| is_too_long(since, run_wait))
        {
            let what =
                format!("stream {run} can continue and has had no executor for {run_wait:?}");
            found.push(Violation::of(29, what));
        }
        for (timer, _) in self
            .timers
            .iter()
            .filter(|(_, since)| is_too_long(since, timer_wait))
        {
            found.push(Violation::of(
                21,
                format!("{timer:?} has been due for {timer_wait:?}"),
            ));
        }
        found
    }
}

fn epoch(world: &World, stream: StreamNumber) -> Option<Epoch> {
    let head = world.store.head(StreamRef::Number(stream)).now_or_never();
    Some(head?.ok()??.epoch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observed::samples::{FINE, at, broken, number};

    #[test]
    fn runs_and_timers_without_progress_are_found() {
        let timer = TimerRow {
            due: at(0),
            stream: number(1),
            purpose: everstep_model::record::TimerPurpose::Sleep,
            location: None,
        };
        let second = Duration::from_secs(1);
        let mut watch = Watch::default();
        let mut check = |now: u64, is_there: bool| {
            let free = is_there.then(|| (number(1), Some(Epoch(1))));
            let due = is_there.then(|| timer.clone()).into_iter().collect();
            broken(&watch.check(now, free.into_iter(), due, (second, second)))
        };
        assert_eq!(check(0, true), FINE);
        assert_eq!(check(900_000, false), FINE, "it made progress");
        assert_eq!(check(1_500_000, true), FINE);
        assert_eq!(check(2_600_000, true), [29, 21]);
    }

    #[test]
    fn a_run_that_was_claimed_between_two_checks_has_made_progress() {
        let mut watch = Watch::default();
        let mut check = |now: u64, epoch: u64| {
            let free = std::iter::once((number(1), Some(Epoch(epoch))));
            broken(&watch.check(
                now,
                free,
                Vec::new(),
                (Duration::from_secs(1), Duration::MAX),
            ))
        };
        assert_eq!(check(0, 1), FINE);
        assert_eq!(check(1_000_000, 1), FINE);
        assert_eq!(check(2_000_000, 2), FINE);
        assert_eq!(check(3_500_000, 2), [29]);
    }
}
