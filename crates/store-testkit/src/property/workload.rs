//! Random batches that are determined by a seed, for tests that commit and check in two processes.

use std::ops::Range;
use std::sync::Arc;

use everstep_model::{Body, Payload};
use everstep_store::{Commit, MemoryStore, Outcome};
use proptest::collection::vec;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::account::Account;
use super::plan::{Change, change};
use super::resolve::batch;
use crate::clock::TestClock;
use crate::fixture::Fixture;
use crate::sample;

/// A sequence of batches, and the reference store that has committed those returned so far.
#[derive(Debug)]
pub struct Workload {
    reference: Fixture<MemoryStore>,
    runner: TestRunner,
    /// The batches that consist of a large event.
    filler: Range<usize>,
    returned: usize,
}

impl Workload {
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let clock = Arc::new(TestClock::new());
        Self {
            reference: Fixture {
                store: MemoryStore::new(clock.clone()),
                clock,
            },
            runner: TestRunner::new_with_rng(Config::default(), random),
            filler: 0..0,
            returned: 0,
        }
    }

    /// Replaces these batches by an event of one megabyte, in a stream outside of [`Account`].
    #[must_use]
    pub fn with_filler(mut self, batches: Range<usize>) -> Self {
        self.filler = batches;
        self
    }

    /// Returns the next batch and its outcomes in the reference.
    pub async fn next(&mut self) -> (Vec<Commit>, Vec<Outcome>) {
        let is_filler = self.filler.contains(&self.returned);
        self.returned += 1;
        let commits = match is_filler {
            true => vec![self.megabyte().await],
            false => self.changes().await,
        };
        let outcomes = self.reference.commit(commits.clone()).await;
        (commits, outcomes)
    }

    async fn changes(&mut self) -> Vec<Commit> {
        let tree = vec(change(), 1..6).new_tree(&mut self.runner);
        let changes: Vec<Change> = tree.expect("no filter refuses").current();
        batch(&self.reference, &changes).await
    }

    async fn megabyte(&self) -> Commit {
        let Some(head) = self.reference.head_of("filler").await else {
            return sample::creation("filler").into();
        };
        let mut large = sample::event("large");
        if let Body::Event(event) = &mut large.body {
            event.payload = Payload::from_value(&"0123456789".repeat(100_000)).unwrap();
        }
        sample::inbox(head.number, vec![large]).into()
    }

    /// Returns the content of a store that has committed the same batches.
    pub async fn account(&self) -> Account {
        Account::of(&self.reference).await
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use everstep_store::{Gate, GateChange, LeaseChange, Row};

    use super::*;
    use crate::block_on::block_on;

    /// Describes the parts of a commit.
    fn parts(commit: &Commit) -> Vec<&'static str> {
        let rows = commit.rows().put.iter().map(|row| match row {
            Row::Timer(_) => "timer",
            Row::Rpc(_) => "rpc",
            Row::Idempotency(_) => "idempotency key",
            Row::Generation(_) => "generation",
            Row::Outbox(_) => "effect",
            Row::Stream(_) => "stream row",
            Row::Producer(_) => "producer",
            Row::Shared(_) => "shared row",
        });
        let by_executor = matches!(commit, Commit::Append(_));
        let has_records = !commit.records().is_empty();
        let gate = match commit {
            Commit::Create(commit) => commit.gate != Gate::Open,
            Commit::Append(commit) => commit.gate.is_some(),
            Commit::Deliver(commit) => commit.gate != GateChange::Keep,
            Commit::ChangeRows(_) | Commit::Remove(_) => false,
        };
        let supersedes = matches!(commit, Commit::Create(commit) if commit.supersedes.is_some());
        let parts = [
            (matches!(commit, Commit::Create(_)), "creation"),
            (matches!(commit, Commit::Remove(_)), "removal"),
            (matches!(commit, Commit::ChangeRows(_)), "change of rows"),
            (by_executor && has_records, "step"),
            (!by_executor && has_records, "event"),
            (!commit.dropped().is_empty(), "drop"),
            (!commit.rows().delete.is_empty(), "deleted row"),
            (
                !commit.rows().delete_exact.is_empty(),
                "exactly deleted row",
            ),
            (gate, "gate"),
            (commit.dedup().is_some(), "dedup id"),
            (supersedes, "generation that follows"),
            (commit.status().is_some(), "status"),
            (commit.ready().is_some(), "ready mark"),
            (commit.closes(), "close"),
            (commit.lease() == LeaseChange::Release, "suspension"),
        ];
        let parts = parts.into_iter().filter(|(is_present, _)| *is_present);
        parts.map(|(_, what)| what).chain(rows).collect()
    }

    #[test]
    fn a_few_workloads_contain_all_kinds_of_changes() {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for seed in 1..=10 {
            let mut workload = Workload::new(seed);
            for _ in 0..60 {
                let (batch, outcomes) = block_on(workload.next());
                for (commit, outcome) in batch.iter().zip(outcomes) {
                    if matches!(outcome, Outcome::Committed { .. }) {
                        for part in parts(commit) {
                            *counts.entry(part).or_default() += 1;
                        }
                    }
                }
            }
        }
        println!("{counts:?}");
        assert_eq!(counts.len(), 23, "{counts:?}");
    }

    #[test]
    fn a_workload_is_determined_by_its_seed() {
        let (mut one, mut other) = (Workload::new(3), Workload::new(3));
        for _ in 0..20 {
            block_on(one.next());
            block_on(other.next());
        }
        assert_eq!(block_on(one.account()), block_on(other.account()));
    }
}
