//! Messages from other runs to a run whose generation changes meanwhile: each arrives once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use everstep::journal::Generation;
use everstep::journal::record::Terminated;
use everstep::testing::{VirtualRuntime, virtual_time};
use everstep::{AnyEvent, Ctx, Engine, Event, Result, RunStatus, Workflows, minutes, secs};
use everstep_model::{Body, Record, RecordNumber, RunId, StreamName, Timestamp};
use everstep_store::{
    CreateCommit, DeliverCommit, GenerationRow, MemoryStore, OutboxRow, Outcome, ReadRequest, Row,
    RowsCommit, RunRow, Store, StreamRef,
};
use everstep_store_testkit::{Fault, Faulty, block_on};

use crate::support::{Ping, TestStore, for_each_store, json, output, ping, start};

/// Sends one ping to `sink`, and waits.
async fn sends(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    ctx.send_by_name("sink", Ping::NAME, json(&Ping(1)))?;
    Ok(ctx.event::<Ping>().await?.0)
}

/// Takes pings until one is 0.
async fn sink(ctx: Ctx<AnyEvent>, (): ()) -> Result<Vec<u32>> {
    let mut got = Vec::new();
    loop {
        match ctx.event::<Ping>().await?.0 {
            0 => return Ok(got),
            n => got.push(n),
        }
    }
}

/// Puts the effect of [`sends`] into the store again, as if the node that delivered it had crashed
/// before removing it.
async fn undo_removal(store: &TestStore) {
    let store = store.open();
    let name = StreamName::of_run(&RunId::new("r").unwrap(), Generation::FIRST);
    let head = store.head(StreamRef::Name(name)).await.unwrap().unwrap();
    let beginning = ReadRequest {
        stream: head.number,
        from: RecordNumber(0),
        limit: 1,
        bytes: usize::MAX,
    };
    let beginning = store.read(beginning).await.unwrap().unwrap();
    let Body::Created(created) = &beginning.entries[0].record.body else {
        panic!("{beginning:?}");
    };
    let identity = created.identity();
    let effect = serde_json::json!({"send_event": {
        "to": "sink",
        "event": Ping::NAME,
        "payload": 1,
        "sender": {"run": "r", "generation": 1, "location": "__sent:0", "identity": identity},
    }});
    let now = Timestamp::default();
    let mut commit = RowsCommit::new(head.number, now);
    commit.rows.put.push(Row::Outbox(OutboxRow {
        stream: head.number,
        key: "0000000000000001".to_owned(),
        effect: json(&effect),
    }));
    let outcomes = store.commit(&[commit.into()]).await.unwrap();
    assert!(matches!(outcomes[0], Outcome::Committed { .. }));
}

// B151
#[test]
fn a_message_to_an_earlier_generation_is_not_delivered_again() {
    for_each_store(async |store| {
        for (id, restarts) in [("recovered", false), ("restarted", true)] {
            println!("{id}");
            let build = || {
                store
                    .engine()
                    .workflows(Workflows::new().function("w", sends).function("sink", sink))
            };
            let test = build().start().await;
            let target = test.start_by_name("sink", json(&())).id("sink");
            let target = target.await.unwrap();
            start(&test).await;
            test.advance(secs(1)).await;
            target.terminate().await.unwrap();
            let revived = match restarts {
                true => target.restart().await.unwrap(),
                false => target.recover().await.unwrap(),
            };
            assert_eq!(revived.generation, Generation(2));
            test.reach(&target, RunStatus::Waiting).await;
            test.shutdown().await;
            drop((target, test));
            undo_removal(store).await;

            let test = build().start().await;
            let target = test.run("sink").await.unwrap();
            // Later messages still arrive.
            ping(&target, 2).await;
            ping(&target, 0).await;
            let expected: &[u32] = if restarts { &[2] } else { &[1, 2] };
            assert_eq!(output::<Vec<u32>>(&target).await, expected);
            drop(target);
            for run in ["sink", "r"] {
                test.run(run).await.unwrap().delete().await.unwrap();
            }
            assert_eq!(store.outbox_left(test).await, []);
        }
    });
}

/// Ends the run with this id and revives it directly in the store, bypassing the engine.
fn revive(store: &MemoryStore, id: &str) {
    let run = RunId::new(id).unwrap();
    let name = StreamName::of_run(&run, Generation::FIRST);
    let head = block_on(store.head(StreamRef::Name(name))).unwrap();
    let head = head.unwrap();
    let first = ReadRequest {
        stream: head.number,
        from: RecordNumber(0),
        limit: 1,
        bytes: usize::MAX,
    };
    let first = block_on(store.read(first)).unwrap().unwrap();
    let mut row = RunRow::clone(&head.run.unwrap());
    row.generation = Generation(2);
    let now = row.created_at;
    let end = Terminated {
        by: None,
        reason: None,
        abandoned: vec![],
        next_generation: None,
    };
    let mut ends = DeliverCommit::new(head.number, now);
    ends.records.push(Record {
        time: now,
        body: end.into(),
    });
    ends.status = Some(RunStatus::Terminated);
    ends.close = true;
    let next = StreamName::of_run(&run, Generation(2));
    let mut begins = CreateCommit::new(next, now);
    begins.records.push(first.entries[0].record.clone());
    begins.run = Some(row.into());
    begins.supersedes = Some(head.number);
    begins.ready = true;
    begins.rows.put.push(Row::Generation(GenerationRow {
        run,
        generation: Generation(2),
        stream: head.number,
    }));
    let outcomes = block_on(store.commit(&[ends.into(), begins.into()])).unwrap();
    let took_effect = |outcome: &Outcome| matches!(outcome, Outcome::Committed { .. });
    assert!(outcomes.iter().all(took_effect), "{outcomes:?}");
}

// B151
#[test]
fn a_message_during_a_revival_reaches_the_next_generation() {
    virtual_time(async {
        let memory = MemoryStore::new(Arc::new(VirtualRuntime::new(0)));
        let (inner, is_revived) = (memory.clone(), Arc::new(AtomicBool::new(false)));
        let once = is_revived.clone();
        // The commit that delivers the message is the first one after its cause.
        let faulty = Faulty::new(memory.clone(), move |_| {
            let caused = block_on(inner.outbox(None, 1)).unwrap();
            if !caused.is_empty() && !once.swap(true, Ordering::SeqCst) {
                revive(&inner, "sink");
            }
            Fault::None
        });
        let engine = Engine::on_store(Arc::new(faulty))
            .runtime(Arc::new(VirtualRuntime::new(1)))
            .workflows(Workflows::new().function("w", sends).function("sink", sink))
            .start()
            .await
            .unwrap();
        let target = engine.start_by_name("sink", json(&())).id("sink");
        let target = target.await.unwrap();
        tokio::time::sleep(secs(1)).await;
        let sender = engine.start_by_name("w", json(&())).id("r");
        sender.await.unwrap();
        // The engine got no hint of the new generation: its sweep finds it.
        tokio::time::sleep(minutes(1)).await;
        assert!(is_revived.load(Ordering::SeqCst));
        ping(&target, 0).await;
        assert_eq!(output::<Vec<u32>>(&target).await, [1]);
        assert_eq!(target.generation().await.unwrap(), Generation(2));
        engine.shutdown().await;
    });
}
