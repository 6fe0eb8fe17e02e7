//! Hot equals cold: a run that stayed in memory, one that was evicted after every suspension, one
//! whose process died at random moments, and a replay of each one's journal call the same
//! operations and see the same results.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use everstep::inspect::Overview;
use everstep::journal::{Body, Entry};
use everstep::testing::{VirtualRuntime, replay_check_function, virtual_time};
use everstep::{
    Engine, Name, Options, Payload, RunHandle, RunStatus, Settings, Workflows, millis, secs,
};
use everstep_model::{Generation, StreamName};
use everstep_store::{LocalBus, MemoryStore, Store};
use everstep_store_testkit::Archive;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::family::{self, FamilyOp};
use crate::program::{Happening, Op, Witness, event_name, happenings, program, run_program};
use crate::traces::{check_traces, last_trace, seen_by_both};
use crate::undos::{check_undos, has, rolls_back};

/// One cluster over one store, whose only process may die.
struct World {
    process: Arc<VirtualRuntime>,
    store: Arc<Archive>,
    witness: Witness,
    settings: Settings,
    engine: Engine,
}

impl World {
    async fn new(hot_runs_max: usize) -> Self {
        let process = Arc::new(VirtualRuntime::new(7));
        let store = Arc::new(Archive::new(MemoryStore::new(process.clone())));
        let witness = Witness::default();
        let settings = Settings {
            hot_runs_max,
            lease_ttl: millis(30),
            sweep_interval: millis(20),
            ..Settings::default()
        };
        let engine = boot(&process, &store, &witness, &settings).await;
        Self {
            process,
            store,
            witness,
            settings,
            engine,
        }
    }

    /// The process crashes; the next one waits until its lease has expired, as on another machine.
    async fn crash(&mut self) {
        self.process.crash().await;
        self.process = Arc::new(self.process.successor());
        self.engine = boot(&self.process, &self.store, &self.witness, &self.settings).await;
    }
}

async fn boot(
    process: &Arc<VirtualRuntime>,
    store: &Arc<Archive>,
    witness: &Witness,
    settings: &Settings,
) -> Engine {
    let witness = witness.clone();
    let builder = Engine::on_store(store.clone())
        .bus(Arc::new(LocalBus::new()))
        .runtime(process.clone())
        .settings(settings.clone());
    family::register(builder)
        .workflows(Workflows::new().function_with(
            "random",
            Options::new().execution_retries(1),
            move |ctx, program: Vec<Op>| run_program(ctx, program, witness.clone()),
        ))
        .start()
        .await
        .unwrap()
}

/// The observations of one run of a program.
pub(crate) struct Ran {
    pub(crate) journal: Vec<Entry>,
    /// Everything that was ever written to the journal.
    history: Vec<Entry>,
    witness: Witness,
    pub(crate) status: RunStatus,
    /// Whether its process died.
    crashed: bool,
}

fn is_crash((_, happening): &(u16, Happening)) -> bool {
    matches!(happening, Happening::Crash)
}

/// Runs a program in this world.
pub(crate) async fn run(
    hot_runs_max: usize,
    program: &[Op],
    happenings: &[(u16, Happening)],
) -> Ran {
    let mut world = World::new(hot_runs_max).await;
    let input = Payload::from_value(program).unwrap();
    world
        .engine
        .start_by_name("random", input)
        .id("r")
        .await
        .unwrap();
    for (number, (after_ms, happening)) in happenings.iter().enumerate() {
        tokio::time::sleep(Duration::from_millis(u64::from(*after_ms))).await;
        let handle = world.engine.run("r").await.unwrap();
        match happening {
            Happening::Send(event) => {
                let payload = Payload::from_value(&number).unwrap();
                let _ = handle.send_by_name(event_name(*event), payload, None).await;
            }
            Happening::Answer => answer(&handle, number).await,
            Happening::Crash => world.crash().await,
        }
    }
    let handle = world.engine.run("r").await.unwrap();
    let ended = tokio::time::timeout(secs(600), handle.wait_json()).await;
    if ended.is_err() {
        for entry in handle.journal().await.unwrap() {
            eprintln!("{}", everstep::journal::entry_to_json(&entry).unwrap());
        }
        panic!("the run never ended: {}", handle.why().await.unwrap());
    }
    let journal = handle.journal().await.unwrap();
    let status = handle.status().await.unwrap();
    tokio::time::sleep(secs(1)).await;
    let left = world.store.outbox(None, 10).await.unwrap();
    assert!(left.is_empty(), "effects were not delivered: {left:?}");
    world.process.crash().await;
    let stream = StreamName::of_run(handle.id(), Generation::FIRST);
    Ran {
        journal,
        history: world.store.written(&stream),
        witness: world.witness.clone(),
        status,
        crashed: happenings.iter().any(is_crash),
    }
}

