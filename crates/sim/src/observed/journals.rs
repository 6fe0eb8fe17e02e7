//! The expected journals. They follow from the commits and their outcomes alone, without reading
//! the store, so that an error of the store is noticed.

use std::collections::BTreeMap;

use everstep_model::{NodeId, StreamName, StreamNumber, Timestamp};
use everstep_store::{
    Commit, CommitId, CreateCommit, Outcome, RemoveCommit, Row, RowKey, TimerRow,
};

use super::stream::{Landed, Stream};
use super::violation::Violation;
use super::{appending, firing, removing, waking};

/// The expected state of all streams.
#[derive(Debug, Default)]
pub struct Journals {
    streams: BTreeMap<StreamNumber, Stream>,
    commits: BTreeMap<(u64, u64), Outcome>,
    keys: BTreeMap<(String, String), StreamName>,
    last_number: StreamNumber,
    /// The latest time that the clock of the next sender has shown.
    shown: Timestamp,
}

impl Journals {
    /// Sets the latest time that the clock of the next sender has shown. It may have been set back
    /// since.
    pub fn clock_has_shown(&mut self, shown: Timestamp) {
        self.shown = shown;
    }

    /// Returns all streams, including removed ones.
    pub fn streams(&self) -> impl Iterator<Item = &Stream> {
        self.streams.values()
    }

    #[must_use]
    pub fn stream(&self, number: StreamNumber) -> Option<&Stream> {
        self.streams.get(&number)
    }

    /// Records a claim that was granted to a node and then lost by the store.
    pub fn claim_lost(&mut self, number: StreamNumber, node: NodeId) {
        if let Some(stream) = self.streams.get_mut(&number) {
            stream.has_lost_claim |= stream.owner == Some(node);
        }
    }

    /// Returns all generations of a run, the oldest first.
    pub fn generations<'a>(&'a self, run: &'a str) -> impl Iterator<Item = &'a Stream> {
        let is_its = move |stream: &&Stream| {
            let id = stream.run.as_ref();
            id.is_some_and(|(id, _)| id.as_str() == run)
        };
        self.streams.values().filter(is_its)
    }

    pub(crate) fn of(streams: impl IntoIterator<Item = Stream>) -> Self {
        let by_number = streams.into_iter().map(|stream| (stream.number, stream));
        Self {
            streams: by_number.collect(),
            ..Self::default()
        }
    }

    /// Applies a batch that took effect at a time of the store's clock, and returns the violations.
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

    /// Invariant 6: a repeated commit has the same outcome as the first time, or is refused as too
    /// old.
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
            format!(
                "commit {id:?} had the outcome {first:?}, and {outcome:?} when it was repeated"
            ),
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
                    let what = format!("{} was created twice", twin.label());
                    broken.push(Violation::of(13, what));
                }
                self.last_number = self.last_number.max(landed.number);
                let stream = Stream::created(name.clone(), commit, &landed);
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
                let what = format!("a commit to stream {}, which does not exist", landed.number);
                broken.push(Violation::of(1, what));
            }
            return broken;
        };
        broken.extend(appending::check(stream, commit, landed.first));
        broken.extend(firing::check(stream, commit));
        stream.apply(commit, &landed);
        broken.extend(waking::check(stream));
        broken.extend(self.take_keys(commit, landed.number));
        broken
    }

    /// Invariant 13: an idempotency key leads to one run until the run is removed.
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

/// What is known about a commit id.
enum Before {
    Never,
    Same,
    Other(Violation),
}

#[cfg(test)]
mod tests {
    use everstep_model::{NodeId, RecordNumber};

    use super::super::samples::{broken, committed, creation, inbox_event, number};
    use super::*;

    #[test]
    fn a_repeated_commit_that_takes_effect_twice_is_found() {
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
