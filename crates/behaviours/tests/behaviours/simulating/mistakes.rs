//! Each typical mistake is found by a simulation, most of them by any assertion at all.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use everstep::testing::{simulate, simulate_in};
use everstep::{Ctx, Error, Result, Workflow, hours, minutes};

use super::shop::{Approval, Item, code, failure};

#[test]
fn an_effect_outside_of_a_step_is_repeated_by_every_replay() {
    let found = failure(|| {
        code(|ctx, bank| async move {
            bank.act("charge");
            ctx.step("note", || async { Ok::<_, Error>(1) }).await
        })
        .check(|run| assert_eq!(run.world().times("charge"), 1))
    });
    assert!(found.contains("fails in case before-2"), "{found}");
}

#[test]
fn an_effect_in_a_step_happens_again_when_its_result_was_lost() {
    let found = failure(|| {
        code(|ctx, bank| async move {
            ctx.step("charge", || async { Ok::<_, Error>(bank.act("charge")) })
                .await
        })
        .check(|run| assert_eq!(run.world().times("charge"), 1))
    });
    assert!(found.contains("crash before commit"), "{found}");
}

#[test]
fn a_step_that_fails_the_second_time_is_found_without_an_assertion() {
    let found = failure(|| {
        code(|ctx, bank| async move {
            let insert = ctx.step("insert", || async {
                match bank.act("insert") {
                    1 => Ok(1),
                    _ => Err(Error::fatal("it exists")),
                }
            });
            insert.await
        })
        .check(|_| {})
    });
    assert!(
        found.contains("a crash changed the end of the run: it is failed"),
        "{found}"
    );
    assert!(found.contains("and completed without the crash"), "{found}");
}

#[test]
fn a_wall_clock_in_the_result_is_found_without_an_assertion() {
    let found = failure(|| {
        code(|ctx, _| async move {
            ctx.step("work", || async { Ok::<_, Error>(1) }).await?;
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            Ok(now.unwrap().subsec_nanos())
        })
        .check(|_| {})
    });
    assert!(found.contains("fails without any fault"), "{found}");
    assert!(
        found.contains("does not replay against the code: the journal holds no further operation"),
        "{found}"
    );
    assert!(found.contains("(the run returned "), "{found}");
    assert!(found.contains(", this code returns "), "{found}");
}

#[test]
fn the_order_of_a_hash_map_is_found_without_an_assertion() {
    let found = failure(|| {
        code(|ctx, _| async move {
            let prices: HashMap<String, u32> = (0..20).map(|n| (format!("p{n}"), n)).collect();
            let mut sum = 0;
            for (name, price) in &prices {
                sum += ctx.step(name, || async { Ok::<_, Error>(*price) }).await?;
            }
            Ok(sum)
        })
        .check(|_| {})
    });
    assert!(found.contains("fails without any fault"), "{found}");
    assert!(
        found.contains("does not replay against the code: the journal holds step `p"),
        "{found}"
    );
    assert!(found.contains(", but the code called step `p"), "{found}");
}

#[test]
fn a_decision_on_the_state_of_the_world_is_found_without_an_assertion() {
    let found = failure(|| {
        code(|ctx, bank| async move {
            // Should be a step: when the run is replayed, the account is open.
            if bank.times("account") == 0 {
                ctx.step("identify", || async { Ok::<_, Error>(()) })
                    .await?;
            }
            ctx.step("open", || async {
                bank.act_once("account");
                Ok::<_, Error>(())
            })
            .await?;
            ctx.step("close", || async {
                bank.undo("account");
                Ok::<_, Error>(0)
            })
            .await
        })
        .check(|_| {})
    });
    assert!(
        found.contains("behaves differently when it is executed again"),
        "{found}"
    );
    assert!(found.contains("`identify:0`"), "{found}");
}

#[test]
fn polling_for_an_event_that_may_not_have_arrived_is_found() {
    let found = failure(|| {
        code(|ctx, _| async move {
            ctx.sleep("hour", hours(1)).await?;
            // It should wait: an event that arrives late is lost.
            let item = ctx.try_event::<Item>().await?;
            Ok(item.map_or(0, |Item(n)| n))
        })
        .event(minutes(59), &Item(5))
        .check(|run| assert_eq!(run.output().unwrap(), 5))
    });
    assert!(found.contains("left: 0"), "{found}");
}

