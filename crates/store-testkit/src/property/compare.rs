//! Compares two stores through the whole contract: heads, records, lists, timers, marks and rows.

use everstep_model::{Entry, RunStatus, StreamNumber, Timestamp};
use everstep_store::{
    Count, ListQuery, MemoryStore, OutboxRow, Page, ReadyRun, RowRange, RunRow, SharedKey,
    SharedKind, SharedRow, Store, TimerQuery, TimerRow,
};

use super::plan::{FEW, PlannedQuery};
use super::resolve::{head, keys, streams, tag, time_at, workflow};
use crate::fixture::Fixture;
use crate::sample;

type Reference = Fixture<MemoryStore>;

pub(super) async fn same_heads<S: Store>(candidate: &Fixture<S>, reference: &Reference) {
    let expected = streams(reference).await;
    assert_eq!(streams(candidate).await, expected, "heads by name");
    for known in &expected {
        let found = head(candidate, known.number).await;
        assert_eq!(found.as_ref(), Some(known), "head by number");
    }
}

pub(super) async fn same_everything<S: Store>(candidate: &Fixture<S>, reference: &Reference) {
    same_heads(candidate, reference).await;
    let heads = streams(reference).await;
    let numbers: Vec<StreamNumber> = heads.iter().map(|head| head.number).collect();
    for number in &numbers {
        same_entries(candidate, reference, *number).await;
    }
    same_due(candidate, reference).await;
    for key in keys(&numbers) {
        let (found, expected) = (
            candidate.row(key.clone()).await,
            reference.row(key.clone()).await,
        );
        assert_eq!(found, expected, "row {key:?}");
    }
    assert_eq!(
        shared(candidate).await,
        shared(reference).await,
        "shared rows"
    );
    same_ranges(candidate, reference).await;
    for planned in queries() {
        same_list(candidate, reference, &planned).await;
    }
}

async fn same_entries<S: Store>(
    candidate: &Fixture<S>,
    reference: &Reference,
    stream: StreamNumber,
) {
    let (found, expected) = (
        candidate.entries(stream).await,
        reference.entries(stream).await,
    );
    assert_eq!(found, expected, "records of {stream}");
    let Page { end, closed, .. } = reference.page(stream, 0, 1).await;
    for from in 0..=end.0 + 1 {
        let page = candidate.page(stream, from, 2).await;
        assert_eq!(
            (page.end, page.closed),
            (end, closed),
            "page of {stream} from {from}"
        );
        let first: Option<&Entry> = expected.iter().find(|entry| entry.number.0 >= from);
        assert_eq!(
            page.entries.first(),
            first,
            "record of {stream} from {from}"
        );
    }
}

pub(super) async fn same_due<S: Store>(candidate: &Fixture<S>, reference: &Reference) {
    assert_eq!(timers(candidate).await, timers(reference).await, "timers");
    assert_eq!(ready(candidate).await, ready(reference).await, "ready runs");
    assert_eq!(outbox(candidate).await, outbox(reference).await, "outbox");
}

pub(super) async fn outbox<S: Store>(f: &Fixture<S>) -> Vec<OutboxRow> {
    let mut all: Vec<OutboxRow> = Vec::new();
    loop {
        let after = all.last().map(|row| (row.stream, row.key.clone()));
        let page = f.store.outbox(after, 2).await.unwrap();
        if page.is_empty() {
            return all;
        }
        all.extend(page);
    }
}

/// Reads all shared rows in pages, in both directions.
pub(super) async fn shared<S: Store>(f: &Fixture<S>) -> Vec<SharedRow> {
    let mut all = Vec::new();
    for kind in SharedKind::ALL {
        for reverse in [false, true] {
            let mut after: Option<SharedKey> = None;
            loop {
                let range = RowRange {
                    kind,
                    prefix: Vec::new(),
                    after: after.clone(),
                    limit: 2,
                    reverse,
                };
                let page = f.store.rows(range).await.unwrap();
                let Some(last) = page.last() else { break };
                after = Some(last.key.clone());
                all.extend(page);
            }
        }
    }
    all
}

