//! Compaction of loops: the journal keeps the last iterations and every record that is still
//! needed.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use everstep::journal::{Body, Entry};
use everstep::schemars::{self, JsonSchema};
use everstep::testing::{
    ReplayError, journal_from_lines, journal_to_lines, replay_check_function, virtual_time,
};
use everstep::{AnyEvent, Ctx, Event, Result, RunStatus, Workflows, millis, secs};
use everstep_model::Segment;
use serde::{Deserialize, Serialize};

use crate::support::{Ping, for_each_store, json, ok, output, ping, restart, start, start_with};

/// A loop with one step per iteration. The journal keeps the last `keep` iterations.
async fn count(ctx: Ctx<AnyEvent>, (times, keep): (u64, u32)) -> Result<u64> {
    let body = |ctx: Ctx<AnyEvent>, n: u64| async move {
        let n = ctx.step("count", || ok(n + 1)).await?;
        Ok(if n == times {
            ControlFlow::Break(n)
        } else {
            ControlFlow::Continue(n)
        })
    };
    ctx.repeat("count", 0, body).keep(keep).await
}

/// Returns the iterations of root loops whose steps are still in the journal.
fn iterations(journal: &[Entry]) -> BTreeSet<u64> {
    let locations = journal.iter().filter_map(|entry| match &entry.record.body {
        Body::StepCompleted(record) => Some(&record.location),
        _ => None,
    });
    let first = |path: &[Segment]| match path.get(1) {
        Some(Segment::Iteration(n)) => Some(*n),
        _ => None,
    };
    locations
        .filter_map(|location| first(location.scope.segments()))
        .collect()
}

// B105
#[test]
fn the_last_iterations_are_kept_after_the_loop_has_ended() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", count))
            .start()
            .await;
        for keep in [1_u32, 2, 3, 10] {
            let run = test
                .start_by_name("w", json(&(40, keep)))
                .id(format!("keep-{keep}"))
                .await
                .unwrap();
            assert_eq!(output::<u64>(&run).await, 40);
            let kept = iterations(&run.journal().await.unwrap());
            assert_eq!(kept, (40 - u64::from(keep)..40).collect());
        }
    });
}

// B105
#[test]
fn a_running_loop_keeps_at_most_twice_as_many_iterations() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", count))
            .start()
            .await;
        let run = start_with(&test, &(100, 5)).await;
        let mut records = run.records().await.unwrap();
        while let Some(entry) = records.next().await.unwrap() {
            if let Body::LoopAdvanced(record) = &entry.record.body
                && record.iteration % 9 == 0
            {
                let journal = run.journal().await.unwrap();
                assert!(iterations(&journal).len() <= 12, "{}", record.iteration);
            }
        }
        assert_eq!(output::<u64>(&run).await, 100);
    });
}

// B107
#[test]
fn a_short_loop_drops_nothing() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", count))
            .start()
            .await;
        let run = start_with(&test, &(10, 10)).await;
        assert_eq!(output::<u64>(&run).await, 10);
        let journal = run.journal().await.unwrap();
        let numbers: Vec<u64> = journal.iter().map(|entry| entry.number.0).collect();
        assert_eq!(numbers, (0..journal.len() as u64).collect::<Vec<_>>());
    });
}

// B106
#[test]
fn each_record_is_dropped_once_and_in_ranges() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", count))
            .start()
            .await;
        let run = start_with(&test, &(100, 4)).await;
        let mut records = run.records().await.unwrap();
        let (mut last, mut drops) = (0, 0);
        while let Some(entry) = records.next().await.unwrap() {
            if let Body::LoopAdvanced(record) = &entry.record.body {
                for range in &record.dropped {
                    assert!(range.first.0 > last, "{record:?}");
                    last = range.last.0;
                }
                drops += usize::from(!record.dropped.is_empty());
                assert!(record.dropped.len() <= 1, "{record:?}");
                assert!(record.gaps.len() <= 1, "{record:?}");
            }
        }
        // The reader may miss most of them, because they are dropped too.
        assert!(drops >= 2, "{drops}");
    });
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Stop;
impl Event for Stop {
    const NAME: &'static str = "stop";
}

/// Takes an event in each iteration, while another wait takes some events with the same name.
async fn shared_events(ctx: Ctx<AnyEvent>, times: u32) -> Result<(Vec<u32>, u32)> {
    let looped = async {
        let body = |ctx: Ctx<AnyEvent>, mut got: Vec<u32>| async move {
            got.push(ctx.event::<Ping>().await?.0);
            ctx.sleep("rest", millis(10)).await?;
            Ok(if got.len() as u32 == times {
                ControlFlow::Break(got)
            } else {
                ControlFlow::Continue(got)
            })
        };
        ctx.repeat("take", Vec::new(), body).keep(1).await
    };
    let beside = async {
        ctx.event::<Stop>().await?;
        let got = ctx.event::<Ping>().id("beside").await?;
        Ok(got.0)
    };
    tokio::try_join!(looped, beside)
}

