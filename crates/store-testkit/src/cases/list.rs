//! The list of runs: order, filters, pages and counts.

use std::time::Duration;

use everstep_model::{RunStatus, StreamNumber};
use everstep_store::{Count, Cursor, ListQuery, RunRow, Store};

use crate::clock::START;
use crate::fixture::Fixture;
use crate::sample::{closing, creation, inbox, name, run, run_creation};

fn all() -> ListQuery {
    ListQuery {
        limit: 100,
        ..ListQuery::default()
    }
}

async fn ids<S: Store>(f: &Fixture<S>, query: ListQuery) -> Vec<String> {
    let page = f.list(query).await;
    page.rows.iter().map(|row| row.id.to_string()).collect()
}

async fn create_row<S: Store>(f: &Fixture<S>, row: RunRow) -> StreamNumber {
    let mut commit = creation(&format!("workflows/{}", row.id));
    commit.run = Some(row.into());
    f.create_with(commit).await
}

async fn six_runs<S: Store>(f: &Fixture<S>) {
    for (id, workflow, status) in [
        ("r1", "order", RunStatus::Running),
        ("r2", "orders", RunStatus::Running),
        ("r3", "order", RunStatus::Completed),
        ("r4", "ord", RunStatus::Failed),
        ("r5", "order", RunStatus::Running),
        ("r6", "orders", RunStatus::Completed),
    ] {
        f.create_with(run_creation(id, workflow, status)).await;
    }
}

/// Streams without a run are not listed.
pub async fn runs_are_listed_newest_first<S: Store>(f: &Fixture<S>) {
    assert!(ids(f, all()).await.is_empty());
    f.create_with(run_creation("a", "order", RunStatus::Queued))
        .await;
    f.create("plain").await;
    f.create_with(run_creation("b", "order", RunStatus::Queued))
        .await;
    assert_eq!(ids(f, all()).await, ["b", "a"]);
}

/// Also covers names with a common prefix.
pub async fn a_list_filters_by_workflow<S: Store>(f: &Fixture<S>) {
    six_runs(f).await;
    let of = |names: &[&str]| ListQuery {
        workflows: names.iter().map(|n| name(n)).collect(),
        ..all()
    };
    assert_eq!(ids(f, of(&["order"])).await, ["r5", "r3", "r1"]);
    assert_eq!(ids(f, of(&["ord", "orders"])).await, ["r6", "r4", "r2"]);
    assert_eq!(
        ids(f, of(&["order", "order"])).await,
        ["r5", "r3", "r1"],
        "named twice, listed once"
    );
    assert!(ids(f, of(&["o"])).await.is_empty());
}

/// Text is compared byte by byte; no character is a wildcard.
pub async fn a_list_filters_by_the_beginnings_of_ids<S: Store>(f: &Fixture<S>) {
    for id in ["acme-1", "acme_2", "acme.3", "other-4", "acme-5"] {
        f.create_with(run_creation(id, "order", RunStatus::Running))
            .await;
    }
    let of = |prefixes: &[&str]| ListQuery {
        id_prefixes: prefixes.iter().map(|&prefix| prefix.to_owned()).collect(),
        ..all()
    };
    assert_eq!(ids(f, of(&["acme-"])).await, ["acme-5", "acme-1"]);
    assert_eq!(
        ids(f, of(&["acme_", "other-4"])).await,
        ["other-4", "acme_2"]
    );
    assert!(ids(f, of(&["a%", "ac.*", "acme-12"])).await.is_empty());
    let page = ListQuery {
        limit: 1,
        workflows: vec![name("order")],
        ..of(&["acme-"])
    };
    let first = f.list(page.clone()).await;
    assert_eq!(first.rows[0].id.as_str(), "acme-5");
    let cursor = first.next;
    assert_eq!(ids(f, ListQuery { cursor, ..page }).await, ["acme-1"]);
    assert_eq!(f.store.count(of(&["acme-"])).await.unwrap().number, 2);
}

