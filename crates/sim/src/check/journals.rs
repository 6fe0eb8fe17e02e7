//! Our own books of every stream: all records that were ever appended, dropped ones included, and who may append. They
//! are kept from the commits and the answers alone, without asking the store, so that a store that errs is found out.

use std::collections::{BTreeMap, BTreeSet};

use everstep_model::{
    Body, Entry, Generation, NodeId, Origin, RecordNumber, RecordRange, RunId, StreamName,
    StreamNumber, Timestamp,
};
use everstep_store::{
    Claim, Commit, CommitId, CreateCommit, Fence, Guard, LeaseChange, Outcome, RemoveCommit, Row,
    RowKey, TimerRow,
};

use super::{Violation, appending, firing, removing, waking};

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
    pub(super) fn empty(number: StreamNumber, name: StreamName, created_at: Timestamp) -> Self {
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
}

/// The books.
#[derive(Debug, Default)]
pub struct Journals {
    streams: BTreeMap<StreamNumber, Stream>,
    commits: BTreeMap<(u64, u64), Outcome>,
    keys: BTreeMap<(String, String), StreamName>,
    last_number: StreamNumber,
    /// The latest time that the clock of whoever sends the next batch has shown.
    shown: Timestamp,
}

impl Journals {
    /// The next batch comes from somebody whose clock has shown this time, and may have been set back since.
    pub fn clock_has_shown(&mut self, shown: Timestamp) {
        self.shown = shown;
    }

    /// Every stream there ever was.
    pub fn streams(&self) -> impl Iterator<Item = &Stream> {
        self.streams.values()
    }

    /// One stream.
    #[must_use]
    pub fn stream(&self, number: StreamNumber) -> Option<&Stream> {
        self.streams.get(&number)
    }

    /// A node was granted a stream, and the store forgot it.
    pub fn granted_in_vain(&mut self, number: StreamNumber, node: NodeId) {
        if let Some(stream) = self.streams.get_mut(&number) {
            stream.is_doubted |= stream.owner == Some(node);
        }
    }

    /// Every life of a run, the oldest first.
    pub fn lives<'a>(&'a self, run: &'a str) -> impl Iterator<Item = &'a Stream> {
        let is_its = move |stream: &&Stream| {
            let life = stream.run.as_ref();
            life.is_some_and(|(id, _)| id.as_str() == run)
        };
        self.streams.values().filter(is_its)
    }

    /// Books with these streams in them.
    pub(super) fn of(streams: impl IntoIterator<Item = Stream>) -> Self {
        let by_number = streams.into_iter().map(|stream| (stream.number, stream));
        Self {
            streams: by_number.collect(),
            ..Self::default()
        }
    }

    /// A batch took effect, by the store's clock.
    pub fn commit(
        &mut self,
        at: Timestamp,
        batch: &[Commit],
        outcomes: &[Outcome],
    ) -> Vec<Violation> {
        let set_at = |timer: &TimerRow| self.stream(timer.stream)?.timers.get(timer).copied();
        let mut broken = firing::check_batch(at, batch, outcomes, set_at);
        for (commit, outcome) in batch.iter().zip(outcomes) {
            if let Some(id) = commit.id() {
                match self.answered_before(id, outcome) {
                    Before::Same => continue,
                    Before::Other(violation) => {
                        broken.push(violation);
                        continue;
                    }
                    Before::Never => {}
                }
            }
            if let Outcome::Committed {
                stream,
                first,
                taken,
                ..
            } = outcome
            {
                let landed = Landed {
                    at,
                    number: *stream,
                    first: *first,
                    taken: *taken,
                };
                broken.extend(self.landed(commit, landed));
            }
        }
        broken
    }

    /// Invariant 6: a commit that is sent again is answered as the first time, or refused as too old.
    fn answered_before(&mut self, id: CommitId, outcome: &Outcome) -> Before {
        let key = (id.node.0, id.number);
        let Some(first) = self.commits.get(&key) else {
            self.commits.insert(key, outcome.clone());
            return Before::Never;
        };
        let is_too_old = matches!(
            outcome,
            Outcome::Refused(everstep_store::Refusal::OutOfOrder)
        );
        if first == outcome || is_too_old {
            return Before::Same;
        }
        Before::Other(Violation::of(
            6,
            format!("commit {id:?} became {first:?}, and when it was sent again {outcome:?}"),
        ))
    }

    fn landed(&mut self, commit: &Commit, landed: Landed) -> Vec<Violation> {
        let mut broken = Vec::new();
        match commit {
            Commit::Create(CreateCommit { name, .. }) => {
                if landed.number <= self.last_number {
                    let what = format!("{name} got number {} a second time", landed.number);
                    broken.push(Violation::of(1, what));
                }
                let twin = self
                    .streams
                    .values()
                    .find(|s| s.name == *name && !s.is_removed);
                if let Some(twin) = twin {
                    let what = format!("{} was created twice", twin.told());
                    broken.push(Violation::of(13, what));
                }
                self.last_number = self.last_number.max(landed.number);
                let stream = created(name.clone(), commit, &landed);
                self.streams.insert(landed.number, stream);
            }
            Commit::Append(_) | Commit::Deliver(_) | Commit::ChangeRows(_) => {}
            Commit::Remove(RemoveCommit { streams, now, .. }) => {
                broken.extend(removing::check_removal(streams, &self.streams));
                for number in streams {
                    if let Some(stream) = self.streams.get_mut(number) {
                        stream.is_removed = true;
                        stream.removed_at = Some((landed.at, (*now).max(self.shown)));
                    }
                }
                broken.extend(self.take_keys(commit, landed.number));
                return broken;
            }
        }
        let Some(stream) = self.streams.get_mut(&landed.number) else {
            if !commit.only_deletes() {
                let what = format!("a commit to stream {} that never was", landed.number);
                broken.push(Violation::of(1, what));
            }
            return broken;
        };
        broken.extend(appending::check(stream, commit, landed.first));
        broken.extend(firing::check(stream, commit));
        apply(stream, commit, &landed);
        broken.extend(waking::check(stream));
        broken.extend(self.take_keys(commit, landed.number));
        broken
    }