// B68, B69
#[test]
fn early_events_are_taken_once_and_in_order_despite_dropped_iterations() {
    for_each_store(async |store| {
        for evicted in [false, true] {
            let engine = store
                .engine()
                .workflows(Workflows::new().function("w", shared_events))
                .development();
            let engine = if evicted { engine.evict_all() } else { engine };
            let mut test = engine.start().await;
            let run = test
                .start_by_name("w", json(&20))
                .id(if evicted { "r" } else { "hot" })
                .await
                .unwrap();
            for n in 0..15 {
                ping(&run, n).await;
            }
            test.advance(millis(35)).await;
            run.send_by_name("stop", json(&Stop), None).await.unwrap();
            test.advance(secs(1)).await;
            let run = if evicted {
                restart(&mut test).await
            } else {
                run
            };
            test.reach(&run, RunStatus::Waiting).await;
            for n in 15..21 {
                ping(&run, n).await;
            }
            let (mut got, beside): (Vec<u32>, u32) = output(&run).await;
            assert!(got.is_sorted());
            got.push(beside);
            got.sort_unstable();
            assert_eq!(got, (0..21).collect::<Vec<_>>());
            test.shutdown().await;
        }
    });
}

// B102
#[test]
fn after_a_crash_at_any_commit_the_run_continues_from_the_remaining_records() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            let body = |ctx: Ctx<AnyEvent>, n: u32| async move {
                ctx.step("a", || async move {
                    tokio::time::sleep(millis(10)).await;
                    ok(n).await
                })
                .await?;
                ctx.note(format!("{n}"));
                ctx.sleep("nap", millis(10)).await?;
                let inner = |ctx: Ctx<AnyEvent>, m: u32| async move {
                    ctx.sleep("short", millis(3)).await?;
                    Ok(if m == 2 {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(m + 1)
                    })
                };
                ctx.repeat("inner", 0, inner).keep(0).await?;
                let n = ctx.step("b", || ok(n + 1)).await?;
                Ok(if n == 12 {
                    ControlFlow::Break(n)
                } else {
                    ControlFlow::Continue(n)
                })
            };
            ctx.repeat("work", 0, body).keep(1).await
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let mut run = start(&test).await;
        let mut crashes = 0;
        while run.status().await.unwrap() != RunStatus::Completed {
            test.advance(millis(11)).await;
            run = restart(&mut test).await;
            crashes += 1;
        }
        assert!(crashes > 12, "{crashes}");
        assert_eq!(output::<u32>(&run).await, 12);
        assert_eq!(test.calls("b"), 12);
        assert!(iterations(&run.journal().await.unwrap()).len() <= 3);
    });
}

#[test]
fn a_gap_that_no_loop_names_is_damage() {
    let journal = virtual_time(async {
        let test = everstep::testing::TestEngine::builder()
            .workflows(Workflows::new().function("w", count));
        let test = test.start().await;
        let run = start_with(&test, &(50, 3)).await;
        output::<u64>(&run).await;
        run.journal().await.unwrap()
    });
    // The complete journal, as entries and as lines of text.
    let lines = journal_to_lines(&journal).unwrap();
    let read = journal_from_lines(&lines).unwrap();
    assert_eq!(read, journal);
    replay_check_function("w", count, read).unwrap();
    for missing in 1..journal.len() - 1 {
        let mut damaged = journal.clone();
        damaged.remove(missing);
        let error = replay_check_function("w", count, damaged).unwrap_err();
        assert!(
            matches!(error, ReplayError::Damaged(_) | ReplayError::Diverged(_)),
            "{missing}: {error}"
        );
    }
    // Without the record that names the gaps, none is legal.
    let mut unnamed = journal;
    unnamed.retain(|entry| match &entry.record.body {
        Body::LoopAdvanced(record) => record.dropped.is_empty(),
        _ => true,
    });
    let error = replay_check_function("w", count, unnamed).unwrap_err();
    assert!(
        matches!(error, ReplayError::Damaged(_) | ReplayError::Diverged(_)),
        "{error}"
    );
}

#[test]
fn overviews_and_tails_show_what_is_left() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            count(ctx.clone(), (30, 2)).await?;
            ctx.event::<Ping>().await
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Waiting).await;
        let info = run.inspect().await.unwrap();
        let steps: Vec<String> = info
            .overview
            .steps
            .iter()
            .map(|step| step.location.to_string())
            .collect();
        assert_eq!(steps, ["count/~28/count:0", "count/~29/count:0"]);
        ping(&run, 7).await;
        assert_eq!(output::<Ping>(&run).await, Ping(7));
        let mut tail = run.records().await.unwrap();
        let mut seen = Vec::new();
        while let Some(entry) = tail.next().await.unwrap() {
            seen.push(entry);
        }
        assert_eq!(seen, run.journal().await.unwrap());
    });
}

/// Twelve iterations whose steps can be undone. The sixth undoes all earlier steps.
async fn undoable(ctx: Ctx<AnyEvent>, has_rollback: bool) -> Result<u32> {
    let body = |ctx: Ctx<AnyEvent>, n: u32| async move {
        let n = ctx
            .step("do", || ok(n + 1))
            .undo(|_| async { Ok::<_, everstep::Error>(()) })
            .await?;
        if has_rollback && n == 6 {
            ctx.rollback().await?;
        }
        Ok(if n == 12 {
            ControlFlow::Break(n)
        } else {
            ControlFlow::Continue(n)
        })
    };
    ctx.repeat("do", 0, body).keep(1).await
}

#[test]
fn iterations_with_possible_undos_are_kept_until_they_are_undone() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", undoable))
            .development();
        let test = test.start().await;
        for has_rollback in [false, true] {
            let run = test
                .start_by_name("w", json(&has_rollback))
                .id(format!("{has_rollback}"))
                .await
                .unwrap();
            assert_eq!(output::<u32>(&run).await, 12);
            let kept = iterations(&run.journal().await.unwrap());
            let expected: BTreeSet<u64> = if has_rollback {
                (6..12).collect()
            } else {
                (0..12).collect()
            };
            assert_eq!(kept, expected);
        }
    });
}
