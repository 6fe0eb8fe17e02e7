//! Invariants 7 and 12: a journal replays against the code that wrote it and reaches the recorded
//! end.

use everstep::testing::{Recording, replay_check_function};
use everstep_model::Entry;
use everstep_sim::Violation;

use super::reading::Journal;
use crate::program::Program;
use crate::workflow::{PROGRAM, run_without_effects};

pub(super) fn check(journal: &Journal) -> Option<Violation> {
    let entries: Vec<Entry> = journal.stream.visible().cloned().collect();
    let recording = Recording::new(entries).of_run(&journal.run).ok()?;
    let code = |ctx, program: Program| run_without_effects(ctx, program);
    let error = replay_check_function(PROGRAM, code, recording).err()?;
    let what = format!("{} does not replay: {error}", journal.run);
    Some(Violation::of(12, what))
}
