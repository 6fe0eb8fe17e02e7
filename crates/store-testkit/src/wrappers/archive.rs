//! A store that keeps a copy of every committed record, including records that are dropped later.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use everstep_model::{Entry, Record, RecordNumber, StreamName, StreamNumber};
use everstep_store::{Answer, Call, Commit, Description, Intercept, Outcome, Store, StoreError};

/// Keeps a copy of every record that is committed through it.
pub struct Archive {
    inner: Arc<dyn Store>,
    streams: Mutex<Streams>,
}

#[derive(Default)]
struct Streams {
    numbers: BTreeMap<StreamName, StreamNumber>,
    records: BTreeMap<(StreamNumber, RecordNumber), Record>,
}

impl Streams {
    fn add(&mut self, commit: &Commit, outcome: &Outcome) {
        let Outcome::Committed { stream, first, .. } = outcome else {
            return;
        };
        if let Some(name) = commit.created() {
            self.numbers.insert(name.clone(), *stream);
        }
        for (index, record) in commit.records().iter().enumerate() {
            let key = (*stream, first.plus(index));
            self.records.insert(key, record.clone());
        }
    }
}

impl Archive {
    pub fn new(inner: impl Store) -> Self {
        Self {
            inner: Arc::new(inner),
            streams: Mutex::default(),
        }
    }

    /// Everything that was ever written to a stream, in order and without gaps. Empty if the
    /// stream never existed.
    pub fn written(&self, stream: &StreamName) -> Vec<Entry> {
        let streams = self.streams();
        let Some(number) = streams.numbers.get(stream) else {
            return Vec::new();
        };
        let first = (*number, RecordNumber(0));
        let records = streams.records.range(first..);
        records
            .take_while(|((stream, _), _)| stream == number)
            .map(|((_, number), record)| Entry {
                number: *number,
                record: record.clone(),
            })
            .collect()
    }

    fn streams(&self) -> MutexGuard<'_, Streams> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Intercept for Archive {
    fn target(&self) -> Result<Arc<dyn Store>, StoreError> {
        Ok(self.inner.clone())
    }

    fn description(&self) -> Description {
        self.inner.describe()
    }

    fn after(&self, call: &Call, answer: &mut Answer) -> Result<(), StoreError> {
        if let (Call::Commit { batch }, Answer::Commit(outcomes)) = (call, answer) {
            let mut streams = self.streams();
            for (commit, outcome) in batch.iter().zip(outcomes.iter()) {
                streams.add(commit, outcome);
            }
        }
        Ok(())
    }
}

impl std::fmt::Debug for Archive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Archive({} records)", self.streams().records.len())
    }
}
