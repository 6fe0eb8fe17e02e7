//! The expected state of one stream.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use everstep_model::record::Created;
use everstep_model::{
    Body, Entry, Generation, NodeId, Origin, RecordNumber, RecordRange, RunId, StreamName,
    StreamNumber, Timestamp,
};
use everstep_store::{Claim, Commit, Fence, Guard, LeaseChange, Row, RowKey, TimerRow};

use super::violation::Violation;

/// When and where a commit took effect.
pub(super) struct Landed {
    pub(super) at: Timestamp,
    pub(super) number: StreamNumber,
    pub(super) first: RecordNumber,
    pub(super) taken: Option<Fence>,
}

/// The expected state of one stream.
// Large type: it models everything that the invariants require of a stream.
#[derive(Clone, Debug)]
pub struct Stream {
    pub number: StreamNumber,
    pub name: StreamName,
    /// The run and generation whose journal it is.
    pub run: Option<(RunId, Generation)>,
    /// All records, including dropped ones.
    pub entries: Vec<Entry>,
    /// The ranges that loops have dropped.
    pub dropped: Vec<RecordRange>,
    /// The number of records that its creation copied.
    pub copied: usize,
    /// The first records of the commits of its executors.
    pub commits: BTreeSet<RecordNumber>,
    /// By the store's clock.
    pub created_at: Timestamp,
    /// The highest epoch granted.
    pub epoch: u64,
    /// The fence in force.
    pub fence: Option<Fence>,
    /// The last executor commit of the epoch.
    pub seq: u64,
    /// The number of inbox records.
    pub inbox: u64,
    pub dedup: BTreeSet<String>,
    /// By the store's clock.
    pub closed_at: Option<Timestamp>,
    /// By the clock of the node that closed it.
    pub ended_at: Option<Timestamp>,
    pub is_removed: bool,
    /// By the store's clock, and at the latest by the clock of the node that removed it.
    pub removed_at: Option<(Timestamp, Timestamp)>,
    /// The node that has claimed it.
    pub owner: Option<NodeId>,
    /// Whether the store granted the owner another claim and lost it. The node may then execute the
    /// run twice, and only one of the two counts.
    pub has_lost_claim: bool,
    /// The timers that are set, and since when by the store's clock.
    pub timers: BTreeMap<TimerRow, Timestamp>,
    /// Whether it has a ready mark.
    pub is_ready: bool,
    /// The number of inbox records that its last suspension had seen.
    pub seen_at_suspension: u64,
}

impl Stream {
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
            has_lost_claim: false,
            timers: BTreeMap::new(),
            is_ready: false,
            seen_at_suspension: 0,
        }
    }

    #[must_use]
    pub fn next(&self) -> RecordNumber {
        let last = self.entries.last();
        last.map_or(RecordNumber(0), |last| last.number.plus(1))
    }

    #[must_use]
    pub fn is_dropped(&self, number: RecordNumber) -> bool {
        let covers = |range: &RecordRange| range.first <= number && number <= range.last;
        self.dropped.iter().any(covers)
    }

    /// Returns the records that a read returns.
    pub fn visible(&self) -> impl Iterator<Item = &Entry> {
        self.entries
            .iter()
            .filter(|entry| !self.is_dropped(entry.number))
    }

    /// Returns the last record, if it ends the run.
    #[must_use]
    pub fn end(&self) -> Option<&Body> {
        self.closed_at?;
        self.entries.last().map(|entry| &entry.record.body)
    }

    /// Returns the name of the stream in messages.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{} (stream {})", self.name, self.number)
    }

    /// Creates a violation in this stream, noticed by the calling file.
    #[track_caller]
    pub(crate) fn violation(&self, invariant: u8, what: impl Display) -> Violation {
        Violation::of(invariant, format!("{}: {what}", self.label()))
    }

    /// Returns the first record, which created the run.
    #[must_use]
    pub fn creation(&self) -> Option<&Created> {
        match &self.entries.first()?.record.body {
            Body::Created(created) => Some(created),
            _ => None,
        }
    }

    /// Returns the generation of the run whose journal this is.
    #[must_use]
    pub fn generation(&self) -> Option<Generation> {
        self.run.as_ref().map(|(_, generation)| *generation)
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
                    self.has_lost_claim = false;
                    self.epoch = fence.epoch.0;
                    self.seq = 0;
                }
            }
        }
        self.dedup.extend(commit.dedup().map(str::to_owned));
        self.dropped.extend(commit.dropped().iter().copied());
        for key in &commit.rows().delete {
            if let RowKey::Timer(timer) = key {
                self.timers.remove(timer);
            }
        }
        for row in &commit.rows().put {
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
                self.seen_at_suspension = seen.unwrap_or(self.inbox);
            }
        }
        if commit.closes() {
            self.closed_at = Some(landed.at);
            self.ended_at = Some(commit.now());
        }
    }
}
