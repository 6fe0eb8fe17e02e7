//! Undelivered effects on other runs, by stream and key.
//!
//! Effects are written and deleted often, and a scan must skip the tombstones of deleted rows until
//! they are compacted. Their keys, of which there are few at any time, are therefore also kept in
//! memory.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use everstep_model::StreamNumber;
use everstep_store::{OutboxRow, Row, RowKey, StoreError};
use fjall::Readable;

use crate::encoding::keys;
use crate::encoding::values;
use crate::storage::tables::Tables;
use crate::storage::view::View;

pub(crate) type EffectKey = (StreamNumber, String);

#[derive(Default)]
pub(crate) struct Effects(Mutex<BTreeSet<EffectKey>>);

impl Effects {
    /// Reads the keys of all effects.
    pub(crate) fn load(tables: &Tables) -> Result<Self, StoreError> {
        let view = View::new(tables);
        let mut known = BTreeSet::new();
        for row in view.snapshot.range(&tables.lookups, keys::all_effects()) {
            let (key, value) = tables.check(row.into_inner())?;
            let stream = view.check("an effect's key", keys::stream_of_effect(&key))?;
            let row = view.check("an effect", values::decode_effect(stream, &value))?;
            known.insert((stream, row.key));
        }
        Ok(Self(Mutex::new(known)))
    }

    /// Adds (`true`) and deletes the effects of a durable batch.
    pub(crate) fn publish(&self, changes: impl IntoIterator<Item = (EffectKey, bool)>) {
        let mut known = self.known();
        for (key, is_added) in changes {
            if is_added {
                known.insert(key);
            } else {
                known.remove(&key);
            }
        }
    }

    /// Returns the effects that follow `after`.
    pub(crate) fn rows(
        &self,
        tables: &Tables,
        after: Option<EffectKey>,
        limit: usize,
    ) -> Result<Vec<OutboxRow>, StoreError> {
        let mut rows = Vec::new();
        let mut last = after;
        while rows.len() < limit {
            let wanted = self.keys_after(last, limit - rows.len());
            let Some(end) = wanted.last().cloned() else {
                break;
            };
            last = Some(end);
            let view = View::new(tables);
            for (stream, key) in wanted {
                // The row may have been deleted since its key was read.
                if let Some(Row::Outbox(row)) = view.row(&RowKey::Outbox(stream, key))? {
                    rows.push(row);
                }
            }
        }
        Ok(rows)
    }

    fn keys_after(&self, after: Option<EffectKey>, limit: usize) -> Vec<EffectKey> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let known = self.known();
        let keys = known.range((from, Bound::Unbounded));
        keys.take(limit).cloned().collect()
    }

    fn known(&self) -> MutexGuard<'_, BTreeSet<EffectKey>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
