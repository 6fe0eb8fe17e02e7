//! The write path. A batch is one call; commits that are busy, or turn out not to be plain, go into
//! the next call.

use std::sync::Arc;

use everstep_model::{NodeId, StreamNumber};
use everstep_store::{Commit, CommitId, Outcome, StoreError};

use crate::connection::io::Io;
use crate::session::Session;
use crate::write::call::Call;
use crate::write::judged;
use crate::write::plain::BatchItem;
use crate::write::plain_batch::PlainBatch;

/// The number of attempts for busy streams before the store waits for each one separately.
const MISSES_MAX: u32 = 3;

/// Commits a batch. Commits with ids of different nodes are sent in separate calls.
pub(crate) async fn commit(
    io: &Io,
    session: &Arc<Session>,
    batch: &[Commit],
) -> Result<Vec<Outcome>, StoreError> {
    let mut outcomes: Vec<Option<Outcome>> = Vec::new();
    outcomes.resize_with(batch.len(), || None);
    let items: Vec<BatchItem<'_>> = batch.iter().enumerate().collect();
    for part in of_one_node(&items) {
        let mut writer = Writer {
            io,
            session,
            sender: part.iter().find_map(|(_, commit)| commit.id()),
            outcomes: &mut outcomes,
        };
        writer.write(part.to_vec()).await?;
    }
    let all: Option<Vec<Outcome>> = outcomes.into_iter().collect();
    all.ok_or_else(|| StoreError::Unavailable {
        detail: "the database did not answer about every commit".to_owned(),
    })
}

/// Splits a batch where the node of the ids changes.
fn of_one_node<'a, 'b>(items: &'a [BatchItem<'b>]) -> Vec<&'a [BatchItem<'b>]> {
    let sender = |(_, commit): &BatchItem<'_>| commit.id().map(|id| id.node);
    let mut parts = Vec::new();
    let mut rest = items;
    while !rest.is_empty() {
        let first: Option<NodeId> = rest.iter().find_map(sender);
        let is_other = |commit: &BatchItem<'_>| sender(commit).is_some_and(|id| Some(id) != first);
        let length = rest.iter().position(is_other).unwrap_or(rest.len());
        let (part, others) = rest.split_at(length);
        parts.push(part);
        rest = others;
    }
    parts
}

/// Writes commits of one node.
struct Writer<'a> {
    io: &'a Io,
    session: &'a Arc<Session>,
    /// The first id: lower numbers are not sent again.
    sender: Option<CommitId>,
    outcomes: &'a mut [Option<Outcome>],
}

impl Writer<'_> {
    async fn write(&mut self, items: Vec<BatchItem<'_>>) -> Result<(), StoreError> {
        let (plain, judged) = PlainBatch::of(items);
        let mut left = self.call(plain, judged, false).await?;
        for _ in 0..MISSES_MAX {
            if left.is_empty() {
                return Ok(());
            }
            tracing::debug!(commits = left.len(), "commits busy or not plain, repeating");
            left = self.call(PlainBatch::default(), left, false).await?;
        }
        // Separately, so that no transaction waits for a stream while it holds another.
        while !left.is_empty() {
            let alone = first_alone(&left);
            let (now, later) = left.into_iter().partition(|(at, _)| alone.contains(at));
            left = later;
            left.extend(self.call(PlainBatch::default(), now, true).await?);
            left.sort_by_key(|(at, _)| *at);
        }
        Ok(())
    }

    /// Sends a call. Returns the commits that were busy, and plain ones that must be judged.
    async fn call<'c>(
        &mut self,
        mut plain: PlainBatch<'c>,
        judged: Vec<BatchItem<'c>>,
        may_wait: bool,
    ) -> Result<Vec<BatchItem<'c>>, StoreError> {
        let commits: Vec<&Commit> = judged.iter().map(|(_, commit)| *commit).collect();
        let columns = plain.take_columns();
        let ids = plain.commits().chain(commits.iter().copied());
        let call = Call::new(
            self.sender,
            ids.map(Commit::id),
            columns,
            (!commits.is_empty()).then(|| judged::columns(&commits)),
            may_wait,
        );
        let answer = self.io.run(call.send(self.session.clone())).await?;
        let judged_outcomes = judged.iter().enumerate();
        let judged_outcomes =
            judged_outcomes.map(|(nth, item)| (*item, answer.judged.outcome(nth, item.1)));
        let plain_outcomes = plain.outcomes(&answer.plain).into_iter();
        let mut left = Vec::new();
        for ((at, commit), outcome) in plain_outcomes.chain(judged_outcomes) {
            match (outcome, self.outcomes.get_mut(at)) {
                (Some(outcome), Some(slot)) => *slot = Some(outcome),
                _ => left.push((at, commit)),
            }
        }
        left.sort_by_key(|(at, _)| *at);
        let is_removal = |commit: &&Commit| matches!(commit, Commit::Remove(_));
        if commits.iter().any(is_removal) {
            self.io.spawn(self.session.clone().clear_garbage());
        }
        Ok(left)
    }
}

/// Returns the positions of the first commit and of those that share a stream with it. They are
/// committed together, in order.
fn first_alone(left: &[BatchItem<'_>]) -> Vec<usize> {
    let mut streams: Vec<StreamNumber> = Vec::new();
    let mut alone = Vec::new();
    for (at, commit) in left {
        if alone.is_empty() || commit.streams().any(|number| streams.contains(&number)) {
            streams.extend(commit.streams());
            alone.push(*at);
        }
    }
    alone
}