async fn answer(handle: &RunHandle, number: usize) {
    let info = handle.inspect().await.unwrap();
    if let Some(rpc) = info.overview.rpcs.first() {
        let _ = handle
            .answer_json(&rpc.rpc_id, Payload::from_value(&number).unwrap())
            .await;
    }
}

/// Checks that a reader that forgets what is over sees the same as one that remembers it.
// B772
fn check_forgetting(history: &[Entry]) {
    let (mut all, mut open) = (Overview::new(), Overview::new());
    for entry in history {
        all.fold(entry);
        open.fold(entry);
        open.forget_ended_operations();
        let shown = |overview: &Overview| {
            let Overview {
                waits,
                sleeps,
                rpcs,
                children,
                events,
                rollback,
                error,
                ..
            } = overview.clone();
            let status = overview.status();
            (
                (status, error, rollback),
                (waits, sleeps, rpcs, children, events),
            )
        };
        assert_eq!(shown(&open), shown(&all), "after {entry:?}");
    }
}

/// Checks everything that must hold for one execution of one program.
fn check(program: &[Op], ran: &Ran) {
    let (journal, witness, status) = (&ran.journal, &ran.witness, ran.status);
    let may_fail = has(program, &|op| matches!(op, Op::Fail))
        // After a rollback there is no second pass.
        || has(program, &|op| matches!(op, Op::FailPass)) && has(program, &rolls_back);
    let as_it_may = status == RunStatus::Completed || status == RunStatus::Failed && may_fail;
    assert!(as_it_may, "{:?}", journal.last());
    check_traces(&ran.history, witness);
    let replayed = Witness::default();
    let replaying = replayed.clone();
    let result = replay_check_function(
        "random",
        move |ctx, program: Vec<Op>| run_program(ctx, program, replaying.clone()),
        journal.clone(),
    );
    assert!(
        result.is_ok(),
        "replay: {}",
        result.err().map(|e| e.to_string()).unwrap_or_default()
    );
    let cold = replayed.traces();
    let (_, cold) = cold.last().expect("it was replayed");
    let (cold, last) = seen_by_both(cold, &last_trace(witness));
    assert_eq!(
        cold, last,
        "a replay of the journal saw something else than the run"
    );
    check_gaps(journal, &ran.history);
    check_records(&ran.history);
    check_undos(program, &ran.history, witness, ran.crashed);
    check_forgetting(&ran.history);
}

/// Checks that exactly the records are missing that the last dropping loop names; the others are
/// unchanged.
fn check_gaps(journal: &[Entry], history: &[Entry]) {
    let dropping = journal
        .iter()
        .rev()
        .find_map(|entry| match &entry.record.body {
            Body::LoopAdvanced(record) if !record.dropped.is_empty() => Some(record),
            _ => None,
        });
    let gaps = dropping
        .map(|record| record.gaps.as_slice())
        .unwrap_or_default();
    let named = gaps.iter().flat_map(|gap| gap.first.0..=gap.last.0);
    let present: HashSet<u64> = journal.iter().map(|entry| entry.number.0).collect();
    let end = journal.last().map_or(0, |last| last.number.0);
    let missing = (0..=end).filter(|number| !present.contains(number));
    assert_eq!(missing.collect::<Vec<_>>(), named.collect::<Vec<_>>());
    let left = history.iter();
    let left = left.filter(|entry| present.contains(&entry.number.0));
    assert!(left.eq(journal), "the journal is not what was written");
}

