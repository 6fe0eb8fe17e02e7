//! The whole content of a store as one value. Two stores are equal if their accounts are equal.

use everstep_model::Entry;
use everstep_store::{Head, OutboxRow, ReadyRun, Row, RunRow, SharedRow, Store, TimerRow};

use super::compare::{listed, outbox, queries, ready, shared, timers};
use super::resolve::{keys, streams};
use crate::fixture::Fixture;

/// All data that plans can create.
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
        for query in queries() {
            account.lists.push(listed(f, &query).await);
        }
        account
    }

    /// Describes the first difference.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<String> {
        let describe = |what: &str, a: &dyn std::fmt::Debug, b: &dyn std::fmt::Debug| {
            Some(format!("{what}: {a:?}\n  instead of {b:?}"))
        };
        let heads = self.heads.iter().zip(&other.heads).find(|(a, b)| a != b);
        let records = self.records.iter().zip(&other.records);
        match (heads, records.into_iter().find(|(a, b)| a != b)) {
            _ if self == other => None,
            _ if self.heads.len() != other.heads.len() => {
                describe("heads", &self.heads, &other.heads)
            }
            (Some((a, b)), _) => describe("a head", a, b),
            (None, Some((a, b))) => describe("records", a, b),
            _ if self.timers != other.timers => describe("timers", &self.timers, &other.timers),
            _ if self.ready != other.ready => describe("ready", &self.ready, &other.ready),
            _ if self.outbox != other.outbox => describe("outbox", &self.outbox, &other.outbox),
            _ if self.rows != other.rows => describe("rows", &self.rows, &other.rows),
            _ if self.shared != other.shared => describe("shared", &self.shared, &other.shared),
            _ => describe("lists", &self.lists, &other.lists),
        }
    }
}
