//! Which streams have commits on their way to a store, so that batches which travel side by side never meet in one: commits
//! of a stream take effect, and are told, in the order in which they were queued.

use everstep_model::{StreamName, StreamNumber};
use everstep_store::Commit;
use rustc_hash::FxHashSet;

use crate::committer::Batch;

/// A stream, by whatever a commit knows of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Touched {
    Stream(StreamNumber),
    /// One that is to be created.
    Name(StreamName),
}

#[derive(Default)]
pub(crate) struct UnderWay {
    touched: FxHashSet<Touched>,
    /// How many streams the batch had that came back last.
    told: usize,
}

impl UnderWay {
    /// Whether this many commits are worth a call and a sync of their own beside what is under way. If they are as many, they
    /// are. If they are half as many, they go once nearly everybody has answered who was told of the last batch: to wait for
    /// more would be to wait for the other batch. What is less waits until it is more, or until the other one is back.
    pub(crate) fn may_send(&self, queued: usize) -> bool {
        let under_way = self.touched.len();
        let is_half = queued * 2 >= under_way;
        let nearly_all_answered = queued * 20 >= self.told * 19;
        queued >= under_way || (is_half && nearly_all_answered)
    }

    /// Moves what may go now from the queue into an empty batch.
    pub(crate) fn send(&mut self, queued: &mut Batch, batch: &mut Batch) {
        if !self.may_send(queued.len()) {
            return;
        }
        let mut held = FxHashSet::default();
        let mut waiting = std::mem::take(queued);
        for (commit, reply) in waiting.drain() {
            let is_held = |stream: &Touched| self.touched.contains(stream) || held.contains(stream);
            if touched(&commit).any(|stream| is_held(&stream)) {
                held.extend(touched(&commit));
                queued.push(commit, reply);
            } else {
                batch.push(commit, reply);
            }
        }
        let streams: Vec<Touched> = batch.commits().iter().flat_map(touched).collect();
        self.touched.extend(streams.iter().cloned());
        batch.streams = streams;
    }

    /// A batch is back, and everybody has been told.
    pub(crate) fn landed(&mut self, batch: &mut Batch) {
        self.told = batch.streams.len();
        for stream in batch.streams.drain(..) {
            self.touched.remove(&stream);
        }
    }
}

/// The streams that a commit is about.
fn touched(commit: &Commit) -> impl Iterator<Item = Touched> {
    let streams = commit.streams().map(Touched::Stream);
    streams.chain(commit.created().cloned().map(Touched::Name))
}

#[cfg(test)]
mod tests {
    use everstep_model::Timestamp;
    use everstep_store::DeliverCommit;

    use super::*;

    fn queue(streams: &[u64]) -> Batch {
        let mut queued = Batch::default();
        for number in streams {
            let commit = DeliverCommit::new(StreamNumber(*number), Timestamp::from_millis(0));
            queued.push(commit.into(), Box::new(|_, _| {}));
        }
        queued
    }

    fn streams(batch: &mut Batch) -> Vec<u64> {
        let number = |commit: &Commit| commit.stream().unwrap().0;
        batch.commits().iter().map(number).collect()
    }

    #[test]
    fn a_stream_is_in_one_batch_at_a_time_and_nothing_overtakes() {
        let mut under_way = UnderWay::default();
        let (mut first, mut second) = (Batch::default(), Batch::default());
        under_way.send(&mut queue(&[1, 1]), &mut first);
        let mut queued = queue(&[2, 1, 3, 1, 2]);
        under_way.send(&mut queued, &mut second);
        assert_eq!(streams(&mut second), [2, 3, 2]);
        assert_eq!(streams(&mut queued), [1, 1]);
        under_way.landed(&mut first);
        let mut third = Batch::default();
        // As large as what is on its way, which is two streams.
        under_way.send(&mut queued, &mut third);
        assert_eq!(streams(&mut third), [1, 1]);
    }

    #[test]
    fn little_waits_until_it_is_more_or_until_the_other_is_back() {
        let mut under_way = UnderWay::default();
        let (mut first, mut second) = (Batch::default(), Batch::default());
        under_way.send(&mut queue(&[1, 2, 3]), &mut first);
        let mut queued = queue(&[4]);
        under_way.send(&mut queued, &mut second);
        assert_eq!(second.len(), 0);
        under_way.landed(&mut first);
        under_way.send(&mut queued, &mut second);
        assert_eq!(streams(&mut second), [4]);
    }

    #[test]
    fn half_as_many_go_once_nearly_everybody_has_answered_who_was_told() {
        let mut under_way = UnderWay::default();
        let (mut first, mut second) = (Batch::default(), Batch::default());
        under_way.send(&mut queue(&[1, 2, 3]), &mut first);
        under_way.send(&mut queue(&[4, 5, 6, 7]), &mut second);
        under_way.landed(&mut first);
        assert!(!under_way.may_send(2), "one of three has not answered");
        assert!(under_way.may_send(3), "all three have");
        assert!(under_way.may_send(4), "as many as are under way");
    }
}
