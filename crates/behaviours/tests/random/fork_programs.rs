//! Copies of journals replay: random programs are forked at random operations, and ended and
//! recovered at random moments. Every copy matches the code, and completed work is not repeated.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use everstep::journal::{Body, Entry, Location, RecordNumber};
use everstep::testing::{VirtualRuntime, replay_check_function, virtual_time};
use everstep::{Engine, Options, Payload, RunHandle, RunStatus, Settings, Workflows, secs};
use everstep_model::{Segment, StreamName};
use everstep_store::MemoryStore;
use everstep_store_testkit::Archive;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::copies::{Journals, done};
use crate::family;
use crate::program::{Happening, Op, Witness, event_name, happenings, program, run_program};

/// An engine, and a store that keeps every record it ever wrote.
struct World {
    engine: Engine,
    store: Arc<Archive>,
}

impl World {
    async fn new() -> Self {
        let process = Arc::new(VirtualRuntime::new(7));
        let store = Arc::new(Archive::new(MemoryStore::new(process.clone())));
        let engine = boot(process, store.clone()).await;
        Self { engine, store }
    }

    /// Returns the journals of the latest generation of a run.
    async fn journals(&self, run: &RunHandle) -> Journals {
        let generation = run.generation().await.unwrap();
        let stream = StreamName::of_run(run.id(), generation);
        Journals {
            journal: run.journal().await.unwrap(),
            history: self.store.written(&stream),
        }
    }

    /// Waits for the run to complete or fail, and returns its checked journals.
    async fn ended(&self, run: &RunHandle) -> Journals {
        let ended = tokio::time::timeout(secs(600), run.wait_json()).await;
        let journals = self.journals(run).await;
        // Some programs fail without intervention.
        let status = run.status().await.unwrap();
        if ended.is_err() || !matches!(status, RunStatus::Completed | RunStatus::Failed) {
            print(&journals.journal);
            panic!(
                "the run did not end as expected: {}",
                run.why().await.unwrap()
            );
        }
        check(&journals);
        journals
    }
}

fn print(journal: &[Entry]) {
    for entry in journal {
        eprintln!("{}", everstep::journal::entry_to_json(entry).unwrap());
    }
}

