//! The ready mark: durable, set by inbox commits, returned in the order of stream numbers.

use std::time::Duration;

use everstep_model::{RunStatus, StreamNumber};
use everstep_store::{ReadyRun, Store};

use crate::fixture::Fixture;
use crate::sample::{NODE, NONCE, creation, inbox, name, run, run_creation};

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