    /// Invariant 13: one idempotency key leads to one run for ever.
    fn take_keys(&mut self, commit: &Commit, number: StreamNumber) -> Vec<Violation> {
        let mut broken = Vec::new();
        for key in &commit.rows().delete {
            if let RowKey::Idempotency(workflow, key) = key {
                self.keys.remove(&(workflow.to_string(), key.clone()));
            }
        }
        for row in &commit.rows().put {
            let Row::Idempotency(row) = row else { continue };
            let key = (row.workflow.to_string(), row.key.clone());
            let before = self.keys.insert(key, row.stream.clone());
            if before.is_some_and(|before| before != row.stream) {
                let what = format!("key {} leads to stream {number} and to another", row.key);
                broken.push(Violation::of(13, what));
            }
        }
        broken
    }
}

/// What the books know of a commit id.
enum Before {
    Never,
    Same,
    Other(Violation),
}

/// When and where a commit landed.
pub(super) struct Landed {
    pub(super) at: Timestamp,
    pub(super) number: StreamNumber,
    pub(super) first: RecordNumber,
    pub(super) taken: Option<Fence>,
}

fn created(name: StreamName, commit: &Commit, landed: &Landed) -> Stream {
    Stream {
        copied: commit.records().len(),
        ..Stream::empty(landed.number, name, landed.at)
    }
}

fn apply(stream: &mut Stream, commit: &Commit, landed: &Landed) {
    for (index, record) in commit.records().iter().enumerate() {
        stream.inbox += u64::from(record.body.origin() == Origin::Inbox);
        stream.entries.push(Entry {
            number: landed.first.plus(index),
            record: record.clone(),
        });
    }
    if let Some(executor) = commit.executor() {
        stream.seq = executor.seq.0;
        if !commit.records().is_empty() {
            stream.commits.insert(landed.first);
        }
    }
    match commit.lease() {
        LeaseChange::Keep => {}
        LeaseChange::Release | LeaseChange::Abandon => {
            (stream.fence, stream.owner) = (None, None);
        }
        LeaseChange::Revoke => {
            (stream.fence, stream.owner) = (None, None);
            stream.epoch += 1;
        }
        LeaseChange::Claim(Claim { node, .. }) => {
            if let Some(fence) = landed.taken
                && stream.fence != Some(fence)
            {
                stream.fence = Some(fence);
                stream.owner = Some(node);
                stream.is_doubted = false;
                stream.epoch = fence.epoch.0;
                stream.seq = 0;
            }
        }
    }
    stream.dedup.extend(commit.dedup().map(str::to_owned));
    stream.dropped.extend(commit.dropped().iter().copied());
    for key in &commit.rows().delete {
        if let RowKey::Timer(timer) = key {
            stream.timers.remove(timer);
        }
    }
    for row in &commit.rows().put {
        if let Row::Timer(timer) = row {
            let stream_number = stream.number;
            let timer = TimerRow {
                stream: stream_number,
                ..timer.clone()
            };
            stream.timers.entry(timer).or_insert(landed.at);
        }
    }
    if let Some(is_ready) = commit.ready() {
        stream.is_ready = is_ready;
        let seen = commit.guards().iter().find_map(|guard| match guard {
            Guard::InboxSeen(count) => Some(*count),
            _ => None,
        });
        if !is_ready {
            stream.seen_at_rest = seen.unwrap_or(stream.inbox);
        }
    }
    if commit.closes() {
        stream.closed_at = Some(landed.at);
        stream.ended_at = Some(commit.now());
    }
}

#[cfg(test)]
mod tests {
    use everstep_model::NodeId;

    use super::super::support::{broken, committed, creation, inbox_event, number};
    use super::*;

    #[test]
    fn a_commit_sent_again_that_takes_effect_twice_is_found() {
        let mut journals = Journals::default();
        let at = Timestamp::from_millis(0);
        let mut event = inbox_event("a");
        event.id = Some(CommitId {
            node: NodeId(1),
            number: 1,
        });
        assert!(
            journals
                .commit(at, &[creation("a").into()], &[committed(1, 0)])
                .is_empty()
        );
        let first = journals.commit(at, &[event.clone().into()], &[committed(1, 1)]);
        assert!(first.is_empty());
        let again = journals.commit(at, &[event.clone().into()], &[committed(1, 1)]);
        assert!(again.is_empty());
        let twice = journals.commit(at, &[event.into()], &[committed(1, 2)]);
        assert_eq!(broken(&twice), [6]);
    }

    #[test]
    fn a_run_that_is_created_twice_is_found() {
        let mut journals = Journals::default();
        let at = Timestamp::from_millis(0);
        let batch = [creation("a"), creation("a")].map(Into::into);
        let found = journals.commit(at, &batch, &[committed(1, 0), committed(2, 0)]);
        assert_eq!(broken(&found), [13]);
        assert_eq!(
            journals.stream(number(1)).map(Stream::next),
            Some(RecordNumber(1))
        );
    }
}
