//! Shared rows under contention: slots are taken once, times are those after the locks, and damaged
//! rows are left out of ranges.

use std::time::Duration;

use everstep_model::Timestamp;
use everstep_store::{
    CommitTime, Guard, KeyPart, Outcome, Refusal, Row, RowKey, RowRange, SharedKind, SharedRow,
    Store,
};
use everstep_store_testkit::sample::{event, inbox, row_change, shared};
use tokio_postgres::Client;

use crate::support::{Installation, Sender, create, in_parallel};

const NODES: u64 = 6;
const SLOTS: u64 = 4;
const ROUNDS: u64 = 20;

fn slot(number: u64, value: &str) -> SharedRow {
    let parts = [KeyPart::from("limit"), KeyPart::from(number)];
    shared(SharedKind::Slot, &parts, value)
}

fn slots(limit: usize) -> RowRange {
    RowRange {
        kind: SharedKind::Slot,
        prefix: Vec::new(),
        after: None,
        limit,
        reverse: false,
    }
}

/// The clock of the database, in milliseconds.
async fn database_time(sql: &Client) -> Timestamp {
    let time = sql.query_one("SELECT clock_millis()", &[]).await.unwrap();
    Timestamp::from_millis(time.get::<_, i64>(0).try_into().unwrap())
}

/// Nodes take and free slots of one limit. Each node finds its own value in every slot that it
/// took, so a slot never has two holders.
#[test]
fn a_slot_has_one_holder() {
    in_parallel(async {
        let installation = Installation::new();
        installation.store().await;
        let mut tasks = Vec::new();
        for node in 0..NODES {
            let store = installation.store().await;
            let stream = create(&store, &[format!("run-{node}").as_str()]).await[0];
            tasks.push(tokio::spawn(async move {
                let mut sender = Sender::new(store.clone());
                for round in 0..ROUNDS {
                    let mut taken = None;
                    for attempt in 0.. {
                        let mine = slot((node + attempt) % SLOTS, &format!("{node}-{round}"));
                        let mut take = inbox(stream, vec![event("taken")]);
                        let key = RowKey::Shared(mine.key.clone());
                        take.guards.push(Guard::RowAbsent(key));
                        take.rows.put.push(Row::Shared(mine.clone()));
                        match sender.send_one(take).await {
                            Outcome::Committed { .. } => {
                                taken = Some(mine);
                                break;
                            }
                            Outcome::Refused(Refusal::RowPresent(_)) => {}
                            other => panic!("{other:?}"),
                        }
                    }
                    let mine = taken.unwrap();
                    let mut free = row_change(stream);
                    free.guards.push(Guard::RowIs(Row::Shared(mine.clone())));
                    free.rows.delete_exact.push(mine);
                    let freed = sender.send_one(free).await;
                    assert!(matches!(freed, Outcome::Committed { .. }), "{freed:?}");
                }
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
        let left = installation.store().await.rows(slots(9)).await.unwrap();
        assert_eq!(left, [], "every slot is free again");
    });
}

/// A commit that waits for a lock is judged by the time at which it gets the lock.
#[test]
fn times_are_those_after_the_locks() {
    in_parallel(async {
        let installation = Installation::new();
        let store = installation.store().await;
        let stream = create(&store, &["a"]).await[0];
        let mut put = row_change(stream);
        put.rows.put.push(Row::Shared(slot(0, "old")));
        store.commit(&[put.into()]).await.unwrap();
        let (sql, watch) = (installation.sql().await, installation.sql().await);
        let lock = "BEGIN; SELECT FROM rows WHERE kind = 10 FOR UPDATE";
        sql.batch_execute(lock).await.unwrap();
        let due = database_time(&watch)
            .await
            .after(Duration::from_millis(400));
        let mut commit = row_change(stream);
        commit.guards.push(Guard::NotBefore(due));
        commit.rows.put.push(Row::Shared(SharedRow {
            committed_at: CommitTime::FillIn,
            ..slot(0, "new")
        }));
        let writer = store.clone();
        let commit = tokio::spawn(async move { writer.commit(&[commit.into()]).await.unwrap() });
        let waits = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'";
        let name = installation.namespace();
        while watch
            .query_one(waits, &[&name])
            .await
            .unwrap()
            .get::<_, i64>(0)
            == 0
        {
            tokio::task::yield_now().await;
        }
        assert!(
            database_time(&watch).await < due,
            "it waits before the time of its guard"
        );
        while database_time(&watch).await < due {
            tokio::task::yield_now().await;
        }
        sql.batch_execute("COMMIT").await.unwrap();
        let outcomes = commit.await.unwrap();
        assert!(
            matches!(outcomes[0], Outcome::Committed { .. }),
            "{outcomes:?}"
        );
        let rows = store.rows(slots(9)).await.unwrap();
        let CommitTime::At(time) = rows[0].committed_at else {
            panic!("{rows:?}");
        };
        assert!(time >= due, "{time:?} {due:?}");
    });
}

/// A page is full although rows in it are damaged, so that readers continue with the next one.
#[test]
fn damaged_rows_are_left_out_of_full_pages() {
    in_parallel(async {
        let installation = Installation::new();
        let store = installation.store().await;
        let stream = create(&store, &["a"]).await[0];
        let mut put = row_change(stream);
        put.rows.put = (0..6).map(|n| Row::Shared(slot(n, "v"))).collect();
        store.commit(&[put.into()]).await.unwrap();
        let sql = installation.sql().await;
        let damage = "UPDATE rows SET value = '' WHERE kind = 10 AND get_byte(key, length(key) - 1) IN (0, 1, 3, 5)";
        sql.batch_execute(damage).await.unwrap();
        let page = |limit, reverse| {
            let range = RowRange {
                reverse,
                ..slots(limit)
            };
            store.rows(range)
        };
        assert_eq!(page(1, false).await, Ok(vec![slot(2, "v")]));
        let both = vec![slot(2, "v"), slot(4, "v")];
        assert_eq!(page(2, false).await, Ok(both.clone()));
        assert_eq!(page(9, false).await, Ok(both));
        assert_eq!(page(1, true).await, Ok(vec![slot(4, "v")]));
        assert_eq!(page(0, false).await, Ok(Vec::new()));
        let damaged = store.row(RowKey::Shared(slot(0, "v").key)).await;
        let error = damaged.unwrap_err().to_string();
        assert!(error.contains("a row of kind Slot, stream 0"), "{error}");
    });
}
