//! All that a store holds, as one value: two stores are alike if their accounts are equal.

use everstep_model::Entry;
use everstep_store::{Head, OutboxRow, ReadyRun, Row, RunRow, SharedRow, Store, TimerRow};

use super::compare::{listed, looks, outbox, ready, shared, timers};
use super::resolve::{keys, streams};
use crate::fixture::Fixture;

/// Everything that can be read of the small world of plans.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    heads: Vec<Head>,
    records: Vec<Vec<Entry>>,
    timers: Vec<TimerRow>,
    ready: Vec<ReadyRun>,
    outbox: Vec<OutboxRow>,
    rows: Vec<Row>,
    shared: Vec<SharedRow>,
    lists: Vec<Vec<(Vec<RunRow>, bool)>>,
}

impl Account {
    /// Reads all of it.
    pub async fn of<S: Store>(f: &Fixture<S>) -> Self {
        let heads = streams(f).await;
        let numbers: Vec<_> = heads.iter().map(|head| head.number).collect();
        let mut account = Self {
            heads,
            records: Vec::new(),
            timers: timers(f).await,
            ready: ready(f).await,
            outbox: outbox(f).await,
            rows: Vec::new(),
            shared: shared(f).await,
            lists: Vec::new(),
        };
        for number in &numbers {
            account.records.push(f.entries(*number).await);
        }
        for key in keys(&numbers) {
            account.rows.extend(f.row(key).await);
        }
        for look in looks() {
            account.lists.push(listed(f, &look).await);
        }
        account
    }

    /// The first thing in which another account differs, for people.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<String> {
        let said = |what: &str, a: &dyn std::fmt::Debug, b: &dyn std::fmt::Debug| {
            Some(format!("{what}: {a:?}\n  instead of {b:?}"))
        };
        let heads = self.heads.iter().zip(&other.heads).find(|(a, b)| a != b);
        let records = self.records.iter().zip(&other.records);
        match (heads, records.into_iter().find(|(a, b)| a != b)) {
            _ if self == other => None,
            _ if self.heads.len() != other.heads.len() => said("heads", &self.heads, &other.heads),
            (Some((a, b)), _) => said("a head", a, b),
            (None, Some((a, b))) => said("records", a, b),
            _ if self.timers != other.timers => said("timers", &self.timers, &other.timers),
            _ if self.ready != other.ready => said("ready", &self.ready, &other.ready),
            _ if self.outbox != other.outbox => said("outbox", &self.outbox, &other.outbox),
            _ if self.rows != other.rows => said("rows", &self.rows, &other.rows),
            _ if self.shared != other.shared => said("shared", &self.shared, &other.shared),
            _ => said("lists", &self.lists, &other.lists),
        }
    }
}
