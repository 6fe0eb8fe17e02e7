//! Keeps two batches in flight from touching the same stream.
//!
//! Commits to one stream take effect, and their replies are called, in the order in which they were
//! queued. A commit whose stream is in flight waits for the next batch.

use everstep_store::Commit;
use rustc_hash::FxHashSet;

use super::batch::{Batch, Touched};

#[derive(Default)]
pub(super) struct InFlight {
    touched: FxHashSet<Touched>,
    /// The number of streams in the batch that landed last.
    last_landed: usize,
}

impl InFlight {
    /// Returns whether this many queued commits are worth a call and a sync of their own beside the
    /// batch in flight. As many as in flight are. Half as many are once nearly all callers of the
    /// last batch have queued their next commit, because waiting for more would mean waiting for
    /// the other batch. Fewer wait until there are more or the other batch has landed.
    pub(super) fn may_send(&self, queued: usize) -> bool {
        let in_flight = self.touched.len();
        let is_half = queued * 2 >= in_flight;
        let nearly_all_queued_again = queued * 20 >= self.last_landed * 19;
        queued >= in_flight || (is_half && nearly_all_queued_again)
    }

    /// Moves the commits that may be sent now from the queue into an empty batch.
    pub(super) fn send(&mut self, queued: &mut Batch, batch: &mut Batch) {
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

    /// Releases the streams of a batch after its replies were called.
    pub(super) fn landed(&mut self, batch: &mut Batch) {
        self.last_landed = batch.streams.len();
        for stream in batch.streams.drain(..) {
            self.touched.remove(&stream);
        }
    }
}

fn touched(commit: &Commit) -> impl Iterator<Item = Touched> {
    let streams = commit.streams().map(Touched::Stream);
    streams.chain(commit.created().cloned().map(Touched::Name))
}

#[cfg(test)]
mod tests {
    use everstep_model::{StreamNumber, Timestamp};
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
        let mut in_flight = InFlight::default();
        let (mut first, mut second) = (Batch::default(), Batch::default());
        in_flight.send(&mut queue(&[1, 1]), &mut first);
        let mut queued = queue(&[2, 1, 3, 1, 2]);
        in_flight.send(&mut queued, &mut second);
        assert_eq!(streams(&mut second), [2, 3, 2]);
        assert_eq!(streams(&mut queued), [1, 1]);
        in_flight.landed(&mut first);
        let mut third = Batch::default();
        // As many as in flight, which is two streams.
        in_flight.send(&mut queued, &mut third);
        assert_eq!(streams(&mut third), [1, 1]);
    }

    #[test]
    fn few_commits_wait_until_there_are_more_or_the_other_batch_has_landed() {
        let mut in_flight = InFlight::default();
        let (mut first, mut second) = (Batch::default(), Batch::default());
        in_flight.send(&mut queue(&[1, 2, 3]), &mut first);
        let mut queued = queue(&[4]);
        in_flight.send(&mut queued, &mut second);
        assert_eq!(second.len(), 0);
        in_flight.landed(&mut first);
        in_flight.send(&mut queued, &mut second);
        assert_eq!(streams(&mut second), [4]);
    }

    #[test]
    fn half_as_many_are_sent_once_nearly_all_callers_have_queued_again() {
        let mut in_flight = InFlight::default();
        let (mut first, mut second) = (Batch::default(), Batch::default());
        in_flight.send(&mut queue(&[1, 2, 3]), &mut first);
        in_flight.send(&mut queue(&[4, 5, 6, 7]), &mut second);
        in_flight.landed(&mut first);
        assert!(!in_flight.may_send(2), "one of three has not queued again");
        assert!(in_flight.may_send(3), "all three have");
        assert!(in_flight.may_send(4), "as many as in flight");
    }
}
