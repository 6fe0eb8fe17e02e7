//! Hot equals cold: a run that stayed in memory, one that was evicted after every suspension, one whose process died at
//! random moments, and a replay of each one's journal call the same operations and see the same results.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use everstep::testing::{VirtualRuntime, replay_check_function, virtual_time};
use everstep::{
    Body, Engine, Entry, Name, Options, Payload, RunHandle, RunStatus, Settings, millis, secs,
};
use everstep_store::{LocalBus, MemoryStore, Store};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::random_family;
use crate::random_program::{Happening, Op, Witness, event_name, happenings, program, run_program};
use crate::random_undos::{check_undos, has, rolls_back};

/// One cluster over one store, whose only process may die.
struct World {
    process: Arc<VirtualRuntime>,
    store: Arc<dyn Store>,
    witness: Witness,
    settings: Settings,
    engine: Engine,
}

impl World {
    async fn new(hot_runs_max: usize) -> Self {
        let process = Arc::new(VirtualRuntime::new(7));
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(process.clone()));
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

    /// The process dies; the next one waits for its lease to run out, as it would on another machine.
    async fn crash(&mut self) {
        self.process.crash().await;
        self.process = Arc::new(self.process.successor());
        self.engine = boot(&self.process, &self.store, &self.witness, &self.settings).await;
    }
}

async fn boot(
    process: &Arc<VirtualRuntime>,
    store: &Arc<dyn Store>,
    witness: &Witness,
    settings: &Settings,
) -> Engine {
    let witness = witness.clone();
    let builder = Engine::on_store(store.clone())
        .bus(Arc::new(LocalBus::new()))
        .runtime(process.clone())
        .settings(settings.clone());
    random_family::register(builder)
        .function_with(
            "random",
            Options::new().execution_retries(1),
            move |ctx, program: Vec<Op>| run_program(ctx, program, witness.clone()),
        )
        .start()
        .await
        .unwrap()
}

/// Runs a program in a world and returns its journal and traces.
pub(crate) async fn run(
    hot_runs_max: usize,
    program: &[Op],
    happenings: &[(u16, Happening)],
) -> (Vec<Entry>, Witness, RunStatus) {
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
            eprintln!("{}", everstep::entry_to_json(&entry).unwrap());
        }
        panic!("the run never ended: {}", handle.why().await.unwrap());
    }
    let journal = handle.journal().await.unwrap();
    let status = handle.status().await.unwrap();
    tokio::time::sleep(secs(1)).await;
    let left = world.store.outbox(None, 10).await.unwrap();
    assert!(left.is_empty(), "effects were not delivered: {left:?}");
    world.process.crash().await;
    (journal, world.witness.clone(), status)
}

async fn answer(handle: &RunHandle, number: usize) {
    let info = handle.inspect().await.unwrap();
    if let Some(rpc) = info.overview.rpcs.first() {
        let _ = handle.answer(&rpc.rpc_id, &number).await;
    }
}

/// Everything that must hold for one execution of one program.
fn check(program: &[Op], journal: &[Entry], witness: &Witness, status: RunStatus, crashed: bool) {
    let may_fail = has(program, &|op| matches!(op, Op::Fail))
        // After a rollback there is no second pass.
        || has(program, &|op| matches!(op, Op::FailPass)) && has(program, &rolls_back);
    let as_it_may = status == RunStatus::Completed || status == RunStatus::Failed && may_fail;
    assert!(as_it_may, "{:?}", journal.last());
    let live = witness.traces();
    // Earlier passes may have been looked at again after the last one, for their undos.
    let (pass, last) = live.iter().max_by_key(|(pass, _)| *pass).expect("it ran");
    // What an execution saw after an early result is lost with it if the process dies before that is durable.
    let is_early = |op: &Op| matches!(op, Op::Ephemeral { .. });
    let is_lossy = crashed && has(program, &is_early);
    let earlier = live.iter().filter(|(other, _)| other == pass && !is_lossy);
    for (_, earlier) in earlier {
        let (earlier, last) = seen_by_both(earlier, last);
        let shared = earlier.len().min(last.len());
        assert_eq!(
            earlier[..shared],
            last[..shared],
            "an execution saw something else than a later one"
        );
    }
    let replayed = Witness::default();
    let replaying = replayed.clone();
    let result = replay_check_function(
        "random",
        move |ctx, program: Vec<Op>| run_program(ctx, program, replaying.clone()),
        journal.to_vec(),
    );
    assert!(
        result.is_ok(),
        "replay: {}",
        result.err().map(|e| e.to_string()).unwrap_or_default()
    );
    let cold = replayed.traces();
    let (_, cold) = cold.last().expect("it was replayed");
    let (cold, last) = seen_by_both(cold, last);
    assert_eq!(
        cold, last,
        "a replay of the journal saw something else than the run"
    );
    check_gaps(journal);
    check_records(journal);
    check_undos(program, journal, witness);
}

/// Two traces without the iterations that only one of them went through: the other began after they were dropped.
fn seen_by_both(one: &[String], other: &[String]) -> (Vec<String>, Vec<String>) {
    let common = |own: &[String], other: &[String]| {
        let known: HashSet<&str> = other.iter().flat_map(|line| iterations(line)).collect();
        let is_common = |line: &&String| iterations(line).all(|at| known.contains(at));
        own.iter().filter(is_common).cloned().collect::<Vec<_>>()
    };
    (common(one, other), common(other, one))
}

/// The iterations a line of a trace stands in, outermost first.
fn iterations(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices('~').map(|(at, _)| {
        let digits = line[at + 1..].chars().take_while(char::is_ascii_digit);
        &line[..=at + digits.count()]
    })
}

/// Exactly those records are missing that the last loop which dropped any says are.
fn check_gaps(journal: &[Entry]) {
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
}

/// Each step has one result, events of a name are taken once and in order.
fn check_records(journal: &[Entry]) {
    let mut completed = HashSet::new();
    let mut last_taken: HashMap<Name, u64> = HashMap::new();
    for entry in journal {
        match &entry.record.body {
            Body::StepCompleted(done) => {
                assert!(completed.insert(done.location.clone()), "completed twice")
            }
            Body::WaitCompleted(done) => {
                for taken in &done.events {
                    let sent = journal.iter().find(|entry| entry.number == *taken);
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

/// 10,000 cases in release builds; a debug build is slower by far and looks at a tenth.
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
            let (journal, witness, status) = virtual_time(run(hot_runs_max, &program, &happenings));
            check(&program, &journal, &witness, status, false);
            // A second pass may call steps of one name in another order, and so give them other places.
            let retried = |entry: &Entry| matches!(entry.record.body, Body::ExecutionRetried(_));
            if !journal.iter().any(retried) {
                for (place, times) in witness.completions() {
                    prop_assert!(times == 1, "{} ran {} times", place, times);
                }
            }
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

// B1, B42, B102, B172
#[test]
fn a_run_whose_process_dies_and_a_replay_see_the_same() {
    let strategy = (program(), happenings(true));
    let outcome = runner().run(&strategy, |(program, happenings)| {
        let (journal, witness, status) = virtual_time(run(1_000, &program, &happenings));
        let is_crash = |(_, happening): &(u16, Happening)| matches!(happening, Happening::Crash);
        let crashed = happenings.iter().any(is_crash);
        check(&program, &journal, &witness, status, crashed);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn what_was_undone_on_request_from_outside_its_loop_stays() {
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
    let (journal, witness, status) = virtual_time(run(1_000, &program, &[]));
    check(&program, &journal, &witness, status, false);
}