pub async fn a_list_filters_by_status<S: Store>(f: &Fixture<S>) {
    six_runs(f).await;
    let of = |statuses: &[RunStatus]| ListQuery {
        statuses: statuses.to_vec(),
        ..all()
    };
    assert_eq!(ids(f, of(&[RunStatus::Running])).await, ["r5", "r2", "r1"]);
    assert_eq!(
        ids(f, of(&[RunStatus::Failed, RunStatus::Completed])).await,
        ["r6", "r4", "r3"]
    );
    assert!(ids(f, of(&[RunStatus::Paused])).await.is_empty());
}

pub async fn a_run_must_match_all_filters<S: Store>(f: &Fixture<S>) {
    six_runs(f).await;
    let query = ListQuery {
        workflows: vec![name("order"), name("orders")],
        statuses: vec![RunStatus::Completed],
        ..all()
    };
    assert_eq!(ids(f, query).await, ["r6", "r3"]);
}

pub async fn a_change_of_status_moves_the_run_between_lists<S: Store>(f: &Fixture<S>) {
    let stream = f
        .create_with(run_creation("a", "order", RunStatus::Queued))
        .await;
    let mut change = inbox(stream, vec![]);
    change.status = Some(RunStatus::Completed);
    f.accept(change).await;
    let with = |status| ListQuery {
        statuses: vec![status],
        ..all()
    };
    assert!(ids(f, with(RunStatus::Queued)).await.is_empty());
    assert_eq!(ids(f, with(RunStatus::Completed)).await, ["a"]);
    assert_eq!(ids(f, all()).await, ["a"]);
    assert_eq!(
        f.list(all()).await.rows[0],
        run("a", "order", RunStatus::Completed)
    );
}

pub async fn a_batch_may_move_a_run_twice<S: Store>(f: &Fixture<S>) {
    let stream = f
        .create_with(run_creation("a", "order", RunStatus::Queued))
        .await;
    let to = |status| {
        let mut change = inbox(stream, vec![]);
        change.status = Some(status);
        change
    };
    f.commit(vec![
        to(RunStatus::Running),
        to(RunStatus::Failed),
        to(RunStatus::Queued),
    ])
    .await;
    for status in RunStatus::ALL {
        let query = ListQuery {
            statuses: vec![*status],
            ..all()
        };
        assert_eq!(
            ids(f, query).await.len(),
            usize::from(*status == RunStatus::Queued),
            "{status}"
        );
    }
}

/// Also covers unusual characters and changes of status.
pub async fn a_list_filters_by_tag<S: Store>(f: &Fixture<S>) {
    let tagged = |id: &str, tags: &[&str]| RunRow {
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        ..run(id, "order", RunStatus::Queued)
    };
    create_row(f, tagged("a", &["red", "re"])).await;
    let b = create_row(f, tagged("b", &["r\u{0}d", "red"])).await;
    create_row(f, tagged("c", &[])).await;
    let with = |tag: &str| ListQuery {
        tag: Some(tag.to_owned()),
        ..all()
    };
    assert_eq!(ids(f, with("red")).await, ["b", "a"]);
    assert_eq!(ids(f, with("re")).await, ["a"]);
    assert_eq!(ids(f, with("r\u{0}d")).await, ["b"]);
    assert!(ids(f, with("r")).await.is_empty());
    let failed = ListQuery {
        statuses: vec![RunStatus::Failed],
        ..with("red")
    };
    assert!(ids(f, failed.clone()).await.is_empty());
    let mut change = inbox(b, vec![]);
    change.status = Some(RunStatus::Failed);
    f.accept(change).await;
    assert_eq!(ids(f, failed).await, ["b"]);
    assert_eq!(ids(f, with("red")).await, ["b", "a"]);
}

/// The lower bound is inclusive, the upper bound exclusive.
pub async fn a_list_filters_by_time_of_creation<S: Store>(f: &Fixture<S>) {
    let at = |seconds| START.after(Duration::from_secs(seconds));
    for n in 1..=4 {
        let row = RunRow {
            created_at: at(n),
            ..run(&format!("r{n}"), "order", RunStatus::Queued)
        };
        create_row(f, row).await;
    }
    let query = ListQuery {
        created_from: Some(at(2)),
        created_before: Some(at(4)),
        ..all()
    };
    assert_eq!(ids(f, query.clone()).await, ["r3", "r2"]);
    let query = ListQuery {
        workflows: vec![name("order")],
        ..query
    };
    assert_eq!(ids(f, query).await, ["r3", "r2"]);
}

