//! A batch of commits with the callers that wait for their outcomes.

use everstep_model::{StreamName, StreamNumber};
use everstep_store::{Commit, Outcome, StoreError};

/// Receives the outcome of a commit, once. The commit itself is lent, so that its records can be
/// taken without a copy.
pub(crate) type Reply = Box<dyn FnOnce(&mut Commit, Result<Outcome, StoreError>) + Send>;

/// The number of commits for which an empty batch keeps memory.
const CAPACITY_KEPT: usize = 4_096;

/// A stream that a commit touches: by name if the commit creates it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Touched {
    Stream(StreamNumber),
    Name(StreamName),
}

/// Commits and their replies. Emptied batches are reused, so that a busy queue does not allocate
/// for each batch.
#[derive(Default)]
pub(super) struct Batch {
    commits: Vec<Commit>,
    replies: Vec<Reply>,
    /// The streams that the batch touches, if several batches may be in flight.
    pub(super) streams: Vec<Touched>,
}

impl Batch {
    pub(super) fn push(&mut self, commit: Commit, reply: Reply) {
        self.commits.push(commit);
        self.replies.push(reply);
    }

    pub(super) fn len(&self) -> usize {
        self.commits.len()
    }

    pub(super) fn commits(&mut self) -> &mut [Commit] {
        &mut self.commits
    }

    /// Releases the memory that only a burst of commits needed.
    pub(super) fn shrink(&mut self) {
        self.commits.shrink_to(CAPACITY_KEPT);
        self.replies.shrink_to(CAPACITY_KEPT);
    }

    /// Calls all replies, then drops the commits.
    pub(super) fn reply(&mut self, outcomes: impl Iterator<Item = Result<Outcome, StoreError>>) {
        let waiting = self.commits.iter_mut().zip(self.replies.drain(..));
        for ((commit, reply), outcome) in waiting.zip(outcomes) {
            reply(commit, outcome);
        }
        self.commits.clear();
    }

    pub(super) fn drain(&mut self) -> impl ExactSizeIterator<Item = (Commit, Reply)> {
        self.commits.drain(..).zip(self.replies.drain(..))
    }
}
