//! Test engines: how long they wait, and when their clock starts.

use everstep::testing::{TestEngine, TestEngineBuilder, virtual_time};
use everstep::{AnyEvent, Ctx, RunStatus, Workflows, days, hours, millis, minutes};
use everstep_engine::simulation::catch_panic;

use crate::support::{Ping, json, ping, start};

fn naps() -> TestEngineBuilder {
    let nap = |ctx: Ctx<AnyEvent>, minutes_long: u64| async move {
        ctx.sleep("nap", minutes(minutes_long)).await?;
        ctx.event::<Ping>().await
    };
    TestEngine::builder().workflows(Workflows::new().function("nap", nap))
}

fn waits() -> TestEngineBuilder {
    let wait = |ctx: Ctx<AnyEvent>, (): ()| async move { ctx.event::<Ping>().await };
    TestEngine::builder().workflows(Workflows::new().function("w", wait))
}

// B744
#[test]
fn a_wait_for_a_run_that_never_ends_fails_with_the_reason() {
    let message = catch_panic(|| {
        virtual_time(async {
            let test = waits().wait_limit(days(30)).start().await;
            let _ = start(&test).await.wait_json().await;
        });
    });
    let message = message.unwrap_err();
    assert!(message.contains("`r` did not end within"), "{message}");
    assert!(message.contains("waits for event `ping`"), "{message}");
}

// B744
#[test]
fn a_status_is_reached_within_the_limit_of_the_test_or_the_test_fails_with_the_reason() {
    let reach = |setup: TestEngineBuilder| {
        catch_panic(|| {
            virtual_time(async {
                let test = setup.start().await;
                let run = test.start_by_name("nap", json(&60)).await.unwrap();
                test.reach(&run, RunStatus::Waiting).await;
                let passed = run.inspect().await.unwrap().overview.waits[0].since;
                assert_eq!(
                    passed,
                    run.inspect().await.unwrap().row.created_at.after(hours(1))
                );
            });
        })
    };
    let message = reach(naps()).unwrap_err();
    assert!(
        message.contains("did not reach the status waiting"),
        "{message}"
    );
    assert!(message.contains("sleeps in `nap:0`"), "{message}");
    reach(naps().reach_limit(hours(2))).unwrap();
}

// B745
#[test]
fn the_clock_of_a_test_engine_starts_no_earlier_than_the_newest_record() {
    let directory = tempfile::tempdir().unwrap();
    let setup = || waits().directory(directory.path());
    let before = virtual_time(async {
        let test = setup().start().await;
        let run = start(&test).await;
        test.advance(days(3)).await;
        ping(&run, 1).await;
        test.advance(millis(1)).await;
        test.journal(&run)
            .await
            .entries()
            .last()
            .unwrap()
            .record
            .time
    });
    virtual_time(async {
        let mut test = setup().start().await;
        assert_eq!(test.now(), before);
        test.advance(days(1)).await;
        test.restart().await;
        assert!(test.now() >= before.after(days(1)));
    });
}

// B743
#[test]
fn a_directory_that_this_process_has_open_is_named_as_such() {
    let directory = tempfile::tempdir().unwrap();
    virtual_time(async {
        let engine = || everstep::Engine::open(directory.path()).start();
        let first = engine().await.unwrap();
        let missing = first.run("r").await;
        let client = everstep::Client::clone(&first);
        assert!(missing.is_err());
        first.shutdown().await;
        drop(first);
        let error = engine().await.unwrap_err().to_string();
        assert!(error.contains("is open in this process; drop"), "{error}");
        drop((missing, client));
        engine().await.unwrap().shutdown().await;
    });
}
