//! Random batches that follow from a seed, for tests in which the one who commits and the one who
//! checks are two processes.

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

/// Batches, and the reference store that has taken those that were handed out.
#[derive(Debug)]
pub struct Workload {
    reference: Fixture<MemoryStore>,
    runner: TestRunner,
    /// Batches that are large and do nothing else.
    filler: Range<usize>,
    handed_out: usize,
}

impl Workload {
    /// The workload of a seed, at its beginning.
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
            handed_out: 0,
        }
    }

    /// The same with a megabyte in each of these batches, in a stream that accounts leave out.
    #[must_use]
    pub fn with_filler(mut self, batches: Range<usize>) -> Self {
        self.filler = batches;
        self
    }

    /// The next batch, and what became of it in the reference.
    pub async fn next(&mut self) -> (Vec<Commit>, Vec<Outcome>) {
        let is_filler = self.filler.contains(&self.handed_out);
        self.handed_out += 1;
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

    /// What a store holds that has taken the same batches.
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

    /// What a commit does, in words.
    fn deeds(commit: &Commit) -> Vec<&'static str> {
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
        let said = [
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
        let said = said.into_iter().filter(|(is_so, _)| *is_so);
        said.map(|(_, what)| what).chain(rows).collect()
    }

    #[test]
    fn a_few_workloads_do_all_there_is_to_do() {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for seed in 1..=10 {
            let mut workload = Workload::new(seed);
            for _ in 0..60 {
                let (batch, outcomes) = block_on(workload.next());
                for (commit, outcome) in batch.iter().zip(outcomes) {
                    if matches!(outcome, Outcome::Committed { .. }) {
                        for deed in deeds(commit) {
                            *counts.entry(deed).or_default() += 1;
                        }
                    }
                }
            }
        }
        println!("{counts:?}");
        assert_eq!(counts.len(), 23, "{counts:?}");
    }

    #[test]
    fn a_seed_says_what_happens() {
        let (mut one, mut other) = (Workload::new(3), Workload::new(3));
        for _ in 0..20 {
            block_on(one.next());
            block_on(other.next());
        }
        assert_eq!(block_on(one.account()), block_on(other.account()));
    }
}
