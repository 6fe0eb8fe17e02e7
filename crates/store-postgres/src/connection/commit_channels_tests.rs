//! Two calls at once, of which the first waits in the server for a lock of the test.

use std::sync::Arc;

use everstep_private_postgres::Server;
use tokio::task::JoinHandle;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, NoTls};

use super::*;
use crate::connection::direct::tests::on_one_thread;
use crate::connection::options::Options;
use crate::connection::pace::WORKED;

/// A lock that makes calls wait.
struct Gate {
    key: i64,
    sql: Client,
}

impl Gate {
    /// Takes the lock. Each test uses its own key.
    async fn closed(key: i64) -> Self {
        let connected = tokio_postgres::connect(&Server::shared().url(), NoTls).await;
        let (sql, connection) = connected.unwrap();
        tokio::spawn(connection);
        let close = format!("SELECT pg_advisory_lock({key})");
        sql.batch_execute(&close).await.unwrap();
        Self { key, sql }
    }

    async fn open(&self) {
        let open = format!("SELECT pg_advisory_unlock({})", self.key);
        self.sql.batch_execute(&open).await.unwrap();
    }

    /// Waits until a call waits for the lock, and returns its server process.
    async fn waiting_process(&self) -> i32 {
        let waiting = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = $1::bigint::oid AND NOT granted";
        loop {
            if let Some(row) = self.sql.query_opt(waiting, &[&self.key]).await.unwrap() {
                return row.get(0);
            }
        }
    }

    async fn kill(&self, process: i32) {
        let kill = format!("SELECT pg_terminate_backend({process})");
        self.sql.batch_execute(&kill).await.unwrap();
    }
}

/// Connections whose recent calls took one millisecond each. The server worked for `worked`
/// microseconds of it.
fn channels(worked: u64) -> Arc<CommitChannels> {
    let options = Options::new(&Server::shared().url()).unwrap();
    let connector = Connector::new(options, Arc::default()).unwrap();
    let channels = CommitChannels::new(connector);
    for _ in 0..100 {
        let took = Duration::from_micros(1_000);
        channels.pace.record(took, Duration::from_micros(worked));
    }
    Arc::new(channels)
}

fn mostly_work() -> Arc<CommitChannels> {
    channels(900)
}

fn mostly_waiting() -> Arc<CommitChannels> {
    channels(100)
}

/// A call that waits at the gate, if there is one. Returns the server process that executed it.
fn call(channels: &Arc<CommitChannels>, gate: Option<i64>) -> JoinHandle<Result<i32, CallError>> {
    let channels = channels.clone();
    tokio::spawn(async move {
        let waits = "pg_advisory_xact_lock($1)::text";
        let what = gate.map_or("($1::bigint)::text", |_| waits);
        let statement = format!("SELECT pg_backend_pid(), {what}, {WORKED}");
        let rows = channels.write(&statement, &[(&gate, Type::INT8)]).await?;
        Ok(rows[0].get(0))
    })
}

/// Two calls, one behind the other, of which the first waits at the gate.
struct Pair {
    /// The server process that executes them.
    process: i32,
    first: JoinHandle<Result<i32, CallError>>,
    second: JoinHandle<Result<i32, CallError>>,
}

impl Pair {
    async fn in_flight(channels: &Arc<CommitChannels>, gate: &Gate) -> Self {
        let first = call(channels, Some(gate.key));
        let process = gate.waiting_process().await;
        let second = call(channels, None);
        while channels.first.calls_in_flight.load(Ordering::Relaxed) < 2 {
            tokio::task::yield_now().await;
        }
        Self {
            process,
            first,
            second,
        }
    }
}

#[test]
fn calls_are_pipelined_if_they_are_mostly_work() {
    on_one_thread(async {
        let (channels, gate) = (mostly_work(), Gate::closed(1).await);
        let pair = Pair::in_flight(&channels, &gate).await;
        assert!(!pair.second.is_finished());
        gate.open().await;
        assert_eq!(pair.first.await.unwrap().unwrap(), pair.process);
        assert_eq!(pair.second.await.unwrap().unwrap(), pair.process);
    });
}

#[test]
fn calls_use_two_connections_if_they_are_mostly_waiting() {
    on_one_thread(async {
        let (channels, gate) = (mostly_waiting(), Gate::closed(2).await);
        let first = call(&channels, Some(gate.key));
        let process = gate.waiting_process().await;
        let second = call(&channels, None).await.unwrap().unwrap();
        assert_ne!(second, process);
        assert!(!first.is_finished());
        gate.open().await;
        assert_eq!(first.await.unwrap().unwrap(), process);
        let third = call(&channels, None).await.unwrap().unwrap();
        assert_eq!(third, process, "a single call uses the first connection");
    });
}

#[test]
fn a_failed_call_does_not_affect_the_one_behind_it() {
    on_one_thread(async {
        let (channels, gate) = (mostly_work(), Gate::closed(3).await);
        let pair = Pair::in_flight(&channels, &gate).await;
        let cancel = format!("SELECT pg_cancel_backend({})", pair.process);
        gate.sql.batch_execute(&cancel).await.unwrap();
        assert!(pair.first.await.unwrap().is_err());
        assert_eq!(pair.second.await.unwrap().unwrap(), pair.process);
    });
}

#[test]
fn a_lost_connection_fails_all_its_calls_and_is_reopened() {
    on_one_thread(async {
        let (channels, gate) = (mostly_work(), Gate::closed(4).await);
        let pair = Pair::in_flight(&channels, &gate).await;
        gate.kill(pair.process).await;
        for lost in [pair.first, pair.second] {
            let lost = lost.await.unwrap();
            assert!(matches!(lost, Err(CallError::Lost(_))), "{lost:?}");
        }
        assert_ne!(call(&channels, None).await.unwrap().unwrap(), pair.process);
    });
}

#[test]
fn the_time_behind_other_calls_is_not_measured() {
    on_one_thread(async {
        let channels = mostly_work();
        let channel = Channel::default();
        let begun = Instant::now();
        assert!(channel.answered_after(begun) < Duration::from_secs(1));
        let long_ago = begun.checked_sub(Duration::from_secs(60)).unwrap();
        assert!(channel.answered_after(long_ago) < Duration::from_secs(1));
        // The time that the server worked is read from the answers.
        for _ in 0..16 {
            call(&channels, None).await.unwrap().unwrap();
        }
        assert!(!channels.pace.is_mostly_work(), "calls that do nothing");
    });
}
