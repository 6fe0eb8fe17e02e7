//! What reaches a run whose generation changes meanwhile: messages of other runs come once.

use everstep::{AnyEvent, Ctx, Event, Generation, Result, RunStatus, secs};
use everstep_model::{RunId, StreamName, Timestamp};
use everstep_store::{Author, Commit, OutboxRow, Outcome, Row, StreamRef, Target};

use crate::support::{Ping, TestStore, for_each_store, json, output, ping, start};

/// Sends one ping to `sink`, and waits.
async fn sends(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    ctx.send_by_name("sink", Ping::NAME, json(&Ping(1)))?;
    Ok(ctx.event::<Ping>().await?.0)
}

/// Takes pings until one says 0.
async fn sink(ctx: Ctx<AnyEvent>, (): ()) -> Result<Vec<u32>> {
    let mut got = Vec::new();
    loop {
        match ctx.event::<Ping>().await?.0 {
            0 => return Ok(got),
            n => got.push(n),
        }
    }
}

/// The effect of [`sends`] is in the store again, as if whoever delivered it had died before taking it away.
async fn undo_removal(store: &TestStore) {
    let effect = serde_json::json!({"send_event": {
        "to": "sink",
        "event": Ping::NAME,
        "payload": 1,
        "sender": {"run": "r", "generation": 1, "location": "__sent:0"},
    }});
    let store = store.open();
    let name = StreamName::of_run(&RunId::new("r").unwrap(), Generation::FIRST);
    let head = store.head(StreamRef::Name(name)).await.unwrap().unwrap();
    let now = Timestamp::default();
    let mut commit = Commit::new(Target::Stream(head.number), Author::Inbox, now);
    commit.put.push(Row::Outbox(OutboxRow {
        stream: head.number,
        key: "0000000000000001".to_owned(),
        effect: json(&effect),
    }));
    let outcomes = store.commit(vec![commit]).await.unwrap();
    assert!(matches!(outcomes[0], Outcome::Committed { .. }));
}

// B151
#[test]
fn a_message_that_an_earlier_life_had_does_not_come_again() {
    for_each_store(async |store| {
        for (id, restarts) in [("recovered", false), ("restarted", true)] {
            println!("{id}");
            let build = || store.engine().function("w", sends).function("sink", sink);
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
            // What comes later still does.
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
