//! Requests that are recorded in a saga's journal right before any of its commits: the first record
//! decides, and the undos match the final status of the run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use everstep::journal::record::{CancelRequested, DeadlinePassed};
use everstep::journal::{Body, Entry};
use everstep::testing::{VirtualRuntime, virtual_time};
use everstep::{AnyEvent, Ctx, Engine, Error, Options, Result, Retry, Workflows, millis};
use everstep_store::{LocalBus, MemoryStore};
use everstep_store_testkit::{Fault, Faulty, block_on};

use crate::crash_points::{Effects, append_to_inbox};
use crate::sagas::takes;
use crate::sagas_crashes::{three_steps, traced};
use crate::support::json;

/// Runs a saga and appends this record to its inbox right before its commit of that number, without
/// a hint. Also returns the number of commits.
async fn run_with(body: &Body, before: u64) -> (Vec<Entry>, Vec<String>, u64) {
    let process = Arc::new(VirtualRuntime::new(7));
    let memory = MemoryStore::new(process.clone());
    let commits = Arc::new(AtomicU64::new(0));
    let (inbox, clock, count) = (memory.clone(), process.clone(), commits.clone());
    let body = body.clone();
    let created = Arc::new(OnceLock::new());
    let is_created = created.clone();
    let store = Faulty::new(memory, move |call| {
        count.store(call + 1, Ordering::SeqCst);
        if call == before && is_created.get().is_some() {
            // The hint is lost.
            let bus = LocalBus::new();
            block_on(append_to_inbox(&inbox, &*clock, &bus, body.clone()));
        }
        Fault::None
    });
    let effects = Effects::new();
    let seen = effects.clone();
    let engine = Engine::on_store(Arc::new(store))
        .bus(Arc::new(LocalBus::new()))
        .runtime(process)
        .workflows(Workflows::new().function_with(
            "w",
            Options::new().execution_retries(1),
            move |ctx, (): ()| saga(ctx, effects.clone()),
        ))
        .start()
        .await
        .unwrap();
    let run = engine.start_by_name("w", json(&())).id("r").await.unwrap();
    created.set(()).unwrap();
    let _ = run.wait_json().await;
    let journal = run.journal().await.unwrap();
    (journal, seen.take(), commits.load(Ordering::SeqCst))
}

/// Fails with a step in flight, in its second pass permanently.
async fn saga(ctx: Ctx<AnyEvent>, effects: Effects) -> Result<()> {
    three_steps(&ctx, &effects).await?;
    let side = async {
        traced(&ctx, &effects, "side", 0).await?;
        ctx.sleep("long", millis(100_000)).await
    };
    let fails = async {
        ctx.step("fails", || async { Err::<(), _>(Error::new("stop")) })
            .retry(Retry::none())
            .await
    };
    tokio::try_join!(side, fails)?;
    Ok(())
}

fn undone(effects: &[String]) -> usize {
    let undone = effects.iter().filter(|effect| effect.starts_with("undo"));
    undone.count()
}

/// Returns the number of completed steps in the journal.
fn done(journal: &[Entry]) -> usize {
    let done = journal
        .iter()
        .filter(|entry| matches!(entry.record.body, Body::StepCompleted(_)));
    done.count()
}

// B138, B156
#[test]
fn a_cancellation_at_any_point_takes_effect_first_or_not_at_all() {
    for rollback in [false, true] {
        let cancel: Body = CancelRequested {
            by: None,
            reason: None,
            rollback,
        }
        .into();
        let (mut before, mut ends) = (0, [0, 0]);
        loop {
            let (journal, effects, commits) = virtual_time(run_with(&cancel, before));
            if before >= commits {
                break;
            }
            match &journal.last().unwrap().record.body {
                Body::Cancelled(_) if !rollback => {
                    assert_eq!(undone(&effects), 0, "before commit {before}: {effects:?}");
                    ends[0] += 1;
                }
                Body::Cancelled(end) => {
                    assert_eq!(undone(&effects), done(&journal), "before commit {before}");
                    assert_eq!(end.rolled_back, done(&journal) > 0);
                    ends[0] += 1;
                }
                Body::Failed(end) => {
                    assert_eq!(end.error.message, "stop");
                    assert_eq!(undone(&effects), done(&journal), "before commit {before}");
                    ends[1] += 1;
                }
                other => panic!("before commit {before} it ended with {other:?}"),
            }
            before += 1;
        }
        assert!(ends[0] > 5 && ends[1] > 5, "{ends:?}");
    }
}

#[test]
fn a_deadline_at_any_point_takes_effect_first_or_not_at_all() {
    let deadline = everstep::journal::Timestamp::from_millis(0);
    let passed: Body = DeadlinePassed { deadline }.into();
    let mut before = 0;
    loop {
        let (journal, effects, commits) = virtual_time(run_with(&passed, before));
        if before >= commits {
            break;
        }
        let Body::Failed(end) = &journal.last().unwrap().record.body else {
            panic!("before commit {before} it did not fail");
        };
        assert_eq!(undone(&effects), done(&journal), "before commit {before}");
        assert_eq!(end.rolled_back, done(&journal) > 0);
        before += 1;
    }
}

/// Runs a function whose commit of that number fails once and is repeated later.
async fn run_with_slow_commit(slow: u64) -> (Vec<Entry>, Vec<String>, u64) {
    let process = Arc::new(VirtualRuntime::new(7));
    let commits = Arc::new(AtomicU64::new(0));
    let count = commits.clone();
    let store = Faulty::new(MemoryStore::new(process.clone()), move |call| {
        count.store(call + 1, Ordering::SeqCst);
        if call == slow {
            Fault::Before
        } else {
            Fault::None
        }
    });
    let effects = Effects::new();
    let seen = effects.clone();
    let engine = Engine::on_store(Arc::new(store))
        .bus(Arc::new(LocalBus::new()))
        .runtime(process)
        .workflows(
            Workflows::new().function("w", move |ctx: Ctx<AnyEvent>, (): ()| {
                let effects = effects.clone();
                async move {
                    let fails = ctx.step("fails", || async {
                        tokio::time::sleep(millis(10)).await;
                        Err::<(), _>(Error::fatal("stop"))
                    });
                    let late = takes(&ctx, "late", 11, &effects);
                    tokio::try_join!(fails, late)?;
                    Ok(())
                }
            }),
        )
        .start()
        .await
        .unwrap();
    let run = engine.start_by_name("w", json(&())).id("r").await.unwrap();
    let _ = run.wait_json().await;
    let journal = run.journal().await.unwrap();
    (journal, seen.take(), commits.load(Ordering::SeqCst))
}

// B126
#[test]
fn a_result_that_is_on_its_way_to_the_journal_when_the_run_fails_is_undone_too() {
    let (mut slow, mut late) = (0, 0);
    loop {
        let (journal, effects, commits) = virtual_time(run_with_slow_commit(slow));
        if slow >= commits {
            break;
        }
        assert_eq!(effects.len(), done(&journal), "commit {slow} was slow");
        late += done(&journal);
        slow += 1;
    }
    assert!(late > 0, "no result was late");
}
