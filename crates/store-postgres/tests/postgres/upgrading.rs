//! A schema of the previous format is upgraded when it is opened.

use std::sync::Arc;

use everstep_model::{ErrorCode, RunStatus};
use everstep_store::{Gate, KeyPart, Lease, Outcome, Row, RowKey, SharedKind, Store};
use everstep_store_postgres::PostgresStore;
use everstep_store_testkit::property::{Account, Workload};
use everstep_store_testkit::sample::{run_creation, shared};
use everstep_store_testkit::{Fixture, TestClock, batch};
use tokio_postgres::Client;

use crate::run::Run;
use crate::support::{Installation, Sender, in_parallel};

const FORMAT_3: &str = include_str!("../fixtures/format-3.sql");
const BATCHES: usize = 60;

fn fixture(store: PostgresStore, clock: Arc<TestClock>) -> Fixture<PostgresStore> {
    Fixture { store, clock }
}

/// Fills a store of this release with what format 3 can hold.
async fn filled(installation: &Installation, clock: Arc<TestClock>) -> Account {
    let store = PostgresStore::open(installation.options()).await.unwrap();
    let f = fixture(store, clock);
    let mut workload = Workload::new(11);
    for _ in 0..BATCHES {
        let (commits, _) = workload.next().await;
        f.commit(commits).await;
    }
    let sql = installation.sql().await;
    let older = "UPDATE streams SET gate = 0; DELETE FROM rows WHERE kind > 8";
    sql.batch_execute(older).await.unwrap();
    Account::of(&f).await
}

/// Copies everything into a schema of format 3.
async fn copy(sql: &Client, from: &Installation, to: &Installation) {
    let (from, to) = (from.namespace(), to.namespace());
    let heads = "number, term, next, last_epoch, last_seq, last_first, progress_epoch, inbox_count, \
        unconsumed_events, tail_first, epoch, owner, nonce, takeovers, ready, closed, superseded, is_user, framed, \
        name, gaps, tail";
    let script = format!(
        "CREATE SCHEMA {to}; SET search_path = {to}; {tables}
        INSERT INTO meta SELECT one, 3, term, system_id, timeline FROM {from}.meta;
        INSERT INTO streams SELECT {heads} FROM {from}.streams;
        INSERT INTO runs SELECT * FROM {from}.runs;
        INSERT INTO tags SELECT * FROM {from}.tags;
        INSERT INTO frames SELECT * FROM {from}.frames;
        INSERT INTO rows SELECT * FROM {from}.rows;
        INSERT INTO nodes SELECT * FROM {from}.nodes;
        SELECT setval('numbers', (SELECT last_value FROM {from}.numbers));",
        tables = FORMAT_3.replace("{schema}", to)
    );
    sql.batch_execute(&script).await.unwrap();
}

#[test]
fn a_schema_of_the_previous_format_is_upgraded_with_everything_in_it() {
    in_parallel(async {
        let clock = Arc::new(TestClock::new());
        let source = Installation::with_clock(clock.clone());
        let before = filled(&source, clock.clone()).await;
        let installation = Installation::with_clock(clock.clone());
        let sql = source.sql().await;
        copy(&sql, &source, &installation).await;
        let foreign = "CREATE FUNCTION application() RETURNS int LANGUAGE sql AS 'SELECT 42'";
        let installation_sql = installation.sql().await;
        installation_sql.batch_execute(foreign).await.unwrap();
        // Two nodes of the new release open it at once.
        let opened = [installation.options(), installation.options()]
            .map(|options| tokio::spawn(async move { PostgresStore::open(options).await }));
        let [one, other] = opened;
        drop(one.await.unwrap().unwrap());
        let f = fixture(other.await.unwrap().unwrap(), clock);
        let after = Account::of(&f).await;
        assert_eq!(after.difference(&before), None);
        let format = "SELECT format FROM meta";
        let sql = installation.sql().await;
        let format: i32 = sql.query_one(format, &[]).await.unwrap().get(0);
        assert_eq!(format, 4);
        let foreign = sql.query_one("SELECT application()", &[]).await;
        assert_eq!(foreign.unwrap().get::<_, i32>(0), 42);
        works(f).await;
        refuses_the_previous_release(&sql).await;
    });
}

