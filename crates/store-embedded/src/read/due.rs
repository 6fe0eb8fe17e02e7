//! Timers by due time, and runs with a ready mark.
//!
//! Ready marks are read often, so they are also kept in memory. Timers are written and deleted
//! often, and a scan must skip the tombstones of deleted rows until they are compacted. A scan
//! therefore begins at a time before which there are no timers.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use everstep_model::{StreamNumber, Timestamp};
use everstep_store::{StoreError, TimerQuery, TimerRow};
use fjall::Readable;

use crate::encoding::keys;
use crate::failure;
use crate::read::members::Members;
use crate::sets::Set;
use crate::storage::tables::Tables;
use crate::storage::view::View;

#[derive(Default)]
pub(crate) struct Due(Mutex<Known>);

#[derive(Default)]
struct Known {
    ready: BTreeSet<StreamNumber>,
    /// No durable timer is due before this time.
    timers_from: Timestamp,
    /// Increases when timers are added, so that a scan does not raise `timers_from` above a timer
    /// that was added meanwhile.
    additions: u64,
}

/// The changes of a batch, published once it is durable.
#[derive(Default)]
pub(crate) struct DueChanges {
    pub(crate) marked: Vec<StreamNumber>,
    pub(crate) cleared: Vec<StreamNumber>,
    pub(crate) earliest_timer: Option<Timestamp>,
}

impl Due {
    /// Reads the ready marks.
    pub(crate) fn load(tables: &Tables) -> Result<Self, StoreError> {
        let view = View::new(tables);
        let mut ready = BTreeSet::new();
        for row in view.snapshot.iter(&tables.ready) {
            ready.extend(Members::of_row(&view, &Set::Ready, row)?);
        }
        let known = Known {
            ready,
            ..Known::default()
        };
        Ok(Self(Mutex::new(known)))
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn publish(&self, changes: DueChanges) {
        let mut known = self.known();
        for number in changes.cleared {
            known.ready.remove(&number);
        }
        known.ready.extend(changes.marked);
        if let Some(earliest) = changes.earliest_timer {
            known.timers_from = known.timers_from.min(earliest);
            known.additions += 1;
        }
    }

    /// Returns the streams with a ready mark that follow `after`.
    pub(crate) fn ready(&self, after: Option<StreamNumber>, limit: usize) -> Vec<StreamNumber> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let known = self.known();
        let ready = known.ready.range((from, Bound::Unbounded));
        ready.take(limit).copied().collect()
    }

    pub(crate) fn timers(
        &self,
        tables: &Tables,
        query: &TimerQuery,
    ) -> Result<Vec<TimerRow>, StoreError> {
        let (floor, additions) = {
            let known = self.known();
            (known.timers_from, known.additions)
        };
        let from = match &query.after {
            Some(after) if after.due >= floor => Bound::Excluded(keys::timer(after).0),
            _ => Bound::Included(keys::timers_from(floor).to_vec()),
        };
        let timers = scan(&View::new(tables), from, query)?;
        if query.after.is_none() {
            self.remember(query, &timers, additions);
        }
        Ok(timers)
    }

    /// Raises `timers_from` to the first timer found, or past the queried time if there is none.
    fn remember(&self, query: &TimerQuery, found: &[TimerRow], additions: u64) {
        let floor = match found.first() {
            Some(first) => first.due,
            None if query.limit == 0 => return,
            None => Timestamp::from_millis(query.until.as_millis().saturating_add(1)),
        };
        let mut known = self.known();
        if known.additions == additions {
            known.timers_from = known.timers_from.max(floor);
        }
    }
}

fn scan(
    view: &View<'_>,
    from: Bound<Vec<u8>>,
    query: &TimerQuery,
) -> Result<Vec<TimerRow>, StoreError> {
    let mut timers = Vec::new();
    if query.limit == 0 {
        return Ok(timers);
    }
    let range = (from, Bound::Unbounded);
    for row in view.snapshot.range(&view.tables.timers, range) {
        let (key, value) = view.tables.check(row.into_inner())?;
        let timer = match view.check("a timer", keys::timer_row(&key, &value)) {
            Ok(timer) => timer,
            Err(error) => {
                failure::log_skipped("timers", &error);
                continue;
            }
        };
        if timer.due > query.until {
            break;
        }
        timers.push(timer);
        if timers.len() >= query.limit {
            break;
        }
    }
    Ok(timers)
}
