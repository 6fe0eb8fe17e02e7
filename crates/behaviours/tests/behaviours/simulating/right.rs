//! Correct workflows pass, and the summary of a simulation is true.

use std::cell::RefCell;
use std::ops::ControlFlow;

use everstep::testing::{
    JournalView, Mock, journal_to_lines, simulate, simulate_function, simulate_in,
};
use everstep::{AnyEvent, Ctx, Error, Result, RunStatus, Workflow, hours, interface, minutes};

use super::shop::{Address, Approval, Bank, Item, Order, Parcel, code};

const SEEDS: u64 = 60;

fn order() -> everstep::testing::Simulation<Order, Bank> {
    order_with(0..SEEDS)
}

fn order_with(seeds: std::ops::Range<u64>) -> everstep::testing::Simulation<Order, Bank> {
    simulate_in(Bank::default, |bank| Order { bank: bank.clone() }, seeds)
        .also(Parcel)
        .input(&42)
        .event(hours(30), &Approval(true))
        .answer::<Address>(&"home".to_owned())
}

#[test]
fn a_correct_workflow_survives_all_faults() {
    let summary = order().check(|run| {
        assert_eq!(run.output().unwrap(), "at home");
        assert_eq!(run.world().things(), 1);
        assert_eq!(run.recorded("charge"), 1);
        assert!(run.calls("charge") <= 1 + run.crashes());
        assert_eq!(run.journals().len(), 2);
        run.journal().assert_contains("wait_completed approval:0");
    });
    // One case without faults, two for each of its commits, and one for each seed.
    assert!(summary.cases > SEEDS + 20, "{summary}");
    assert!(summary.crashes > SEEDS + 20, "{summary}");
    assert!(summary.events_sent >= summary.cases, "{summary}");
    assert!(summary.answers > summary.cases, "{summary}");
    for struck in [
        summary.events_repeated,
        summary.events_delayed,
        summary.clock_jumps,
        summary.evictions,
    ] {
        assert!(struck >= SEEDS / 10, "{summary}");
    }
    assert_eq!(summary.step_failures, 0);
    assert!(
        summary.simulated > summary.cases as u32 * hours(30),
        "{summary}"
    );
}

#[test]
fn the_same_seed_gives_the_same_journals_and_the_same_timeline() {
    let observe = || {
        let observed = RefCell::new(Vec::new());
        order().check(|run| {
            let journal = |view: &JournalView| journal_to_lines(view.entries()).unwrap();
            let journals: Vec<_> = run
                .journals()
                .iter()
                .map(|(_, view)| journal(view))
                .collect();
            observed
                .borrow_mut()
                .push((run.case(), run.timeline().to_vec(), journals));
        });
        observed.into_inner()
    };
    let (first, second) = (observe(), observe());
    assert_eq!(first.len(), second.len());
    for (first, second) in first.into_iter().zip(second) {
        assert_eq!(first, second);
    }
}

#[test]
fn other_seeds_have_other_faults() {
    let faults = RefCell::new(Vec::new());
    order().check(|run| faults.borrow_mut().push(run.faults()));
    let mut faults = faults.into_inner();
    let all = faults.len();
    faults.sort();
    faults.dedup();
    // Two seeds may plan the same crashes.
    assert!(faults.len() > all * 9 / 10, "{} of {all}", faults.len());
}

/// Takes three items, whatever their order.
struct Basket;
interface!(BasketInterface { events: Item; });

impl Workflow for Basket {
    const NAME: &'static str = "basket";
    type Input = ();
    type Output = Vec<u32>;
    type Interface = BasketInterface;

    async fn run(&self, ctx: Ctx<Self>, _: ()) -> Result<Vec<u32>> {
        let mut items = Vec::new();
        while items.len() < 3 {
            let Item(n) = ctx.event::<Item>().await?;
            ctx.step("put", || async { Ok::<_, Error>(n) }).await?;
            items.push(n);
        }
        Ok(items)
    }
}

#[test]
fn an_event_with_a_dedup_id_is_taken_once_in_any_order_of_arrival() {
    let orders = RefCell::new(Vec::new());
    let basket = simulate(Basket, 0..100)
        .event(minutes(1), &Item(1))
        .event(minutes(2), &Item(2))
        .event(minutes(3), &Item(3));
    let summary = basket.check(|run| {
        let mut items = run.output().unwrap();
        orders.borrow_mut().push(items.clone());
        items.sort_unstable();
        assert_eq!(items, [1, 2, 3]);
    });
    assert!(summary.events_repeated > 50, "{summary}");
    let mut orders = orders.into_inner();
    orders.sort();
    orders.dedup();
    assert!(orders.len() > 1, "events kept their order");
}

#[test]
fn events_that_are_further_apart_than_the_slack_keep_their_order() {
    let basket = simulate(Basket, 0..100)
        .slack(minutes(3))
        .event(minutes(10), &Item(1))
        .event(minutes(20), &Item(2))
        .event(minutes(30), &Item(3));
    basket.check(|run| assert_eq!(run.output().unwrap(), [1, 2, 3]));
}

