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
mod tests;
