//! The rules of loops. The tests act as the workflow code, and the journal drops the records that
//! commits name.

use std::time::Duration;

use everstep_model::record::{Event, LoopAdvanced, TimerFired, TimerPurpose};
use everstep_model::{
    Body, Entry, Generation, Location, Origin, Payload, Record, RecordNumber, RunId, Scope,
    StepOptions, Timestamp, UndoMode,
};

use super::{Advance, IterationEnd, iteration_scope};
use crate::replay::{
    Access, CallSite, Halt, LoopCall, OpId, Replay, Resolution, SleepCall, Turn, WaitCall,
};
pub(super) use everstep_samples::name;

const NOW: Timestamp = Timestamp::from_millis(1_000_000);

fn created() -> Body {
    everstep_samples::created().into()
}

/// A journal, one execution of it, and the loop that the execution is in.
pub(super) struct World {
    journal: Vec<Entry>,
    pub(super) next: u64,
    pub(super) run: Replay,
    location: Location,
    iteration: u64,
    pub(super) now: Timestamp,
    /// Inbox records that were ever written.
    inbox: u64,
}

impl World {
    pub(super) fn new() -> Self {
        let location = Location::root(name("loop"), 0);
        let run = Replay::new(RunId::new("r").unwrap(), Generation::FIRST, Vec::new());
        let mut world = Self {
            journal: Vec::new(),
            next: 0,
            run,
            location,
            iteration: 0,
            now: NOW,
            inbox: 0,
        };
        world.append(vec![created()]);
        assert_eq!(world.run.turn(NOW), Turn::Start);
        let begun = world
            .run
            .call(&Scope::ROOT, &name("loop"), LoopCall, CallSite::caller());
        assert_eq!(
            begun,
            Some((world.location.clone(), Advance::Iteration(0, None)))
        );
        world
    }

    pub(super) fn scope(&self) -> Scope {
        iteration_scope(&self.location, self.iteration)
    }

    /// Commits records, drops those that they name, and adds them to the execution.
    pub(super) fn append(&mut self, bodies: Vec<Body>) {
        let mut new = Vec::new();
        for body in bodies {
            self.inbox += u64::from(body.origin() == Origin::Inbox);
            if let Body::LoopAdvanced(record) = &body {
                let ranges = &record.dropped;
                self.journal.retain(|entry| {
                    let mut ranges = ranges.iter();
                    !ranges.any(|range| (range.first..=range.last).contains(&entry.number))
                });
            }
            new.push(Entry {
                number: RecordNumber(self.next),
                record: Record {
                    time: self.now,
                    body,
                },
            });
            self.next += 1;
        }
        self.journal.extend(new.clone());
        self.run.extend(new);
    }

    pub(super) fn commit(&mut self) {
        let bodies = self.run.outgoing().take_records().0.collect();
        self.append(bodies);
    }

    fn cold(&self) -> Replay {
        let id = RunId::new("r").unwrap();
        Replay::new(id, Generation::FIRST, self.journal.clone())
    }

    pub(super) fn step(&mut self, step: &str, undo: UndoMode) {
        let options = StepOptions {
            undo,
            ..StepOptions::default()
        };
        let scope = self.scope();
        let op = self
            .run
            .call(&scope, &name(step), options, CallSite::caller())
            .unwrap();
        self.finish(op);
    }

    fn finish(&mut self, op: OpId) {
        assert_eq!(self.run.turn(self.now), Turn::Idle);
        let start = self.run.begin_attempt(op).expect("it may begin");
        self.run.complete_attempt(op, &start, Payload::null());
        self.commit();
        let resolved = Turn::Resolved(op, Resolution::Completed(Payload::null()));
        assert_eq!(self.run.turn(self.now), resolved);
    }

    /// Ends the iteration and begins the next. Keeps this number of ended iterations.
    pub(super) fn go_round(&mut self, keep: u64) -> LoopAdvanced {
        let returned = IterationEnd {
            location: &self.location,
            iteration: self.iteration,
            done: false,
            keep,
        };
        let advance = self
            .run
            .advance_loop(returned, Payload::null(), CallSite::caller());
        self.iteration += 1;
        let next = Advance::Iteration(self.iteration, Some(Payload::null()));
        assert_eq!(advance, Some(next));
        let mut bodies: Vec<Body> = self.run.outgoing().take_records().0.collect();
        let Some(Body::LoopAdvanced(record)) = bodies.pop() else {
            panic!("it said something else");
        };
        bodies.push(Body::LoopAdvanced(record.clone()));
        self.append(bodies);
        *record
    }

