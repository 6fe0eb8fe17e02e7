//! Messages between runs: typed, durable, in order, once.

use everstep::journal::Body;
use everstep::schemars::{self, JsonSchema};
use everstep::{
    AnyEvent, Ctx, Error, Event, Options, Payload, Result, RunStatus, Workflow, Workflows,
    interface, minutes, secs,
};
use serde::{Deserialize, Serialize};

use crate::support::{Ping, TestStore, for_each_store, json, ok, output, restart, start};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Paid {
    amount: u32,
}

impl Event for Paid {
    const NAME: &'static str = "paid";
}

/// Adds up payments until it receives a payment of 0.
struct Account;

interface!(AccountInterface { events: Paid; });

impl Workflow for Account {
    const NAME: &'static str = "account";
    type Input = ();
    type Output = Vec<u32>;
    type Interface = AccountInterface;

    async fn run(&self, ctx: Ctx<Self>, _: ()) -> Result<Vec<u32>> {
        let mut paid = Vec::new();
        loop {
            match ctx.event::<Paid>().await?.amount {
                0 => return Ok(paid),
                amount => paid.push(amount),
            }
        }
    }
}

async fn pays(ctx: Ctx<AnyEvent>, _: ()) -> Result<()> {
    for amount in [1, 2, 3] {
        ctx.send::<Account, _>("account", &Paid { amount })?;
    }
    ctx.sleep("later", minutes(1)).await?;
    ctx.send::<Account, _>("account", &Paid { amount: 4 })?;
    ctx.send::<Account, _>("account", &Paid { amount: 0 })
}

#[test]
fn events_to_another_run_arrive_once_and_in_order() {
    for_each_store(async |store: &TestStore| {
        let mut test = store
            .engine()
            .workflows(Workflows::new().workflow(Account).function("w", pays))
            .start()
            .await;
        test.start::<Account>(&()).id("account").await.unwrap();
        start(&test).await;
        test.advance(secs(10)).await;
        restart(&mut test).await.wait_json().await.unwrap();
        let account = test.run_of::<Account>("account").await.unwrap();
        assert_eq!(account.wait().await.unwrap(), [1, 2, 3, 4]);
        let journal = test.journal(&account).await;
        let sender = journal
            .entries()
            .iter()
            .find_map(|entry| match &entry.record.body {
                Body::Event(event) => event.by.clone(),
                _ => None,
            });
        assert_eq!(sender.as_deref(), Some("run r"));
        drop((account, journal));
        assert_eq!(store.outbox_left(test).await, []);
    });
}

#[test]
fn an_event_to_a_run_that_is_over_or_unknown_has_no_effect() {
    for_each_store(async |store: &TestStore| {
        let sends = |ctx: Ctx<AnyEvent>, _: ()| async move {
            ctx.send::<Account, _>("over", &Paid { amount: 1 })?;
            ctx.send::<Account, _>("unknown", &Paid { amount: 1 })?;
            ctx.step("on", || ok(7)).await
        };
        let builder = store
            .engine()
            .workflows(Workflows::new().workflow(Account).function("w", sends));
        let test = builder
            .workflows(Workflows::new().function("over", |_: Ctx<AnyEvent>, _: ()| ok(())))
            .start()
            .await;
        let over = test
            .start_by_name("over", Payload::null())
            .id("over")
            .await
            .unwrap();
        over.wait_json().await.unwrap();
        let run = start(&test).await;
        assert_eq!(output::<u32>(&run).await, 7);
        test.advance(secs(1)).await;
        assert!(test.run("unknown").await.is_err());
        drop((run, over));
        assert_eq!(store.outbox_left(test).await, []);
    });
}

#[test]
fn a_second_pass_does_not_send_again() {
    for_each_store(async |store: &TestStore| {
        let sends = |ctx: Ctx<AnyEvent>, _: ()| async move {
            ctx.send::<Account, _>("account", &Paid { amount: 1 })?;
            ctx.sleep("a while", secs(1)).await?;
            if ctx.metadata().attempt == 1 {
                return Err(Error::new("the first pass fails"));
            }
            ctx.send::<Account, _>("account", &Paid { amount: 0 })
        };
        let options = Options::new().execution_retries(1);
        let builder = store.engine().workflows(Workflows::new().workflow(Account));
        let test = builder
            .workflows(Workflows::new().function_with("w", options, sends))
            .start()
            .await;
        let account = test.start::<Account>(&()).id("account").await.unwrap();
        let run = start(&test).await;
        run.wait_json().await.unwrap();
        assert_eq!(account.wait().await.unwrap(), [1]);
        assert_eq!(test.journal(&run).await.count("sent"), 2);
    });
}

#[test]
fn a_run_that_accepts_no_more_events_blocks_no_other_run() {
    for_each_store(async |store: &TestStore| {
        let floods = |ctx: Ctx<AnyEvent>, n: u32| async move {
            for _ in 0..n {
                ctx.send_by_name("full", "ping", json(&1))?;
            }
            ctx.send::<Account, _>("account", &Paid { amount: 0 })?;
            let full = ctx.child_by_name("full", Payload::null()).id("full");
            ctx.sleep("on", secs(1)).await?;
            drop(full);
            Ok(())
        };
        let hoards = |ctx: Ctx<AnyEvent>, _: ()| async move {
            ctx.sleep("first", minutes(30)).await?;
            let mut taken = 0;
            while ctx.event::<Ping>().timeout(minutes(1)).await?.is_some() {
                taken += 1;
            }
            Ok(taken)
        };
        let builder = store
            .engine()
            .workflows(Workflows::new().workflow(Account).function("full", hoards));
        let test = builder
            .workflows(Workflows::new().function("w", floods))
            .start()
            .await;
        let account = test.start::<Account>(&()).id("account").await.unwrap();
        let full = test
            .start_by_name("full", Payload::null())
            .id("full")
            .await
            .unwrap();
        test.start_by_name("w", json(&10_050))
            .id("r")
            .await
            .unwrap();
        test.advance(secs(5)).await;
        let status = account.status().await.unwrap();
        assert_eq!(status, RunStatus::Completed);
        assert_eq!(
            output::<u32>(&full).await,
            10_050,
            "the rest arrived when there was room"
        );
    });
}
