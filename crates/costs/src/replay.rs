//! Replay of a journal that has already been read, as when a cold run resumes.

use std::hint::black_box;

use everstep::journal::Entry;
use everstep::testing::replay_check_function;

use crate::Operation;
use crate::engine::{World, steps};

const STEPS: u32 = 100;

pub(crate) fn hundred_steps() -> Operation {
    let journal = recorded();
    Box::new(move || {
        let replayed = replay_check_function("steps", steps, black_box(journal.as_slice()));
        black_box(replayed.unwrap());
    })
}

/// Returns the journal of a run that has completed its steps.
fn recorded() -> Vec<Entry> {
    let world = World::new();
    world.block_on(async |engine| {
        let run = engine.start_by_name("steps", World::input(STEPS)).await;
        let run = run.unwrap();
        run.wait_json().await.unwrap();
        run.journal().await.unwrap()
    })
}