/// A node that was not stopped before the upgrade gets a clear error from every call that writes.
async fn refuses_the_previous_release(sql: &Client) {
    let calls = [
        "SELECT renew_lease(NULL, 1, 1000)",
        "SELECT retire_node(1)",
        "SELECT adopt_history()",
        "SELECT clear_garbage(1)",
        "SELECT append_batch(NULL, NULL, 0, 0, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')",
    ];
    for call in calls {
        let error = sql.query(call, &[]).await.unwrap_err();
        let error = error.as_db_error().unwrap();
        assert_eq!(error.code().code(), "ES004", "{call}: {error:?}");
        let message = error.message();
        assert!(
            message.contains("stop this node and upgrade it"),
            "{message}"
        );
    }
    let refusing = "SELECT count(*) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace \
        WHERE n.nspname = current_schema() AND p.proname IN ('commit_batch', 'plain_batch') AND p.prosrc LIKE '%ES004%'";
    let refusing = sql.query_one(refusing, &[]).await.unwrap();
    assert_eq!(refusing.get::<_, i64>(0), 2);
}

/// A node of this release that is still running when a later release upgrades the schema gets an
/// error that is not retried.
#[test]
fn an_upgrade_while_a_node_runs_ends_its_commits_and_leases() {
    in_parallel(async {
        let installation = Installation::new();
        let store = installation.store().await;
        let mut sender = Sender::new(store.clone());
        let mut run = Run::begin(&mut sender, "before").await;
        let lease = Lease {
            node: sender.node(),
            ttl: std::time::Duration::from_secs(1),
        };
        let sql = installation.sql().await;
        let refusing = "CREATE OR REPLACE FUNCTION renew_lease_4(clock bigint, this_node bigint, ttl bigint) \
            RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''upgraded'' USING ERRCODE = ''ES004''; END'";
        let renamed = ["append_step", "append_batch", "plain_batch", "commit_batch"]
            .map(|name| format!("ALTER FUNCTION {name}_4 RENAME TO {name}_5"));
        let upgrade = format!("{};{refusing}", renamed.join(";"));
        sql.batch_execute(&upgrade).await.unwrap();
        let step = run.append(everstep_store_testkit::sample::step("s"));
        let judged = everstep_store_testkit::sample::inbox(run.stream, vec![]).into();
        // Functions that are missing although the format is the same are damage.
        let missing = store.commit(std::slice::from_ref(&step)).await.unwrap_err();
        assert_eq!(missing.code(), ErrorCode::StoreCorrupt, "{missing}");
        assert!(missing.to_string().contains("append_step_4"), "{missing}");
        sql.batch_execute("UPDATE meta SET format = 5")
            .await
            .unwrap();
        let errors = [
            store.commit(&[step]).await.unwrap_err(),
            store.commit(&[judged]).await.unwrap_err(),
            store.renew(lease).await.unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.code(), ErrorCode::StoreNewer, "{error}");
            let text = error.to_string();
            for part in [
                "which another release has upgraded",
                "version 5",
                "upgrade Everstep",
            ] {
                assert!(text.contains(part), "{text}");
            }
        }
    });
}

/// New and old kinds of commits take effect.
async fn works(f: Fixture<PostgresStore>) {
    let slot = shared(SharedKind::Slot, &[KeyPart::from("l")], "v");
    let mut held = run_creation("held", "order", RunStatus::Queued);
    held.gate = Gate::Held;
    held.ready = true;
    held.rows.put.push(Row::Shared(slot.clone()));
    let outcomes = f.commit(batch![held]).await;
    let Outcome::Committed { stream, .. } = outcomes[0] else {
        panic!("{outcomes:?}");
    };
    let head = f.head(stream).await;
    assert_eq!((head.gate, head.ready), (Gate::Held, false));
    let found = f.row(RowKey::Shared(slot.key.clone())).await;
    assert_eq!(found, Some(Row::Shared(slot)));
    let store = Arc::new(f.store);
    let mut sender = Sender::new(store.clone());
    let mut run = Run::begin(&mut sender, "after").await;
    let step = run.append(everstep_store_testkit::sample::step("s"));
    let outcome = sender.send_one(step).await;
    assert!(matches!(outcome, Outcome::Committed { .. }), "{outcome:?}");
    store.retire(sender.node()).await.unwrap();
}
