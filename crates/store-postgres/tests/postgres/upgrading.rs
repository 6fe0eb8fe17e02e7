//! A schema of the previous format is upgraded when it is opened.

use std::sync::Arc;

use everstep_model::RunStatus;
use everstep_store::{Gate, KeyPart, Outcome, Row, RowKey, SharedKind, Store};
use everstep_store_postgres::PostgresStore;
use everstep_store_testkit::property::{Account, Workload};
use everstep_store_testkit::sample::{run_creation, shared};
use everstep_store_testkit::{Fixture, TestClock, batch};
use tokio_postgres::Client;

use crate::run::Run;
use crate::support::{Place, Sender, in_parallel};

const FORMAT_3: &str = include_str!("../fixtures/format-3.sql");
const BATCHES: usize = 60;

fn fixture(store: PostgresStore, clock: Arc<TestClock>) -> Fixture<PostgresStore> {
    Fixture { store, clock }
}

/// Fills a store of this release with what format 3 can hold.
async fn filled(place: &Place, clock: Arc<TestClock>) -> Account {
    let store = PostgresStore::open(place.options()).await.unwrap();
    let f = fixture(store, clock);
    let mut workload = Workload::new(11);
    for _ in 0..BATCHES {
        let (commits, _) = workload.next().await;
        f.commit(commits).await;
    }
    let sql = place.sql().await;
    let older = "UPDATE streams SET gate = 0; DELETE FROM rows WHERE kind > 8";
    sql.batch_execute(older).await.unwrap();
    Account::of(&f).await
}

/// Copies everything into a schema of format 3.
async fn copy(sql: &Client, from: &Place, to: &Place) {
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
        let source = Place::with_clock(clock.clone());
        let before = filled(&source, clock.clone()).await;
        let place = Place::with_clock(clock.clone());
        let sql = source.sql().await;
        copy(&sql, &source, &place).await;
        let foreign = "CREATE FUNCTION application() RETURNS int LANGUAGE sql AS 'SELECT 42'";
        let of_place = place.sql().await;
        of_place.batch_execute(foreign).await.unwrap();
        // Two nodes of the new release come at once.
        let opened = [place.options(), place.options()]
            .map(|options| tokio::spawn(async move { PostgresStore::open(options).await }));
        let [one, other] = opened;
        drop(one.await.unwrap().unwrap());
        let f = fixture(other.await.unwrap().unwrap(), clock);
        let after = Account::of(&f).await;
        assert_eq!(after.difference(&before), None);
        let format = "SELECT format FROM meta";
        let sql = place.sql().await;
        let format: i32 = sql.query_one(format, &[]).await.unwrap().get(0);
        assert_eq!(format, 4);
        let foreign = sql.query_one("SELECT application()", &[]).await;
        assert_eq!(foreign.unwrap().get::<_, i32>(0), 42);
        works(f).await;
    });
}

/// New and old kinds of commits take effect.
async fn works(f: Fixture<PostgresStore>) {
    let slot = shared(SharedKind::Slot, &[KeyPart::from("l")], "v");
    let mut held = run_creation("held", "order", RunStatus::Queued);
    held.gate = Gate::Held;
    held.ready = true;
    held.put.push(Row::Shared(slot.clone()));
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
