//! Iterations of loops whose children may have to be undone.

use super::*;
use everstep::Workflows;

#[test]
fn an_iteration_whose_child_may_have_to_be_undone_is_kept() {
    for_each_store(async |store: &TestStore| {
        let seen = Seen::new();
        let (own, setup) = (seen.clone(), with_child(store.engine(), &seen));
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = own.clone();
            async move {
                let seen = &seen;
                let body = |ctx: Ctx<AnyEvent>, n: u32| async move {
                    if n == 1 || n == 4 {
                        shipped(&ctx, &format!("parcel {n}"), seen).await?;
                    } else {
                        ctx.child_by_name("ship", json("letter")).await?;
                    }
                    Ok(match n {
                        6 => ControlFlow::Break(()),
                        n => ControlFlow::Continue(n + 1),
                    })
                };
                ctx.repeat("parcels", 0, body).keep(0).await?;
                ctx.event::<Ping>().await?;
                Err::<(), _>(Error::fatal("no"))
            }
        };
        let mut test = setup
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Waiting).await;
        test.advance(minutes(1)).await;
        let run = restart(&mut test).await;
        let journal = run.journal().await.unwrap();
        let started = journal.iter().filter_map(|entry| match &entry.record.body {
            Body::ChildStarted(record) => Some(record.location.to_string()),
            _ => None,
        });
        let started: Vec<String> = started.collect();
        // The last iteration is recent, so it is kept.
        let expected = [
            "parcels/~1/ship:0",
            "parcels/~4/ship:0",
            "parcels/~6/ship:0",
        ];
        assert_eq!(started, expected);
        ping(&run, 1).await;
        assert_eq!(failure(&run).await.message, "no");
        assert_eq!(
            seen.take(),
            ["undo parcel 4 shipped", "undo parcel 1 shipped"]
        );
    });
}

#[test]
fn an_iteration_whose_abandoned_child_may_complete_is_kept() {
    for crashes in [false, true] {
        for_each_store(async |store: &TestStore| {
            let seen = Seen::new();
            let (own, setup) = (seen.clone(), with_child(store.engine(), &seen));
            let code = move |ctx: Ctx<AnyEvent>, (): ()| {
                let seen = own.clone();
                async move {
                    let seen = &seen;
                    let body = |ctx: Ctx<AnyEvent>, n: u32| async move {
                        let undone = seen.clone();
                        let child = ctx.child_by_name("ship", json(&format!("parcel {n}")));
                        child
                            .on_parent_close(if n == 2 {
                                ParentClose::Abandon
                            } else {
                                ParentClose::Cancel
                            })
                            .undo(move |output: Payload| async move {
                                undone.add(output.decode::<String>()?);
                                Ok::<_, Error>(())
                            })
                            .timeout(millis(100))
                            .await?;
                        Ok(match n {
                            20 => ControlFlow::Break(()),
                            n => ControlFlow::Continue(n + 1),
                        })
                    };
                    ctx.repeat("parcels", 0, body).keep(0).await?;
                    ctx.sleep("on", minutes(1)).await?;
                    Err::<(), _>(Error::fatal("no"))
                }
            };
            let mut test = setup
                .workflows(Workflows::new().function("w", code))
                .start()
                .await;
            let mut run = start(&test).await;
            test.advance(secs(30)).await;
            if crashes {
                run = restart(&mut test).await;
            }
            let kept: BTreeSet<String> = run
                .journal()
                .await
                .unwrap()
                .iter()
                .filter_map(|entry| match &entry.record.body {
                    Body::ChildStarted(record) => Some(record.location.scope.to_string()),
                    _ => None,
                })
                .collect();
            assert!(kept.contains("parcels/~2/"), "{kept:?}");
            assert!(kept.len() < 4, "{kept:?}");
            seen.take();
            assert_eq!(failure(&run).await.message, "no");
            assert_eq!(seen.take(), ["parcel 2 shipped"]);
        });
    }
}