/// Compares the ranges of each prefix of each key, from that key on in both directions.
async fn same_ranges<S: Store>(candidate: &Fixture<S>, reference: &Reference) {
    for row in shared(reference).await {
        let parts = row.key.parts();
        for (length, reverse) in (0..=parts.len()).flat_map(|n| [(n, false), (n, true)]) {
            let range = RowRange {
                kind: row.key.kind(),
                prefix: parts[..length].to_vec(),
                after: Some(row.key.clone()),
                limit: 3,
                reverse,
            };
            let expected = reference.rows(range.clone()).await;
            assert_eq!(candidate.rows(range.clone()).await, expected, "{range:?}");
        }
    }
}

pub(super) async fn timers<S: Store>(f: &Fixture<S>) -> Vec<TimerRow> {
    let mut all: Vec<TimerRow> = Vec::new();
    loop {
        let query = TimerQuery {
            until: Timestamp::from_millis(u64::MAX),
            after: all.last().cloned(),
            limit: 3,
        };
        let page = f.store.timers(query).await.unwrap();
        if page.is_empty() {
            return all;
        }
        all.extend(page);
    }
}

pub(super) async fn ready<S: Store>(f: &Fixture<S>) -> Vec<ReadyRun> {
    let mut all: Vec<ReadyRun> = Vec::new();
    loop {
        let after = all.last().map(|run| run.stream);
        let page = f.store.ready(after, 2).await.unwrap();
        if page.is_empty() {
            return all;
        }
        all.extend(page);
    }
}

pub(super) async fn same_list<S: Store>(
    candidate: &Fixture<S>,
    reference: &Reference,
    planned: &PlannedQuery,
) {
    let expected = listed(reference, planned).await;
    assert_eq!(
        listed(candidate, planned).await,
        expected,
        "list {planned:?}"
    );
    let count = candidate.store.count(query(planned)).await.unwrap();
    let number = expected.iter().map(|(rows, _)| rows.len() as u64).sum();
    let exact = true;
    assert_eq!(count, Count { number, exact }, "count {planned:?}");
}

/// Returns all pages of a query, and for each whether it is the last one.
pub(super) async fn listed<S: Store>(
    f: &Fixture<S>,
    planned: &PlannedQuery,
) -> Vec<(Vec<RunRow>, bool)> {
    let mut query = query(planned);
    let mut pages = Vec::new();
    loop {
        let page = f.list(query.clone()).await;
        pages.push((page.rows, page.next.is_none()));
        match page.next {
            None => return pages,
            next => query.cursor = next,
        }
    }
}

fn query(planned: &PlannedQuery) -> ListQuery {
    let status = |n: &u8| RunStatus::ALL[usize::from(*n) % RunStatus::ALL.len()];
    ListQuery {
        workflows: planned
            .workflows
            .iter()
            .map(|n| sample::name(&workflow(*n)))
            .collect(),
        id_prefixes: Vec::new(),
        statuses: planned.statuses.iter().map(status).collect(),
        tag: planned.tag.map(tag),
        created_from: planned.created_from.map(time_at),
        created_before: planned.created_before.map(time_at),
        limit: planned.limit,
        cursor: None,
    }
}

/// Returns the queries by which lists are compared.
pub(super) fn queries() -> Vec<PlannedQuery> {
    let all = PlannedQuery {
        workflows: Vec::new(),
        statuses: Vec::new(),
        tag: None,
        created_from: None,
        created_before: None,
        limit: 3,
    };
    let mut queries = vec![all.clone()];
    for n in 0..FEW {
        queries.push(PlannedQuery {
            workflows: vec![n],
            ..all.clone()
        });
        queries.push(PlannedQuery {
            tag: Some(n),
            ..all.clone()
        });
        queries.push(PlannedQuery {
            statuses: vec![n, n + 5, n + 10],
            ..all.clone()
        });
    }
    queries
}
