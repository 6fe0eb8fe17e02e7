//! The changes of the store with their outcomes, in the order in which they took effect.

use std::sync::Arc;

use everstep_model::{NodeId, Timestamp};
use everstep_store::{Commit, Lease, LeaseChange, Outcome};

/// A change of the store.
#[derive(Clone, Debug)]
pub enum StoreChange {
    /// A batch with the outcome of each commit.
    Commit(Arc<[Commit]>, Vec<Outcome>),
    Renew(Lease),
    Retire(NodeId),
}

/// All changes with the times of the store's clock at which they took effect.
#[derive(Debug, Default)]
pub struct History(Vec<(Timestamp, StoreChange)>);

impl History {
    pub fn add(&mut self, at: Timestamp, change: StoreChange) {
        self.0.push((at, change));
    }

    /// Removes the changes that took effect at other times.
    pub fn retain(&mut self, is_kept: impl Fn(Timestamp) -> bool) {
        self.0.retain(|(at, _)| is_kept(*at));
    }

    pub fn all(&self) -> &[(Timestamp, StoreChange)] {
        &self.0
    }
}

/// Describes a batch for the timeline.
pub(crate) fn describe_batch(batch: &[Commit]) -> String {
    let commits = batch.iter().map(|commit| {
        let target = match commit {
            Commit::Create(commit) => format!("create {}", commit.name),
            Commit::Append(commit) => format!("stream {}", commit.stream),
            Commit::Deliver(commit) => format!("stream {}", commit.stream),
            Commit::ChangeRows(commit) => format!("rows of {}", commit.stream),
            Commit::Remove(commit) => format!("remove {:?}", commit.streams),
        };
        let author = commit.executor().map_or_else(String::new, |executor| {
            format!(" by {}/{}", executor.fence.epoch.0, executor.seq.0)
        });
        let records: Vec<String> = commit.records().iter().map(|r| named(&r.body)).collect();
        let lease = match commit.lease() {
            LeaseChange::Keep => "",
            LeaseChange::Claim(_) => " claim",
            LeaseChange::Release => " release",
            LeaseChange::Abandon => " abandon",
            LeaseChange::Revoke => " revoke",
        };
        let ready = match commit.ready() {
            Some(true) => " ready",
            Some(false) => " not ready",
            None => "",
        };
        let close = if commit.closes() { " CLOSE" } else { "" };
        format!(
            "{target}{author} [{}]{lease}{ready}{close}",
            records.join(", ")
        )
    });
    commits.collect::<Vec<_>>().join(" | ")
}

fn named(body: &everstep_model::Body) -> String {
    match body.location() {
        Some(location) => format!("{} {location}", body.type_name()),
        None => body.type_name().to_owned(),
    }
}

pub(crate) fn describe_outcomes(outcomes: &[Outcome]) -> String {
    let texts = outcomes.iter().map(|outcome| match outcome {
        Outcome::Committed { first, taken, .. } => match taken {
            Some(fence) => format!("at {} with epoch {}", first.0, fence.epoch.0),
            None => format!("at {}", first.0),
        },
        Outcome::Duplicate { first, .. } => format!("duplicate of {}", first.0),
        Outcome::Refused(refusal) => format!("refused: {refusal}"),
    });
    texts.collect::<Vec<_>>().join(" | ")
}
