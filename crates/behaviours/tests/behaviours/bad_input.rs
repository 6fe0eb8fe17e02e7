//! Invalid input is refused with a clear error before anything happens.

use std::collections::HashMap;

use everstep::testing::{VirtualRuntime, virtual_time};
use everstep::{
    AnyEvent, Ctx, Engine, Error, ErrorCode, Failure, Options, Payload, Result, RunStatus,
    Workflows, secs,
};

use crate::support::{Ping, failure, for_each_store, json, ok, start};

type Code = fn(Ctx<AnyEvent>) -> std::pin::Pin<Box<dyn Future<Output = Result<()>> + Send>>;

/// Runs this code and returns its failure.
fn fails_with(code: Code, check: impl Fn(&Failure)) {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", move |ctx, ()| code(ctx)))
            .start()
            .await;
        let failure = failure(&start(&test).await).await;
        check(&failure);
        assert_eq!(test.calls("a"), 0, "nothing was executed");
    });
}

// B12, B14
#[test]
fn names_that_break_the_rules_fail_the_run_before_anything_happens() {
    let codes: [Code; 9] = [
        |ctx| Box::pin(async move { ctx.step("", || ok(())).await }),
        |ctx| Box::pin(async move { ctx.step("__a", || ok(())).await }),
        |ctx| Box::pin(async move { ctx.step("rollback:a", || ok(())).await }),
        |ctx| Box::pin(async move { ctx.step("a\nb", || ok(())).await }),
        |ctx| Box::pin(async move { ctx.step(&"x".repeat(257), || ok(())).await }),
        |ctx| Box::pin(async move { ctx.sleep("__nap", secs(1)).await }),
        |ctx| Box::pin(async move { ctx.event::<Ping>().id("a/b").await.map(drop) }),
        |ctx| Box::pin(async move { ctx.set_row("", "key", &1) }),
        |ctx| Box::pin(async move { ctx.set_attribute("status", 1) }),
    ];
    for code in codes {
        fails_with(code, |failure| {
            assert!(failure.is(ErrorCode::InvalidName), "{failure:?}");
            assert!(failure.message.contains("invalid name"), "{failure}");
        });
    }
}

// B8
#[test]
fn values_that_cannot_be_recorded_fail_the_run_with_a_clear_error() {
    let large: [Code; 2] = [
        |ctx| Box::pin(async move { ctx.set_row("rows", "key", &"x".repeat(1 << 20)) }),
        |ctx| Box::pin(async move { ctx.emit("topic", &"x".repeat(1 << 20)) }),
    ];
    for code in large {
        fails_with(code, |failure| {
            assert!(failure.is(ErrorCode::PayloadTooLarge), "{failure:?}");
            assert!(failure.message.contains("1048576"), "{failure}");
        });
    }
    fails_with(
        |ctx| Box::pin(async move { ctx.set_row("rows", "key", &HashMap::from([(vec![1], 1)])) }),
        |failure| assert!(failure.is(ErrorCode::Unserializable), "{failure:?}"),
    );
}

// B7, B8
#[test]
fn a_result_of_the_workflow_that_cannot_be_recorded_is_its_failure() {
    for_each_store(async |store| {
        let large = |_: Ctx<AnyEvent>, _: ()| async { Ok("x".repeat(1 << 20)) };
        let odd = |_: Ctx<AnyEvent>, _: ()| async { Ok(HashMap::from([(vec![1], 1)])) };
        let options = Options::new().execution_retries(3);
        let builder = store.engine().workflows(
            Workflows::new()
                .function_with("large", options, large)
                .function_with("odd", options, odd),
        );
        let test = builder.start().await;
        for (workflow, code) in [
            ("large", ErrorCode::PayloadTooLarge),
            ("odd", ErrorCode::Unserializable),
        ] {
            let run = test.start_by_name(workflow, json(&())).await.unwrap();
            let failure = failure(&run).await;
            assert!(failure.is(code), "{failure:?}");
            test.journal(&run)
                .await
                .assert_kinds(&["created", "failed"]);
        }
    });
}