#[test]
fn an_event_without_a_dedup_id_may_be_taken_twice() {
    let twice = RefCell::new(0);
    let basket = simulate(Basket, 0..100)
        .event_at_least_once(minutes(1), &Item(1))
        .event(minutes(30), &Item(2))
        .event(minutes(60), &Item(3));
    basket.check(|run| {
        let items = run.output().unwrap();
        let ones = items.iter().filter(|item| **item == 1).count();
        *twice.borrow_mut() += usize::from(ones > 1);
    });
    assert!(twice.into_inner() > 5);
}

/// Never ends.
struct Heartbeat;
impl Workflow for Heartbeat {
    const NAME: &'static str = "heartbeat";
    type Input = ();
    type Output = ();
    type Interface = ();

    async fn run(&self, ctx: Ctx<Self>, _: ()) -> Result<()> {
        ctx.repeat("beat", 0_u64, |ctx, n| async move {
            let n = ctx.step("tick", || async { Ok::<_, Error>(n + 1) }).await?;
            ctx.sleep("rest", hours(1)).await?;
            Ok(ControlFlow::<(), _>::Continue(n))
        })
        .await
    }
}

#[test]
fn an_endless_workflow_is_checked_after_its_observation_time() {
    let summary = simulate(Heartbeat, 0..10).lasting(hours(6)).check(|run| {
        assert!(!run.status().is_terminal());
        assert!(run.output().is_err());
        // An hour of downtime or a wrong clock may skip a beat.
        let ticks = run.calls("tick");
        assert!((6..=7 + run.crashes()).contains(&ticks), "{ticks}");
    });
    assert!(summary.crashes > 20, "{summary}");
}

/// Books a flight and a hotel, each with its undo.
struct Trip {
    bank: Bank,
}
impl Workflow for Trip {
    const NAME: &'static str = "trip";
    type Input = ();
    type Output = ();
    type Interface = ();

    async fn run(&self, ctx: Ctx<Self>, _: ()) -> Result<()> {
        for what in ["flight", "hotel"] {
            let bank = self.bank.clone();
            ctx.step(what, || async {
                self.bank.act_once(what);
                Ok::<_, Error>(())
            })
            .undo(move |()| async move {
                bank.undo(what);
                Ok::<_, Error>(())
            })
            .await?;
        }
        ctx.step("confirm", || async { Ok::<_, Error>(()) }).await
    }
}

#[test]
fn a_saga_does_all_or_nothing_if_any_step_fails() {
    let failed = RefCell::new(0);
    let trip = simulate_in(Bank::default, |bank| Trip { bank: bank.clone() }, 0..100);
    let summary = trip.failing_steps().check(|run| match run.status() {
        RunStatus::Completed => assert_eq!(run.world().things(), 2),
        RunStatus::Failed => {
            assert_eq!(run.world().things(), 0);
            *failed.borrow_mut() += 1;
        }
        other => panic!("{other}"),
    });
    assert!(failed.into_inner() > 10, "{summary}");
    assert!(summary.step_failures > 50, "{summary}");
}

#[test]
fn a_process_also_crashes_while_a_step_is_in_flight() {
    let cut_short = RefCell::new(0);
    let slow = code(|ctx, bank| async move {
        ctx.step("slow", || async {
            bank.act("begun");
            tokio::time::sleep(minutes(30)).await;
            Ok::<_, Error>(bank.act("done"))
        })
        .await
    });
    slow.check(|run| {
        let (begun, done) = (run.world().times("begun"), run.world().times("done"));
        assert_eq!(begun, run.calls("slow"));
        assert!(done <= begun);
        *cut_short.borrow_mut() += u32::from(done < begun);
    });
    assert!(cut_short.into_inner() > 10);
}

#[test]
fn every_case_begins_with_all_mocks() {
    simulate_in(Bank::default, |bank| Trip { bank: bank.clone() }, 0..20)
        .mock_step("confirm", Mock::fails(Error::new("busy")).times(2))
        .check(|run| {
            assert_eq!(run.status(), RunStatus::Completed);
            assert!(run.calls("confirm") >= 3);
            assert!(run.recorded("confirm") <= 3);
        });
}

/// Ends before its child has begun.
struct Hurried;
impl Workflow for Hurried {
    const NAME: &'static str = "hurried";
    type Input = ();
    type Output = ();
    type Interface = ();

    async fn run(&self, ctx: Ctx<Self>, _: ()) -> Result<()> {
        ctx.child::<Parcel>(&"home".to_owned()).detach().await?;
        Ok(())
    }
}

#[test]
fn a_case_ends_when_its_detached_children_have_ended() {
    simulate(Hurried, 0..20).also(Parcel).check(|run| {
        assert_eq!(run.journals().len(), 2);
        assert_eq!(run.recorded("ship"), 1);
        for (_, journal) in run.journals() {
            assert_eq!(journal.count("completed"), 1);
        }
    });
}

async fn greet(ctx: Ctx<AnyEvent>, name: String) -> Result<String> {
    let hello = || async { Ok::<_, Error>("hello".to_owned()) };
    let greeting = ctx.step("greeting", hello).await?;
    let Item(times) = ctx.event::<Item>().await?;
    Ok(format!("{greeting} {name} {times}"))
}

#[test]
fn plain_functions_are_simulated_too() {
    simulate_function("greet", greet, 0..20)
        .input(&"ada".to_owned())
        .event(minutes(1), &Item(3))
        .check(|run| assert_eq!(run.output().unwrap(), "hello ada 3"));
}