    pub(super) fn iterations(&self) -> Vec<u64> {
        let mut held: Vec<u64> = (0..self.iteration)
            .filter(|iteration| {
                let scope = iteration_scope(&self.location, *iteration);
                let inside = |body: &Body| {
                    body.location()
                        .is_some_and(|location| location.scope.is_within(&scope))
                };
                self.journal.iter().any(|entry| inside(&entry.record.body))
            })
            .collect();
        held.sort_unstable();
        held
    }
}

// B105, B106
#[test]
fn old_iterations_are_dropped_in_batches_and_each_record_once() {
    let mut world = World::new();
    let mut last = 0;
    for _ in 0..40 {
        world.step("work", UndoMode::None);
        let record = world.go_round(3);
        for range in &record.dropped {
            assert!(range.first.0 > last);
            last = range.last.0;
        }
        assert!(world.iterations().len() <= 7);
    }
    assert!(world.iterations().len() >= 3);
}

// B106
#[test]
fn a_loop_examines_only_the_iterations_that_are_kept() {
    let mut world = World::new();
    for _ in 0..1_000 {
        world.step("work", UndoMode::None);
        world.go_round(3);
        let known = &world.run.loops.iterations;
        let open: usize = known.loops.values().map(|known| known.open.len()).sum();
        assert!(open <= 8, "{open}");
        assert!(known.iterations.len() <= 8, "{}", known.iterations.len());
        assert!(known.gaps.0.len() <= 1, "{:?}", known.gaps);
    }
}

#[test]
fn an_iteration_with_a_live_undo_is_kept_and_a_replay_begins_with_it() {
    let mut world = World::new();
    for iteration in 0..10 {
        let undo = if iteration == 2 {
            UndoMode::Undo
        } else {
            UndoMode::None
        };
        world.step("work", undo);
        world.go_round(1);
    }
    assert!(world.run.rollback.log.fold.has_live_in(&Scope::ROOT));
    assert_eq!(world.iterations()[0], 2);
    // A replay finds it, and continues behind the gap.
    let mut cold = world.cold();
    assert_eq!(cold.turn(NOW), Turn::Start);
    let begun = cold.call(&Scope::ROOT, &name("loop"), LoopCall, CallSite::caller());
    let Some((_, Advance::Wait(op))) = begun else {
        panic!("{begun:?}");
    };
    assert_eq!(
        cold.turn(NOW),
        Turn::Resolved(op, Resolution::Iteration(2, Payload::null()))
    );
}

#[test]
fn an_iteration_with_an_open_operation_is_kept_until_it_ends() {
    let mut world = World::new();
    let scope = world.scope();
    let second = Duration::from_secs(1);
    let sleep = world
        .run
        .call(
            &scope,
            &name("long"),
            SleepCall::For(second),
            CallSite::caller(),
        )
        .unwrap();
    for _ in 0..8 {
        world.step("work", UndoMode::None);
        world.go_round(1);
    }
    assert_eq!(
        world.iterations()[0],
        0,
        "the sleep was taken out of the body"
    );
    world.append(vec![
        TimerFired {
            purpose: TimerPurpose::Sleep,
            location: Some("loop/~0/long:0".parse().unwrap()),
            due: NOW.after(second),
        }
        .into(),
    ]);
    assert_eq!(
        world.run.turn(NOW),
        Turn::Resolved(sleep, Resolution::Slept)
    );
    for _ in 0..3 {
        world.step("work", UndoMode::None);
        world.go_round(1);
    }
    assert!(world.iterations()[0] > 0);
}

#[test]
fn a_late_record_of_a_dropped_iteration_is_dropped_with_the_next_batch() {
    let mut world = World::new();
    for _ in 0..6 {
        world.step("work", UndoMode::None);
        world.go_round(1);
    }
    let stray = TimerFired {
        purpose: TimerPurpose::Sleep,
        location: Some("loop/~0/long:0".parse().unwrap()),
        due: NOW,
    };
    world.append(vec![stray.into()]);
    assert_eq!(world.iterations()[0], 0);
    for _ in 0..4 {
        world.step("work", UndoMode::None);
        world.go_round(1);
    }
    assert!(world.iterations()[0] > 0);
    assert_eq!(world.cold().position().inbox_known, world.inbox);
    assert_eq!(world.run.position().inbox_known, world.inbox);
}