#[test]
fn a_race_that_loses_the_slower_event_is_found() {
    let found = failure(|| {
        code(|ctx, _| async move {
            // The first branch wins, and the approval has an effect only if it is first.
            let won = ctx
                .race("first")
                .branch("approval", |ctx| async move {
                    ctx.event::<Approval>().await?;
                    Ok(1)
                })
                .branch("item", |ctx| async move {
                    let Item(n) = ctx.event::<Item>().await?;
                    Ok(n)
                })
                .await?;
            Ok(won.value)
        })
        .event(minutes(5), &Approval(true))
        .event(minutes(6), &Item(7))
        .check(|run| assert_eq!(run.output().unwrap(), 1))
    });
    assert!(found.contains("event 1 (`approval`) is"), "{found}");
    assert!(found.contains("left: 7"), "{found}");
}

#[test]
fn a_step_without_its_undo_is_found_when_a_later_one_fails() {
    let found = failure(|| {
        code(|ctx, bank| async move {
            ctx.step("charge", || async {
                bank.act_once("charge");
                Ok::<_, Error>(1)
            })
            .await?;
            ctx.step("ship", || async { Ok::<_, Error>(1) }).await
        })
        .failing_steps()
        .check(|run| assert_eq!(run.output().is_ok(), run.world().things() == 1))
    });
    assert!(found.contains("step `ship:0` fails for good"), "{found}");
}

/// Counts in memory what it should count in its journal.
struct Forgetful {
    seen: Arc<AtomicU32>,
}
impl Workflow for Forgetful {
    const NAME: &'static str = "forgetful";
    type Input = ();
    type Output = u32;
    type Interface = ();

    async fn run(&self, ctx: Ctx<Self>, _: ()) -> Result<u32> {
        for _ in 0..3 {
            let seen = &self.seen;
            ctx.step("see", || async {
                Ok::<_, Error>(seen.fetch_add(1, Ordering::Relaxed))
            })
            .await?;
        }
        ctx.step("sum", || async {
            Ok::<_, Error>(self.seen.load(Ordering::Relaxed))
        })
        .await
    }
}

#[test]
fn the_memory_of_a_workflow_is_lost_with_its_process() {
    let make = |_: &()| Forgetful {
        seen: Arc::default(),
    };
    let found = failure(|| {
        simulate_in(|| (), make, 0..10).check(|run| assert_eq!(run.output().unwrap(), 3))
    });
    assert!(found.contains("fails in case"), "{found}");
}

#[test]
fn a_run_that_waits_for_an_event_that_is_never_sent_is_stuck() {
    let found = failure(|| {
        code(|ctx, _| async move {
            ctx.event::<Item>().await?;
            Ok(1)
        })
        .check(|_| {})
    });
    assert!(found.contains("fails without any fault"), "{found}");
    assert!(found.contains("the run is stuck"), "{found}");
}

/// Never ends, though its test sets no observation time.
struct Endless;
impl Workflow for Endless {
    const NAME: &'static str = "endless";
    type Input = ();
    type Output = ();
    type Interface = ();

    async fn run(&self, ctx: Ctx<Self>, _: ()) -> Result<()> {
        loop {
            ctx.sleep("rest", hours(24 * 365)).await?;
        }
    }
}

#[test]
fn a_run_that_never_ends_is_found() {
    let found = failure(|| simulate(Endless, 0..1).check(|_| {}));
    assert!(found.contains("the run has not ended after"), "{found}");
    assert!(found.contains("`lasting`"), "{found}");
}

/// Delegates its work to a child whose workflow is not registered, and may wait for it.
struct Orphan;
impl Workflow for Orphan {
    const NAME: &'static str = "orphan";
    type Input = bool;
    type Output = ();
    type Interface = ();

    async fn run(&self, ctx: Ctx<Self>, waits: bool) -> Result<()> {
        let child = ctx.child::<Endless>(&());
        if waits {
            return child.await;
        }
        child.detach().await.map(drop)
    }
}

#[test]
fn a_child_of_an_unregistered_workflow_is_detected() {
    let orphan = |waits| failure(|| simulate(Orphan, 0..1).input(&waits).check(|_| {}));
    let found = orphan(true);
    assert!(found.contains("it waits for its child"), "{found}");
    let found = orphan(false);
    assert!(found.contains("is its workflow registered"), "{found}");
}