/// Checks that each step has one result, and that events with the same name are taken once and in
/// order.
fn check_records(history: &[Entry]) {
    let mut completed = HashSet::new();
    let mut last_taken: HashMap<Name, u64> = HashMap::new();
    for entry in history {
        match &entry.record.body {
            Body::StepCompleted(done) => {
                assert!(completed.insert(done.location.clone()), "completed twice")
            }
            Body::WaitCompleted(done) => {
                for taken in &done.events {
                    let sent = history.iter().find(|entry| entry.number == *taken);
                    let Some(Body::Event(event)) = sent.map(|entry| &entry.record.body) else {
                        panic!("record {taken} is no event");
                    };
                    let before = last_taken.insert(event.name.clone(), taken.0);
                    assert!(
                        before.is_none_or(|before| before < taken.0),
                        "events were taken out of order"
                    );
                }
            }
            _ => {}
        }
    }
}

/// 10,000 cases in release builds. Debug builds are much slower and run a tenth of them.
fn cases() -> u32 {
    let cases = if cfg!(debug_assertions) {
        1_000
    } else {
        10_000
    };
    std::env::var("EVERSTEP_CASES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(cases)
}

fn runner() -> TestRunner {
    TestRunner::new(Config {
        cases: cases() / 2,
        failure_persistence: None,
        ..Config::default()
    })
}

// B1, B2, B18, B69, B75, B80, B82, B195
#[test]
fn a_hot_run_an_evicted_run_and_a_replay_see_the_same() {
    let strategy = (program(), happenings(false));
    let outcome = runner().run(&strategy, |(program, happenings)| {
        for hot_runs_max in [1_000, 0] {
            let ran = virtual_time(run(hot_runs_max, &program, &happenings));
            check(&program, &ran);
            // A second pass may call steps with the same name in another order, so their locations
            // differ.
            let retried = |entry: &Entry| matches!(entry.record.body, Body::ExecutionRetried(_));
            if !ran.journal.iter().any(retried) {
                for (location, times) in ran.witness.completions() {
                    prop_assert!(times == 1, "{} ran {} times", location, times);
                }
            }
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

// B1, B42, B102, B172
#[test]
fn a_run_whose_process_crashes_and_a_replay_see_the_same() {
    let strategy = (program(), happenings(true));
    let outcome = runner().run(&strategy, |(program, happenings)| {
        let ran = virtual_time(run(1_000, &program, &happenings));
        check(&program, &ran);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn what_was_undone_by_a_rollback_outside_its_loop_stays_undone() {
    let undoable = Op::Undoable {
        name: 0,
        takes_ms: 0,
        undo_failures: 0,
        internal: false,
    };
    let looped = Op::Loop {
        name: 0,
        times: 2,
        keep: 0,
        body: vec![undoable, Op::BestEffort { name: 0 }],
    };
    let rolls_back = Op::Branches {
        at_once: 2,
        branches: vec![vec![Op::RollBack]],
    };
    let joined = Op::Join(vec![vec![looped], vec![rolls_back]]);
    let program = [joined, Op::FailPass];
    let ran = virtual_time(run(1_000, &program, &[]));
    check(&program, &ran);
}

// B1, B102
#[test]
fn results_before_a_lost_early_result_are_seen_again() {
    let step = |takes_ms| Op::Step {
        name: 0,
        takes_ms,
        failures: 0,
    };
    let either = Op::Either {
        name: 0,
        takes_ms: 14,
        event: 0,
    };
    let early = Op::Ephemeral {
        name: 0,
        takes_ms: 0,
    };
    let program = [Op::Branches {
        at_once: 2,
        branches: vec![
            vec![step(6), either],
            vec![Op::Join(vec![vec![step(15), early]])],
        ],
    }];
    let happenings = [(16, Happening::Crash), (0, Happening::Send(0))];
    let ran = virtual_time(run(1_000, &program, &happenings));
    let live = ran.witness.traces();
    assert_eq!(live.len(), 2);
    // Records that arrived meanwhile are folded first.
    let result_at = |trace: &[String], location: &str| {
        let start = format!("{location} = ");
        trace.iter().position(|line| line.starts_with(&start))
    };
    let order = |(_, trace): &(u32, Vec<String>)| {
        let (event, early) = ("r.0/0.1", "r.0/1.0/0.1");
        (result_at(trace, event), result_at(trace, early))
    };
    assert!(matches!(order(&live[0]), (None, Some(_))));
    assert!(matches!(order(&live[1]), (Some(event), Some(early)) if event < early));
    check(&program, &ran);
}

#[test]
fn iterations_of_two_loops_in_a_later_pass_begin_in_their_order() {
    let undoable = Op::Undoable {
        name: 0,
        takes_ms: 0,
        undo_failures: 0,
        internal: false,
    };
    let early = Op::Ephemeral {
        name: 0,
        takes_ms: 0,
    };
    let looped = |body| Op::Loop {
        name: 0,
        times: 2,
        keep: 0,
        body,
    };
    let program = [Op::Join(vec![
        vec![looped(vec![undoable, early])],
        vec![looped(vec![Op::Sleep { name: 0, ms: 0 }, Op::FailPass])],
    ])];
    let ran = virtual_time(run(1_000, &program, &[]));
    check(&program, &ran);
}

#[test]
fn an_iteration_that_began_at_once_does_so_after_earlier_ones_are_dropped() {
    let version = Op::Version { change: 0 };
    let looped = |times, body| Op::Loop {
        name: 0,
        times,
        keep: 0,
        body,
    };
    let joined = Op::Join(vec![vec![looped(2, vec![])], vec![version.clone()]]);
    // Enough records are written without waiting that an iteration is durable before it begins.
    let program = [looped(5, vec![looped(6, vec![version])]), joined];
    for hot_runs_max in [1_000, 0] {
        let ran = virtual_time(run(hot_runs_max, &program, &[]));
        check(&program, &ran);
    }
}

// B80
#[test]
fn a_version_chosen_in_a_later_pass_does_not_depend_on_dropped_iterations() {
    let step = Op::Step {
        name: 0,
        takes_ms: 0,
        failures: 0,
    };
    let looped = Op::Loop {
        name: 0,
        times: 3,
        keep: 0,
        body: vec![Op::Race(vec![vec![step], vec![]]), Op::FailPass],
    };
    let gate = Op::TryScope(vec![Op::Version { change: 0 }]);
    let program = [looped, gate];
    let ran = virtual_time(run(1_000, &program, &[]));
    check(&program, &ran);
}

// B132
#[test]
fn a_child_that_completes_while_the_run_fails_is_undone() {
    let fails_with_children = |takes_ms, policy| {
        let child = Op::Family(FamilyOp::Child {
            takes_ms,
            fails: false,
            timeout_ms: Some(takes_ms),
            policy,
            undo_failures: Some(0),
        });
        let looped = Op::Loop {
            name: 0,
            times: 3,
            keep: 0,
            body: vec![child],
        };
        vec![Op::TryScope(vec![looped]), Op::Fail]
    };
    // After the point of no return, undos are skipped, even while children complete.
    let passes_over = [vec![Op::NoReturn], fails_with_children(0, 2)].concat();
    for program in [fails_with_children(3, 0), passes_over] {
        for hot_runs_max in [1_000, 0] {
            let ran = virtual_time(run(hot_runs_max, &program, &[]));
            check(&program, &ran);
        }
    }
}