async fn boot(process: Arc<VirtualRuntime>, store: Arc<Archive>) -> Engine {
    let witness = Witness::default();
    let builder = Engine::on_store(store)
        .runtime(process)
        .settings(Settings::default());
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

/// Checks that the journal replays, and that no step ever had two results.
fn check(journals: &Journals) {
    let mut known = HashSet::new();
    for (location, ..) in done(&journals.history) {
        assert!(known.insert(location.clone()), "{location} completed twice");
    }
    let witness = Witness::default();
    let result = replay_check_function(
        "random",
        move |ctx, program: Vec<Op>| run_program(ctx, program, witness.clone()),
        journals.journal.clone(),
    );
    if let Err(error) = result {
        print(&journals.journal);
        panic!("the copy does not replay: {error}");
    }
}

/// Checks that a copy cut before the record at index `end` has every expected result.
fn compare(original: &Journals, end: usize, copy: &Journals) {
    let copied = done(&copy.history);
    for result in original.copied(end) {
        if !copied.contains(&result) {
            print(&original.journal);
            eprintln!("the copy:");
            print(&copy.history);
            panic!("cut at {end}: {result:?} was done, and is not in the copy");
        }
    }
}

/// Checks that the next generation has every event that the run accepted and no wait took. An event
/// of the run to itself is there once; it may be missing if its code sends it again, or ended
/// before it could.
fn compare_events(original: &Journals, next: &Journals) {
    let received = events(&next.history, |_| true);
    let taken = taken(&original.journal);
    let is_open = |entry: &Entry| !taken.contains(&entry.number);
    let sent: HashSet<&str> = next.history.iter().filter_map(sent_to_itself).collect();
    let last = next.history.last().map(|entry| &entry.record.body);
    let is_complete = matches!(last, Some(Body::Completed(_)));
    let mut wrong: Vec<_> = events(&original.journal, is_open)
        .into_iter()
        .map(|(event, accepted)| {
            (
                received.get(&event).copied().unwrap_or_default(),
                accepted,
                event,
            )
        })
        .filter(|(kept, accepted, (by, _, payload))| {
            let may_lack = by == OWN && (!is_complete || sent.contains(payload.as_str()));
            kept < accepted && !may_lack
        })
        .collect();
    let repeated = received
        .into_iter()
        .filter(|((by, ..), count)| by == OWN && *count > 1);
    wrong.extend(repeated.map(|(event, count)| (count, 1, event)));
    if !wrong.is_empty() {
        print(&original.journal);
        eprintln!("the next generation:");
        print(&next.history);
        panic!("(times in the next generation, expected, event): {wrong:?}");
    }
}

/// Returns the payload, which is different for each operation, of an event of the run to itself.
fn sent_to_itself(entry: &Entry) -> Option<&str> {
    match &entry.record.body {
        Body::Sent(sent) if sent.to.as_str() == "r" => Some(sent.payload.as_str()),
        _ => None,
    }
}

/// The author of events that the run sent to itself.
const OWN: &str = "run r";

/// Counts events by author, name and payload.
fn events(
    journal: &[Entry],
    is_counted: impl Fn(&Entry) -> bool,
) -> HashMap<(String, String, String), usize> {
    let mut counts = HashMap::new();
    for entry in journal.iter().filter(|entry| is_counted(entry)) {
        if let Body::Event(event) = &entry.record.body {
            let by = event.by.clone().unwrap_or_default();
            let key = (
                by,
                event.name.to_string(),
                event.payload.as_str().to_owned(),
            );
            *counts.entry(key).or_default() += 1;
        }
    }
    counts
}

fn taken(journal: &[Entry]) -> HashSet<RecordNumber> {
    let waits = journal.iter().filter_map(|entry| match &entry.record.body {
        Body::WaitCompleted(wait) => Some(wait.events.clone()),
        _ => None,
    });
    waits.flatten().collect()
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

/// Whether restarting a run from `from` repeats the operation at `location`: it is the same
/// operation, or in the same loop.
fn is_repeated(location: &Location, from: &Location) -> bool {
    let path = from.scope.segments();
    let iteration = path.iter().position(|s| matches!(s, Segment::Iteration(_)));
    let Some(iteration) = iteration else {
        return location == from || location.scope.is_within(&from.inner_scope());
    };
    let outermost_loop = &path[..iteration];
    let inside = location.inner_scope();
    inside.segments().starts_with(outermost_loop)
}

async fn fork_somewhere(program: Vec<Op>, happenings: Vec<(u16, Happening)>, pick: usize) {
    let world = World::new().await;
    let run = begin(&world.engine, &program, &happenings).await;
    let original = world.ended(&run).await;
    let locations: Vec<(usize, Location)> = original
        .journal
        .iter()
        .enumerate()
        .filter_map(|(index, entry)| Some((index, entry.record.body.location()?.clone())))
        .collect();
    let Some((_, from)) = locations.get(pick % locations.len().max(1)) else {
        return;
    };
    let first = locations
        .iter()
        .find(|(_, at)| is_repeated(at, from))
        .unwrap()
        .0;
    let fork = run.fork().at(from.to_string()).id("f").await.unwrap();
    let copy = world.ended(&fork).await;
    compare(&original, first, &copy);
    // The same holds for a new generation of the run itself.
    run.restart_from(from.to_string()).await.unwrap();
    let next = world.ended(&run).await;
    compare(&original, first, &next);
    compare_events(&original, &next);
    world.engine.shutdown().await;
}

// B151, B722, B723
#[test]
fn a_fork_at_any_operation_of_any_program_replays_and_continues() {
    let strategy = (program(), happenings(false), any::<usize>());
    let outcome = runner().run(&strategy, |(program, happenings, pick)| {
        virtual_time(fork_somewhere(program, happenings, pick));
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_copy_omits_records_that_were_written_while_an_undo_was_awaited() {
    let undoable = Op::Undoable {
        name: 0,
        takes_ms: 0,
        undo_failures: 0,
        internal: false,
    };
    let tried = Op::TryStep {
        name: 0,
        takes_ms: 14,
    };
    let either = Op::Either {
        name: 0,
        takes_ms: 1,
        event: 0,
    };
    let branches = |at_once, branches| Op::Branches { at_once, branches };
    let waits = branches(
        2,
        vec![
            vec![Op::RollBack],
            vec![Op::AnyEvent { timeout_ms: 1 }],
            vec![Op::NoReturn, either],
        ],
    );
    let first = branches(1, vec![vec![tried], vec![]]);
    let program = vec![Op::Join(vec![vec![first, waits], vec![undoable]])];
    for pick in 0..40 {
        let happenings = vec![(0, Happening::Send(0))];
        virtual_time(fork_somewhere(program.clone(), happenings, pick));
    }
}

async fn end_and_recover(program: Vec<Op>, moments: Vec<u16>, verbs: Vec<u8>) {
    let world = World::new().await;
    let run = begin(&world.engine, &program, &[]).await;
    let mut generations = Vec::new();
    for (number, (moment, verb)) in moments.iter().zip(&verbs).enumerate() {
        tokio::time::sleep(Duration::from_millis(u64::from(*moment))).await;
        let event = event_name((number % 2) as u8);
        let payload = Payload::from_value(&(100 + number)).unwrap();
        let _ = run.send_by_name(event, payload, None).await;
        match verb {
            0 => drop(run.cancel().keep().await.unwrap()),
            1 => drop(run.force_fail("try").await.unwrap()),
            2 => {
                // Terminate the run while it is paused, because a pause alone does not end it.
                run.pause().await.unwrap();
                run.terminate().await.unwrap();
            }
            4 => drop(run.cancel().await.unwrap()),
            _ => drop(run.terminate().await.unwrap()),
        }
        // The run may accept it while it is cancelling.
        let payload = Payload::from_value(&(200 + number)).unwrap();
        let _ = run.send_by_name(event, payload, None).await;
        let _ = run.wait_json().await;
        // Events that the run sent at its end are delivered before the next generation exists.
        tokio::time::sleep(secs(1)).await;
        generations.push(world.journals(&run).await);
        run.recover().await.unwrap();
    }
    generations.push(world.ended(&run).await);
    for pair in generations.windows(2) {
        compare(&pair[0], pair[0].journal.len(), &pair[1]);
        compare_events(&pair[0], &pair[1]);
    }
    world.engine.shutdown().await;
}

// B47, B722, B723
#[test]
fn a_run_ended_at_any_point_is_recovered_with_all_its_results() {
    let moments = proptest::collection::vec(0u16..60, 1..4);
    let verbs = proptest::collection::vec(0u8..5, 3);
    let strategy = (program(), moments, verbs);
    let outcome = runner().run(&strategy, |(program, moments, verbs)| {
        virtual_time(end_and_recover(program, moments, verbs));
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_recovered_run_sees_results_before_dropped_iterations_in_the_same_order() {
    let step = |takes_ms| Op::Step {
        name: 0,
        takes_ms,
        failures: 0,
    };
    let repeated = Op::Loop {
        name: 0,
        times: 4,
        keep: 0,
        body: vec![step(13)],
    };
    let program = vec![Op::Join(vec![vec![step(0), Op::Look], vec![repeated]])];
    virtual_time(end_and_recover(program, vec![31], vec![0]));
}
