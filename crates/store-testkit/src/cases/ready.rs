//! The ready mark: durable, set by inbox commits, returned in the order of stream numbers.

use std::time::Duration;

use everstep_model::{RunStatus, StreamNumber};
use everstep_store::{
    CreateCommit, Gate, GateChange, ListQuery, ReadyRun, Store, status_once_taken,
};

use crate::fixture::Fixture;
use crate::sample::{NODE, NONCE, creation, event, inbox, name, run, run_creation};

async fn ready_run<S: Store>(f: &Fixture<S>, id: &str) -> StreamNumber {
    let mut commit = run_creation(id, "order", RunStatus::Queued);
    commit.ready = true;
    f.create_with(commit).await
}

async fn mark<S: Store>(f: &Fixture<S>, stream: StreamNumber, ready: bool) {
    let mut commit = inbox(stream, vec![]);
    commit.ready = Some(ready);
    f.accept(commit).await;
}

pub async fn a_marked_run_is_found<S: Store>(f: &Fixture<S>) {
    let mut commit = run_creation("a", "order", RunStatus::Queued);
    let row = everstep_store::RunRow {
        version: 7,
        ..run("a", "order", RunStatus::Queued)
    };
    commit.run = Some(row.into());
    commit.ready = true;
    let stream = f.create_with(commit).await;
    let expected = ReadyRun {
        stream,
        workflow: name("order"),
        version: 7,
        executed_by: None,
    };
    assert_eq!(f.ready().await, [expected]);
    assert!(f.head(stream).await.ready);
}

/// Setting or clearing a mark twice has the same effect as once.
pub async fn a_run_without_a_mark_is_not_ready<S: Store>(f: &Fixture<S>) {
    let stream = ready_run(f, "a").await;
    mark(f, stream, true).await;
    mark(f, stream, false).await;
    assert!(f.ready().await.is_empty());
    mark(f, stream, false).await;
    mark(f, stream, true).await;
    assert_eq!(f.ready().await.len(), 1);
}

pub async fn a_commit_that_names_no_ready_mark_keeps_it<S: Store>(f: &Fixture<S>) {
    let stream = ready_run(f, "a").await;
    f.accept(inbox(stream, vec![])).await;
    assert_eq!(f.ready().await.len(), 1);
}

pub async fn paging_returns_every_ready_run_once<S: Store>(f: &Fixture<S>) {
    let mut expected = Vec::new();
    for n in 0..7 {
        let stream = ready_run(f, &format!("r{n}")).await;
        if n == 3 {
            mark(f, stream, false).await;
        } else {
            expected.push(stream);
        }
    }
    let mut seen = Vec::new();
    loop {
        let page = f.store.ready(seen.last().copied(), 2).await.unwrap();
        assert!(page.len() <= 2);
        if page.is_empty() {
            break;
        }
        seen.extend(page.iter().map(|run| run.stream));
    }
    assert_eq!(seen, expected);
}

pub async fn a_ready_run_names_its_live_holder<S: Store>(f: &Fixture<S>) {
    let stream = ready_run(f, "a").await;
    f.take(stream, NODE, NONCE).await;
    assert_eq!(f.ready().await[0].executed_by, Some(NODE));
    f.clock.advance(Duration::from_secs(60));
    assert_eq!(f.ready().await[0].executed_by, None);
}

pub async fn a_stream_without_a_run_is_not_listed<S: Store>(f: &Fixture<S>) {
    let mut commit = creation("a");
    commit.ready = true;
    f.create_with(commit).await;
    assert!(f.ready().await.is_empty());
}

async fn status<S: Store>(f: &Fixture<S>, stream: StreamNumber) -> RunStatus {
    f.head(stream).await.run.unwrap().status
}

/// The other statuses stay, and so does that of a run which is not marked.
pub async fn a_woken_run_is_queued_until_it_is_claimed<S: Store>(f: &Fixture<S>) {
    for before in RunStatus::ALL {
        let resting = [RunStatus::Sleeping, RunStatus::Waiting, RunStatus::Retrying];
        let stream = f
            .create_with(run_creation(before.as_str(), "order", *before))
            .await;
        f.accept(inbox(stream, vec![event("x")])).await;
        mark(f, stream, false).await;
        assert_eq!(status(f, stream).await, *before);
        mark(f, stream, true).await;
        let woken = match resting.contains(before) {
            true => RunStatus::Queued,
            false => *before,
        };
        assert_eq!(status(f, stream).await, woken, "woken while {before}");
        f.take(stream, NODE, NONCE).await;
        assert_eq!(status(f, stream).await, status_once_taken(woken));
    }
    let mut named = inbox(f.create_with(resting_run("named")).await, vec![]);
    named.ready = Some(true);
    named.status = Some(RunStatus::Waiting);
    let stream = named.stream;
    f.accept(named).await;
    assert_eq!(status(f, stream).await, RunStatus::Waiting);
    let queued = ListQuery {
        statuses: vec![RunStatus::Queued],
        limit: 100,
        ..ListQuery::default()
    };
    let listed = f.list(queued).await.rows;
    let listed: Vec<_> = listed.iter().map(|row| row.id.as_str()).collect();
    assert!(listed.is_empty(), "all were claimed: {listed:?}");
}

fn resting_run(id: &str) -> CreateCommit {
    run_creation(id, "order", RunStatus::Sleeping)
}

pub async fn a_run_that_a_node_holds_or_a_gate_stops_is_not_queued_when_it_is_woken<S: Store>(
    f: &Fixture<S>,
) {
    let held = f.create_with(resting_run("held")).await;
    f.take(held, NODE, NONCE).await;
    let mut rest = inbox(held, vec![]);
    rest.status = Some(RunStatus::Sleeping);
    f.accept(rest).await;
    mark(f, held, true).await;
    assert_eq!(status(f, held).await, RunStatus::Sleeping);
    let mut queue = inbox(held, vec![]);
    queue.status = Some(RunStatus::Queued);
    f.accept(queue).await;
    assert_eq!(status(f, held).await, RunStatus::Running);
    let mut gated = resting_run("gated");
    gated.gate = Gate::Held;
    let gated = f.create_with(gated).await;
    mark(f, gated, true).await;
    assert_eq!(status(f, gated).await, RunStatus::Sleeping);
    let mut open = inbox(gated, vec![]);
    open.gate = GateChange::Set(Gate::Open);
    open.ready = Some(true);
    f.accept(open).await;
    assert_eq!(status(f, gated).await, RunStatus::Queued);
}
