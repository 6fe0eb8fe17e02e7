//! Invariants 7 and 12: a journal replays against the code that wrote it, to the end that it tells.

use everstep::testing::{Recording, replay_check_function};
use everstep_model::Entry;
use everstep_sim::Violation;

use super::reading::Journal;
use crate::program::Program;
use crate::workflow::{PROGRAM, run_quietly};

pub(super) fn check(journal: &Journal) -> Option<Violation> {
    let entries: Vec<Entry> = journal.stream.visible().cloned().collect();
    let recording = Recording::new(entries).of_run(&journal.run).ok()?;
    let code = |ctx, program: Program| run_quietly(ctx, program);
    let error = replay_check_function(PROGRAM, code, recording).err()?;
    let what = format!("{} does not replay: {error}", journal.run);
    Some(Violation::of(12, what))
}