#[test]
fn events_taken_by_dropped_iterations_are_dropped_and_still_count() {
    let mut world = World::new();
    let event = |n: u32| -> Body {
        Event {
            name: name("go"),
            payload: Payload::from_value(&n).unwrap(),
            dedup_id: None,
            reply_to: None,
            by: None,
        }
        .into()
    };
    world.append((0..12).map(event).collect());
    for n in 0..10_u32 {
        let wanted = WaitCall {
            names: vec![name("go")],
            batch: 1,
            at_once: false,
            timeout: None,
        };
        let scope = world.scope();
        let op = world
            .run
            .call(&scope, &name("go"), wanted, CallSite::caller())
            .unwrap();
        match world.run.turn(NOW) {
            Turn::Resolved(resolved, Resolution::Events(events)) => {
                let payload = Payload::from_value(&n).unwrap();
                assert_eq!((resolved, &events[0].payload), (op, &payload));
            }
            other => panic!("{other:?}"),
        }
        world.commit();
        assert_eq!(world.run.turn(NOW), Turn::Idle);
        // The code continues where the wait resolved, which does not matter here.
        world.run.set_access(Access::Allowed);
        world.go_round(0);
    }
    let events = world
        .journal
        .iter()
        .filter(|entry| matches!(entry.record.body, Body::Event(_)));
    assert!(events.count() <= 5, "two are not taken, the last are kept");
    assert_eq!(world.cold().position().inbox_known, world.inbox);
}

#[test]
fn a_gap_that_no_loop_left_is_damage() {
    let mut world = World::new();
    for _ in 0..6 {
        world.step("work", UndoMode::None);
        world.go_round(1);
    }
    let kept = world.journal.len();
    // The records before the gap, and after it.
    let first_after = world.journal.iter().position(|entry| entry.number.0 > 1);
    for missing in [first_after.unwrap() + 1, kept - 2] {
        let mut journal = world.journal.clone();
        journal.remove(missing);
        let mut run = Replay::new(RunId::new("r").unwrap(), Generation::FIRST, journal);
        run.turn(NOW);
        run.call(&Scope::ROOT, &name("loop"), LoopCall, CallSite::caller());
        let end = std::iter::repeat_with(|| run.turn(NOW))
            .find(|turn| !matches!(turn, Turn::Resolved(..)));
        assert!(
            matches!(
                end,
                Some(Turn::Halted(Halt::Damaged(_) | Halt::Diverged(_)))
            ),
            "{missing}: {end:?}"
        );
    }
}

#[test]
fn the_iterations_of_a_loop_in_one_poll_are_bounded() {
    let mut world = World::new();
    let mut rounds = 0;
    loop {
        let returned = IterationEnd {
            location: &world.location,
            iteration: world.iteration,
            done: false,
            keep: 10,
        };
        let advance = world
            .run
            .advance_loop(returned, Payload::null(), CallSite::caller());
        world.iteration += 1;
        rounds += 1;
        if let Some(Advance::Wait(op)) = advance {
            assert!(rounds <= 65, "{rounds}");
            assert_eq!(world.run.turn(NOW), Turn::Idle, "it waits");
            world.commit();
            let next = Resolution::Iteration(world.iteration, Payload::null());
            assert_eq!(world.run.turn(NOW), Turn::Resolved(op, next));
            return;
        }
    }
}

#[test]
fn a_loop_continues_behind_a_gap_at_once_if_it_did_so_before() {
    for (waits, expected) in [(false, Some(2)), (true, None)] {
        let mut world = World::new();
        world.go_round(0);
        world.go_round(0);
        if waits {
            world.step("work", UndoMode::None);
            world.go_round(0);
        }
        world.step("work", UndoMode::None);
        world.go_round(0);
        let mut cold = world.cold();
        assert_eq!(cold.turn(NOW), Turn::Start);
        let called = cold.call(&Scope::ROOT, &name("loop"), LoopCall, CallSite::caller());
        let begun = match called.expect("it is called").1 {
            Advance::Iteration(number, _) => Some(number),
            Advance::Wait(_) | Advance::Done(_) => None,
        };
        assert_eq!(begun, expected);
    }
}
