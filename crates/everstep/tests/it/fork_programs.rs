//! Copies of journals replay: random programs are forked at random operations, and ended and recovered at random
//! moments. Whatever was copied fits the code, and what was done before is not done again.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use everstep::testing::{VirtualRuntime, replay_check_function, virtual_time};
use everstep::{
    Body, Engine, Entry, Location, Options, Payload, RunHandle, RunStatus, Settings, Timestamp,
    secs,
};
use everstep_model::Segment;
use everstep_store::MemoryStore;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::random_family;
use crate::random_program::{Happening, Op, Witness, event_name, happenings, program, run_program};

async fn boot(witness: &Witness) -> Engine {
    let process = Arc::new(VirtualRuntime::new(7));
    let store = Arc::new(MemoryStore::new(process.clone()));
    let witness = witness.clone();
    let builder = Engine::on_store(store)
        .runtime(process)
        .settings(Settings::default());
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

async fn begin(engine: &Engine, program: &[Op], happenings: &[(u16, Happening)]) -> RunHandle {
    let input = Payload::from_value(program).unwrap();
    let run = engine.start_by_name("random", input).id("r").await.unwrap();
    for (number, (after_ms, happening)) in happenings.iter().enumerate() {
        tokio::time::sleep(Duration::from_millis(u64::from(*after_ms))).await;
        if let Happening::Send(event) = happening {
            let payload = Payload::from_value(&number).unwrap();
            let _ = run.send_by_name(event_name(*event), payload, None).await;
        }
    }
    run
}

async fn ended(run: &RunHandle) -> Vec<Entry> {
    let ended = tokio::time::timeout(secs(600), run.wait_json()).await;
    let journal = run.journal().await.unwrap();
    // Some programs fail by themselves.
    let status = run.status().await.unwrap();
    if ended.is_err() || !matches!(status, RunStatus::Completed | RunStatus::Failed) {
        for entry in &journal {
            eprintln!("{}", everstep::entry_to_json(entry).unwrap());
        }
        panic!(
            "the run did not come to its end: {}",
            run.why().await.unwrap()
        );
    }
    journal
}

fn completed(journal: &[Entry]) -> Vec<Location> {
    let done = journal.iter().filter_map(|entry| match &entry.record.body {
        Body::StepCompleted(done) => Some(done.location.clone()),
        _ => None,
    });
    done.collect()
}

/// When the attempt began that completed a step: no two attempts begin at the same time.
fn begun(journal: &[Entry], location: &Location) -> Option<Timestamp> {
    journal.iter().find_map(|entry| match &entry.record.body {
        Body::StepCompleted(done) if done.location == *location => Some(done.started_at),
        _ => None,
    })
}

/// Whether loops have dropped records.
fn has_gaps(journal: &[Entry]) -> bool {
    let mut pairs = journal.windows(2);
    pairs.any(|pair| pair[0].number.plus(1) != pair[1].number)
}

/// The journal replays, and no step has two results.
fn check(journal: &[Entry]) {
    let mut known = HashSet::new();
    for location in completed(journal) {
        assert!(known.insert(location.clone()), "{location} completed twice");
    }
    let witness = Witness::default();
    let result = replay_check_function(
        "random",
        move |ctx, program: Vec<Op>| run_program(ctx, program, witness.clone()),
        journal.to_vec(),
    );
    if let Err(error) = result {
        for entry in journal {
            eprintln!("{}", everstep::entry_to_json(entry).unwrap());
        }
        panic!("the copy does not replay: {error}");
    }
}

fn runner() -> TestRunner {
    let cases = std::env::var("EVERSTEP_CASES")
        .ok()
        .and_then(|n| n.parse().ok());
    let default = if cfg!(debug_assertions) { 300 } else { 3_000 };
    TestRunner::new(Config {
        cases: cases.unwrap_or(default),
        failure_persistence: None,
        ..Config::default()
    })
}

/// Whether an operation is done again when a run begins again at a place: it is that one, or in the same loop.
fn is_repeated(location: &Location, place: &Location) -> bool {
    let path = place.scope.segments();
    let iteration = path.iter().position(|s| matches!(s, Segment::Iteration(_)));
    let Some(iteration) = iteration else {
        return location == place || location.scope.is_within(&place.inner_scope());
    };
    let whole = &path[..iteration];
    let inside = location.inner_scope();
    inside.segments().starts_with(whole)
}

async fn fork_somewhere(program: Vec<Op>, happenings: Vec<(u16, Happening)>, pick: usize) {
    let witness = Witness::default();
    let engine = boot(&witness).await;
    let run = begin(&engine, &program, &happenings).await;
    let journal = ended(&run).await;
    check(&journal);
    let places: Vec<(usize, Location)> = journal
        .iter()
        .enumerate()
        .filter_map(|(index, entry)| Some((index, entry.record.body.location()?.clone())))
        .collect();
    let Some((_, place)) = places.get(pick % places.len().max(1)) else {
        return;
    };
    let first = places
        .iter()
        .find(|(_, at)| is_repeated(at, place))
        .unwrap()
        .0;
    let fork = run.fork().at(place.to_string()).id("f").await.unwrap();
    let copy = ended(&fork).await;
    check(&copy);
    // Every result from before the place is there as it was. Where loops have left gaps, or steps were undone, a copy may
    // begin earlier.
    let is_undone = |entry: &Entry| matches!(entry.record.body, Body::UndoCompleted(_));
    if !has_gaps(&journal) && !has_gaps(&copy) && !journal.iter().any(is_undone) {
        for location in completed(&journal[..first]) {
            let (then, now) = (begun(&journal, &location), begun(&copy, &location));
            assert_eq!(now, then, "{location}");
        }
    }
    // And so it is with a new generation of the run itself.
    run.restart_from(place.to_string()).await.unwrap();
    check(&ended(&run).await);
    engine.shutdown().await;
}

// B151
#[test]
fn a_fork_at_any_operation_of_any_program_replays_and_goes_on() {
    let strategy = (program(), happenings(false), any::<usize>());
    let outcome = runner().run(&strategy, |(program, happenings, pick)| {
        virtual_time(fork_somewhere(program, happenings, pick));
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

async fn end_and_recover(program: Vec<Op>, moments: Vec<u16>, verbs: Vec<u8>) {
    let witness = Witness::default();
    let engine = boot(&witness).await;
    let run = begin(&engine, &program, &[]).await;
    let mut before: Vec<Entry> = Vec::new();
    for (moment, verb) in moments.iter().zip(&verbs) {
        tokio::time::sleep(Duration::from_millis(u64::from(*moment))).await;
        match verb {
            0 => drop(run.cancel().await.unwrap()),
            1 => drop(run.force_fail("try").await.unwrap()),
            2 => {
                // A pause alone ends nothing; the run is ended while it rests.
                run.pause().await.unwrap();
                run.terminate().await.unwrap();
            }
            _ => drop(run.terminate().await.unwrap()),
        }
        let _ = run.wait_json().await;
        before = run.journal().await.unwrap();
        run.recover().await.unwrap();
    }
    let journal = ended(&run).await;
    check(&journal);
    // What was undone is done again, and a second pass may give steps other places.
    let may_repeat = |entry: &Entry| {
        matches!(
            entry.record.body,
            Body::ExecutionRetried(_) | Body::UndoCompleted(_)
        )
    };
    if !before.iter().any(may_repeat) {
        for location in completed(&before) {
            let (then, now) = (begun(&before, &location), begun(&journal, &location));
            let is_dropped = now.is_none() && has_gaps(&journal);
            assert!(
                now == then || is_dropped,
                "{location} was done, and was done again"
            );
        }
    }
    engine.shutdown().await;
}

// B47
#[test]
fn a_run_ended_at_any_moment_is_recovered_with_all_it_had_done() {
    let moments = proptest::collection::vec(0u16..60, 1..4);
    let verbs = proptest::collection::vec(0u8..4, 3);
    let strategy = (program(), moments, verbs);
    let outcome = runner().run(&strategy, |(program, moments, verbs)| {
        virtual_time(end_and_recover(program, moments, verbs));
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}