#[test]
fn a_panic_in_the_workflow_is_the_failure_of_its_run_alone() {
    for_each_store(async |store| {
        let code = |_: Ctx<AnyEvent>, n: u32| async move {
            assert!(n != 1, "out of cheese");
            Ok(n)
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let bad = test.start_by_name("w", json(&1)).await.unwrap();
        let good = test.start_by_name("w", json(&2)).await.unwrap();
        let failure = failure(&bad).await;
        assert!(
            failure.is(ErrorCode::WorkflowPanicked) && failure.message.contains("out of cheese"),
            "{failure:?}"
        );
        assert_eq!(good.wait_json().await.unwrap(), json(&2));
    });
}

#[test]
fn bad_starts_are_refused_and_create_nothing() {
    for_each_store(async |store| {
        let code = |_: Ctx<AnyEvent>, _: Option<String>| async { Ok(()) };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let start = || test.start_by_name("w", json(&()));
        let large = Payload::from_json(format!("\"{}\"", "x".repeat(1 << 20))).unwrap();
        for (refused, code) in [
            (
                test.start_by_name("x", json(&())),
                ErrorCode::UnknownWorkflow,
            ),
            (test.start_by_name("", json(&())), ErrorCode::InvalidName),
            (test.start_by_name("w", large), ErrorCode::PayloadTooLarge),
            (start().id(""), ErrorCode::InvalidRunId),
            (start().id("a/b"), ErrorCode::InvalidRunId),
            (start().id("a b"), ErrorCode::InvalidRunId),
            (start().id("x".repeat(256)), ErrorCode::InvalidRunId),
            (start().tag(""), ErrorCode::InvalidOptions),
            (start().tag("x".repeat(129)), ErrorCode::InvalidOptions),
            (
                (0..33).fold(start(), |start, n| start.tag(n.to_string())),
                ErrorCode::InvalidOptions,
            ),
            (start().idempotency_key(""), ErrorCode::InvalidOptions),
            (
                start().idempotency_key("x".repeat(513)),
                ErrorCode::InvalidOptions,
            ),
            (start().deadline(secs(0)), ErrorCode::InvalidOptions),
        ] {
            assert_eq!(refused.await.unwrap_err().code(), code);
        }
        if !store.is_served() {
            let error = test.start_by_name("w", json(&5)).await.unwrap_err();
            assert_eq!(error.code(), ErrorCode::SchemaMismatch);
        }
        assert_eq!(test.list().await.unwrap().runs, []);
    });
}

#[test]
fn bad_events_are_refused_and_store_nothing() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    ctx.event::<Ping>().await
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Waiting).await;
        for (name, dedup, code) in [
            ("", None, ErrorCode::InvalidName),
            ("__x", None, ErrorCode::InvalidName),
            ("a\u{7}", None, ErrorCode::InvalidName),
            ("ping", Some(String::new()), ErrorCode::InvalidOptions),
            ("ping", Some("x".repeat(513)), ErrorCode::InvalidOptions),
        ] {
            let error = run.send_by_name(name, json(&1), dedup).await.unwrap_err();
            assert_eq!(error.code(), code, "{name:?}");
        }
        test.journal(&run)
            .await
            .assert_kinds(&["created", "waiting"]);
        // The event is not declared, so a payload of the wrong type fails the code that waits for
        // it.
        run.send_by_name("ping", json("seven"), None).await.unwrap();
        assert!(failure(&run).await.is(ErrorCode::Undecodable));
    });
}

#[test]
fn a_recorded_result_that_no_longer_fits_its_type_fails_the_run() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    ctx.step("a", || async { Ok::<_, Error>(f64::NAN) }).await
                }),
            )
            .start()
            .await;
        let failure = failure(&start(&test).await).await;
        assert!(
            failure.is(ErrorCode::Undecodable) && failure.message.contains("`a`"),
            "{failure:?}"
        );
        assert_eq!(test.calls("a"), 1);
    });
}

// B33
#[test]
fn misdeclared_workflows_do_not_start_an_engine() {
    async fn nothing(_: Ctx<AnyEvent>, (): ()) -> Result<()> {
        Ok(())
    }
    virtual_time(async {
        let builder = || Engine::in_memory().runtime(std::sync::Arc::new(VirtualRuntime::new(1)));
        for (builder, expected) in [
            (
                builder().workflows(Workflows::new().function("", nothing)),
                "invalid name",
            ),
            (
                builder().workflows(Workflows::new().function("__w", nothing)),
                "reserved",
            ),
            (
                builder().workflows(
                    Workflows::new()
                        .function("w", nothing)
                        .function("w", nothing),
                ),
                "two workflows",
            ),
            (
                builder().workflows(Workflows::new().function_with(
                    "w",
                    Options::new().timeout(secs(0)),
                    nothing,
                )),
                "workflow `w`: a step's timeout",
            ),
            (
                builder().workflows(Workflows::new().function_with(
                    "w",
                    Options::new().deadline(secs(0)),
                    nothing,
                )),
                "workflow `w`: a deadline",
            ),
            (
                builder().defaults(Options::new().timeout(secs(0))),
                "workflow `engine`",
            ),
        ] {
            let error = builder.start().await.unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    });
}
