//! Many timers at once: in the order they are due, on time, and without keeping the engine busy.

use everstep::{Ctx, Workflows, hours, minutes, secs};

use crate::support::{for_each_store, json};

#[test]
fn an_engine_with_the_maximum_of_timers_in_memory_sleeps_until_the_next_one() {
    for_each_store(async |store| {
        let code = |ctx: Ctx, _: ()| async move { ctx.sleep("nap", minutes(50)).await };
        let test = store.engine().settings(|settings| {
            settings.timers_in_memory_max = 4;
            settings.timer_horizon = hours(1);
        });
        let test = test
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let mut runs = Vec::new();
        for _ in 0..4 {
            runs.push(test.start_by_name("w", json(&())).await.unwrap());
        }
        test.advance(minutes(55)).await;
        for run in runs {
            assert!(run.status().await.unwrap().is_terminal());
        }
    });
}

#[test]
fn timers_that_do_not_fit_into_memory_fire_on_time() {
    for_each_store(async |store| {
        let code = |ctx: Ctx, minute: u64| async move { ctx.sleep("nap", minutes(minute)).await };
        let test = store.engine().settings(|settings| {
            settings.timers_in_memory_max = 4;
            settings.timer_horizon = hours(1);
        });
        let test = test
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let mut runs = Vec::new();
        // The last ones are due first.
        for minute in (1..=20).rev() {
            let run = test.start_by_name("w", json(&minute)).await.unwrap();
            runs.push((minute, run));
        }
        let begin = test.now();
        for (minute, run) in runs.iter().rev() {
            run.wait_json().await.unwrap();
            let took = begin.until(test.now());
            assert!(took < minutes(*minute) + secs(1), "{minute}: {took:?}");
        }
    });
}

#[test]
fn overdue_timers_of_a_run_fire_in_the_order_they_were_due() {
    use everstep::{Engine, millis};

    let code = |ctx: Ctx, _: ()| async move {
        let naps = [300, 310, 320, 330].map(|nap| ctx.sleep("nap", millis(nap)));
        futures_util::future::try_join_all(naps).await?;
        Ok(())
    };
    let directory = tempfile::tempdir().unwrap();
    let open = async || {
        let engine = Engine::open(directory.path()).workflows(Workflows::new().function("w", code));
        engine.start().await.unwrap()
    };
    // Use real threads, because virtual time is deterministic.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.unwrap().block_on(async {
        let engine = open().await;
        let ids: Vec<String> = (0..40).map(|n| format!("r{n}")).collect();
        for id in &ids {
            engine.start_by_name("w", json(&())).id(id).await.unwrap();
        }
        tokio::time::sleep(millis(50)).await;
        engine.shutdown().await;
        drop(engine);
        tokio::time::sleep(millis(400)).await;
        let engine = open().await;
        for id in &ids {
            let run = engine.run(id).await.unwrap();
            run.wait_json().await.unwrap();
            let journal = run.journal().await.unwrap();
            let fired = journal.iter().filter_map(|entry| match &entry.record.body {
                everstep::journal::Body::TimerFired(fired) => Some(fired.due),
                _ => None,
            });
            let fired: Vec<_> = fired.collect();
            assert_eq!(fired.len(), 4);
            assert!(fired.is_sorted(), "{id}: {fired:?}");
        }
        engine.shutdown().await;
    });
}
