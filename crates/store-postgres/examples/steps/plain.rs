//! The plain client: each step is one transaction with one statement, the fastest way without
//! batches.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio_postgres::NoTls;

use crate::{CONNECTIONS, RESULT, RUNS};

pub(crate) const TABLES: &str = "CREATE SCHEMA IF NOT EXISTS plain;
    CREATE TABLE IF NOT EXISTS plain.runs (id bigint PRIMARY KEY, next bigint NOT NULL) WITH (fillfactor = 60);
    CREATE TABLE IF NOT EXISTS plain.steps (run bigint, number bigint, name text, result text, at timestamptz,
        PRIMARY KEY (run, number));
    INSERT INTO plain.runs SELECT n, 0 FROM generate_series(0, 255) n ON CONFLICT DO NOTHING;";

pub(crate) const STEP: &str =
    "WITH run AS (UPDATE plain.runs SET next = next + 1 WHERE id = $1 RETURNING next)
    INSERT INTO plain.steps SELECT $1, run.next, 'charge', $2, now() FROM run";

pub(crate) async fn steps(url: &str, length: Duration) -> u64 {
    let (setup, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    setup.batch_execute(TABLES).await.unwrap();
    let done = Arc::new(AtomicU64::new(0));
    let begun = Instant::now();
    let mut clients = Vec::new();
    for client in 0..CONNECTIONS {
        let (url, done) = (url.to_owned(), done.clone());
        clients.push(tokio::spawn(async move {
            let (sql, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
            tokio::spawn(connection);
            let step = sql.prepare(STEP).await.unwrap();
            // Each connection has its own runs, so that none waits for a lock.
            let mut run = client;
            while begun.elapsed() < length {
                let id = i64::try_from(run).unwrap();
                sql.execute(&step, &[&id, &RESULT]).await.unwrap();
                done.fetch_add(1, Ordering::Relaxed);
                run = if run + CONNECTIONS < RUNS {
                    run + CONNECTIONS
                } else {
                    client
                };
            }
        }));
    }
    for client in clients {
        client.await.unwrap();
    }
    done.load(Ordering::Relaxed)
}
