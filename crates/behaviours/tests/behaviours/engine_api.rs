//! What the application sees of an engine besides its runs: timeouts of waits, counters, the bus.

use std::sync::Arc;

use everstep::testing::{TestEngine, VirtualRuntime, virtual_time};
use everstep::{Bus, Ctx, RunStatus, Stats, Store, Workflows, hours, secs};
use everstep_store::{Hint, LocalBus, MemoryStore};

use crate::support::{Seen, for_each_store, ok, start};

#[test]
fn a_wait_that_times_out_names_the_run_and_its_status() {
    for_each_store(async |store| {
        let nap = |ctx: Ctx, _: ()| async move { ctx.sleep("nap", hours(1)).await };
        let workflows = Workflows::new().function("w", nap);
        let test = store.engine().workflows(workflows).start().await;
        let run = start(&test).await;
        let error = run.wait_json_within(secs(5)).await.unwrap_err();
        let expected = format!(
            "run `{}` did not end within 5s; its status is sleeping",
            run.id()
        );
        assert_eq!(error.to_string(), expected);
    });
}

#[test]
fn an_engine_counts_its_runs_and_steps() {
    virtual_time(async {
        let code = |ctx: Ctx, _: ()| async move { ctx.step("a", || ok(1)).await };
        let workflows = Workflows::new().function("w", code);
        let test = TestEngine::builder().workflows(workflows).start().await;
        start(&test).await.wait_json().await.unwrap();
        let stats: Stats = test.stats();
        assert_eq!((stats.runs_started, stats.steps_completed), (1, 1));
        assert!(stats.runs_ended.contains(&(RunStatus::Completed, 1)));
    });
}

#[test]
fn a_test_engine_publishes_its_hints_on_the_given_bus() {
    virtual_time(async {
        let (bus, hints) = (LocalBus::new(), Seen::new());
        let seen = hints.clone();
        let _subscription = bus.subscribe(Box::new(move |hint| seen.add(hint)));
        let bus: Arc<dyn Bus> = Arc::new(bus);
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(Arc::new(VirtualRuntime::new(1))));
        let nap = |ctx: Ctx, _: ()| async move { ctx.sleep("nap", secs(1)).await };
        let setup = TestEngine::builder().store(store).bus(bus);
        let workflows = Workflows::new().function("w", nap);
        let test = setup.workflows(workflows).start().await;
        start(&test).await.wait_json().await.unwrap();
        let hints = hints.take();
        assert!(
            hints.iter().any(|hint| matches!(hint, Hint::Closed(_))),
            "{hints:?}"
        );
    });
}