/// Also checks that the last page has no cursor.
pub async fn pages_join_without_gap_or_overlap<S: Store>(f: &Fixture<S>) {
    six_runs(f).await;
    let filters = [
        all(),
        ListQuery {
            workflows: vec![name("order"), name("orders")],
            ..all()
        },
        ListQuery {
            statuses: vec![RunStatus::Running],
            ..all()
        },
    ];
    for filter in filters {
        let all = ids(f, filter.clone()).await;
        for limit in 1..=all.len() {
            let mut seen = Vec::new();
            let mut cursor = None;
            loop {
                let page = f
                    .list(ListQuery {
                        limit,
                        cursor,
                        ..filter.clone()
                    })
                    .await;
                let left = all.len() - seen.len();
                assert_eq!(page.rows.len(), limit.min(left), "full until the end");
                seen.extend(page.rows.iter().map(|row| row.id.to_string()));
                assert_eq!(page.next.is_none(), seen.len() == all.len());
                let Some(next) = page.next else { break };
                cursor = Some(next);
            }
            assert_eq!(seen, all, "limit {limit}");
        }
    }
}

pub async fn a_new_run_does_not_disturb_a_cursor<S: Store>(f: &Fixture<S>) {
    six_runs(f).await;
    let first = f.list(ListQuery { limit: 2, ..all() }).await;
    f.create_with(run_creation("r7", "order", RunStatus::Queued))
        .await;
    let rest = ids(
        f,
        ListQuery {
            cursor: first.next,
            ..all()
        },
    )
    .await;
    assert_eq!(rest, ["r4", "r3", "r2", "r1"]);
    let beyond = ListQuery {
        cursor: Some(Cursor(StreamNumber(0))),
        ..all()
    };
    assert!(ids(f, beyond).await.is_empty());
}

/// Limit and cursor do not matter.
pub async fn a_count_is_the_number_of_listed_runs<S: Store>(f: &Fixture<S>) {
    six_runs(f).await;
    let mut late = run("r7", "late", RunStatus::Queued);
    late.created_at = START.after(Duration::from_secs(5));
    late.tags = vec!["red".to_owned()];
    create_row(f, late).await;
    let superseded = f
        .create_with(run_creation("r8", "order", RunStatus::Completed))
        .await;
    f.accept(closing(superseded)).await;
    let mut next = creation("workflows/r8@2");
    next.supersedes = Some(superseded);
    f.create_with(next).await;
    for (filter, number) in counted_filters() {
        assert_eq!(ids(f, filter.clone()).await.len() as u64, number);
        let query = ListQuery {
            limit: 1,
            cursor: Some(Cursor(StreamNumber(2))),
            ..filter.clone()
        };
        let count = f.store.count(query).await.unwrap();
        let exact = true;
        assert_eq!(count, Count { number, exact }, "{filter:?}");
    }
}

/// Filters with the number of runs that match them.
fn counted_filters() -> Vec<(ListQuery, u64)> {
    let with_tag = |tag: &str| ListQuery {
        tag: Some(tag.to_owned()),
        ..all()
    };
    vec![
        (all(), 7),
        (
            ListQuery {
                workflows: vec![name("order"), name("order"), name("late")],
                ..all()
            },
            4,
        ),
        (
            ListQuery {
                statuses: vec![RunStatus::Running, RunStatus::Queued],
                ..all()
            },
            4,
        ),
        (
            ListQuery {
                workflows: vec![name("orders")],
                statuses: vec![RunStatus::Completed],
                ..all()
            },
            1,
        ),
        (with_tag("red"), 1),
        (with_tag("blue"), 0),
        (
            ListQuery {
                statuses: vec![RunStatus::Running],
                ..with_tag("red")
            },
            0,
        ),
        (
            ListQuery {
                created_from: Some(START.after(Duration::from_secs(5))),
                ..all()
            },
            1,
        ),
        (
            ListQuery {
                created_before: Some(START.after(Duration::from_secs(5))),
                statuses: vec![RunStatus::Running, RunStatus::Queued],
                ..all()
            },
            3,
        ),
    ]
}
