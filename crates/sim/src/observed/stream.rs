//! The expected state of one stream.

use std::collections::{BTreeMap, BTreeSet};

use everstep_model::{
    Body, Entry, Generation, NodeId, Origin, RecordNumber, RecordRange, RunId, StreamName,
    StreamNumber, Timestamp,
};
use everstep_store::{Claim, Commit, Fence, Guard, LeaseChange, Row, RowKey, TimerRow};

/// When and where a commit landed.
pub(super) struct Landed {
    pub(super) at: Timestamp,
    pub(super) number: StreamNumber,
    pub(super) first: RecordNumber,
    pub(super) taken: Option<Fence>,
}

/// What is known of one stream.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Its number.
    pub number: StreamNumber,
    /// Its name.
    pub name: StreamName,
    /// The run and life it is the journal of.
    pub run: Option<(RunId, Generation)>,
    /// All that was ever appended.
    pub entries: Vec<Entry>,
    /// What loops have dropped.
    pub dropped: Vec<RecordRange>,
    /// How many records its creation brought along.
    pub copied: usize,
    /// Where the commits of its executors begin.
    pub commits: BTreeSet<RecordNumber>,
    /// When it was created, by the store's clock.
    pub created_at: Timestamp,
    /// The highest epoch granted.
    pub epoch: u64,
    /// The right in force.
    pub fence: Option<Fence>,
    /// The last executor commit of the epoch.
    pub seq: u64,
    /// How many inbox records it has.
    pub inbox: u64,
    /// Dedup ids it has seen.
    pub dedup: BTreeSet<String>,
    /// When it was closed, by the store's clock.
    pub closed_at: Option<Timestamp>,
    /// The clock of whoever closed it.
    pub ended_at: Option<Timestamp>,
    /// Whether it was removed.
    pub is_removed: bool,
    /// When it was removed, by the store's clock and at the latest by that of whoever removed it.
    pub removed_at: Option<(Timestamp, Timestamp)>,
    /// The node that holds it.
    pub owner: Option<NodeId>,
    /// Whether that node was granted it once more, in vain: it may execute the run twice, and only one of the two counts.
    pub is_doubted: bool,
    /// Timers that are set, and since when by the store's clock.
    pub timers: BTreeMap<TimerRow, Timestamp>,
    /// Whether it is marked as having something to do.
    pub is_ready: bool,
    /// How many inbox records it had seen when it last came to rest.
    pub seen_at_rest: u64,
}

impl Stream {
    /// One that nothing was appended to yet.
    pub(crate) fn empty(number: StreamNumber, name: StreamName, created_at: Timestamp) -> Self {
        Self {
            number,
            run: name.run(),
            name,
            entries: Vec::new(),
            dropped: Vec::new(),
            copied: 0,
            commits: BTreeSet::new(),
            created_at,
            epoch: 0,
            fence: None,
            seq: 0,
            inbox: 0,
            dedup: BTreeSet::new(),
            closed_at: None,
            ended_at: None,
            is_removed: false,
            removed_at: None,
            owner: None,
            is_doubted: false,
            timers: BTreeMap::new(),
            is_ready: false,
            seen_at_rest: 0,
        }
    }

    /// The number of the next record.
    #[must_use]
    pub fn next(&self) -> RecordNumber {
        let last = self.entries.last();
        last.map_or(RecordNumber(0), |last| last.number.plus(1))
    }

    /// Whether a record was dropped.
    #[must_use]
    pub fn is_dropped(&self, number: RecordNumber) -> bool {
        let covers = |range: &RecordRange| range.first <= number && number <= range.last;
        self.dropped.iter().any(covers)
    }

    /// What a reader sees.
    pub fn visible(&self) -> impl Iterator<Item = &Entry> {
        self.entries
            .iter()
            .filter(|entry| !self.is_dropped(entry.number))
    }

    /// Its last record, if that ends the run.
    #[must_use]
    pub fn end(&self) -> Option<&Body> {
        self.closed_at?;
        self.entries.last().map(|entry| &entry.record.body)
    }

    /// The words a violation names it by.
    #[must_use]
    pub fn told(&self) -> String {
        format!("{} (stream {})", self.name, self.number)
    }

    pub(super) fn created(name: StreamName, commit: &Commit, landed: &Landed) -> Self {
        Self {
            copied: commit.records().len(),
            ..Self::empty(landed.number, name, landed.at)
        }
    }

    /// Applies a commit that took effect.
    pub(super) fn apply(&mut self, commit: &Commit, landed: &Landed) {
        for (index, record) in commit.records().iter().enumerate() {
            self.inbox += u64::from(record.body.origin() == Origin::Inbox);
            self.entries.push(Entry {
                number: landed.first.plus(index),
                record: record.clone(),
            });
        }
        if let Some(executor) = commit.executor() {
            self.seq = executor.seq.0;
            if !commit.records().is_empty() {
                self.commits.insert(landed.first);
            }
        }
        match commit.lease() {
            LeaseChange::Keep => {}
            LeaseChange::Release | LeaseChange::Abandon => {
                (self.fence, self.owner) = (None, None);
            }
            LeaseChange::Revoke => {
                (self.fence, self.owner) = (None, None);
                self.epoch += 1;
            }
            LeaseChange::Claim(Claim { node, .. }) => {
                if let Some(fence) = landed.taken
                    && self.fence != Some(fence)
                {
                    self.fence = Some(fence);
                    self.owner = Some(node);
                    self.is_doubted = false;
                    self.epoch = fence.epoch.0;
                    self.seq = 0;
                }
            }
        }
        self.dedup.extend(commit.dedup().map(str::to_owned));
        self.dropped.extend(commit.dropped().iter().copied());
        for key in commit.delete() {
            if let RowKey::Timer(timer) = key {
                self.timers.remove(timer);
            }
        }
        for row in commit.put() {
            if let Row::Timer(timer) = row {
                let timer = TimerRow {
                    stream: self.number,
                    ..timer.clone()
                };
                self.timers.entry(timer).or_insert(landed.at);
            }
        }
        if let Some(is_ready) = commit.ready() {
            self.is_ready = is_ready;
            let seen = commit.guards().iter().find_map(|guard| match guard {
                Guard::InboxSeen(count) => Some(*count),
                _ => None,
            });
            if !is_ready {
                self.seen_at_rest = seen.unwrap_or(self.inbox);
            }
        }
        if commit.closes() {
            self.closed_at = Some(landed.at);
            self.ended_at = Some(commit.now());
        }
    }
}
