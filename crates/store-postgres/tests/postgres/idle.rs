//! The number of calls of an idle engine, and of one that only executes steps.

use std::sync::Arc;
use std::time::Duration;

use everstep::testing::{VirtualRuntime, virtual_time};
use everstep::{AnyEvent, Ctx, Engine, Error, Payload, Workflows};
use everstep_store_testkit::{Blocking, Counting, Reopen};

use crate::support::Installation;

/// A store that counts calls, in virtual time.
fn counting() -> (Arc<Counting>, Arc<VirtualRuntime>) {
    let runtime = Arc::new(VirtualRuntime::new(1));
    let store = Installation::with_clock(runtime.clone()).open();
    (Arc::new(Counting::new(Blocking::new(store))), runtime)
}

/// Every call of the store is one statement. An hour passes in virtual time.
#[test]
fn an_idle_node_makes_less_than_one_call_per_second() {
    virtual_time(async {
        let (counting, runtime) = counting();
        let engine = Engine::on_store(counting.clone()).runtime(runtime);
        let engine = engine.start().await.unwrap();
        let before = counting.calls().total();
        tokio::time::sleep(Duration::from_secs(3_600)).await;
        let calls = counting.calls().total() - before;
        println!("{calls} statements in an idle hour");
        assert!(calls < 3_600, "{calls}");
        assert!(calls > 600, "the lease is renewed, {calls}");
        engine.shutdown().await;
    });
}

/// The answers to commits contain everything that the executor and the waiting client need.
#[test]
fn steps_write_and_read_nothing() {
    virtual_time(async {
        let (counting, runtime) = counting();
        let workflow = |ctx: Ctx<AnyEvent>, (): ()| async move {
            for _ in 0..20 {
                ctx.step("charge", || async { Ok::<_, Error>(1) }).await?;
            }
            Ok(())
        };
        let engine = Engine::on_store(counting.clone()).runtime(runtime);
        let engine = engine
            .workflows(Workflows::new().function("steps", workflow))
            .start()
            .await
            .unwrap();
        let before = counting.calls();
        let run = engine.start_by_name("steps", Payload::null()).await;
        run.unwrap().wait_json().await.unwrap();
        let after = counting.calls();
        assert!(after.commits - before.commits >= 20, "{after:?}");
        assert_eq!(after.reads - before.reads, 0, "{after:?}");
        assert_eq!(after.heads - before.heads, 0, "{after:?}");
        engine.shutdown().await;
    });
}
