//! How the records of a journal reach an execution.

use std::collections::HashSet;

use everstep_model::{Body, Entry, Generation, Interner, RunId};

use super::attempts::Attempts;
use super::code::Code;
use super::context::Context;
use super::divergence::Halt;
use super::early_results::EarlyResults;
use super::event_queue::EventQueue;
use super::execution::Replay;
use super::fold;
use super::loops::Loops;
use super::removals::Removals;
use super::rollback::Rollback;
use super::scopes::Scopes;

impl Replay {
    /// Creates an execution of a run from its whole journal.
    #[must_use]
    pub fn new(id: RunId, generation: Generation, journal: Vec<Entry>) -> Self {
        let mut replay = Self {
            context: Context::new(id, generation),
            code: Code::default(),
            attempts: Attempts::default(),
            names: Interner::default(),
            scopes: Scopes::default(),
            early: EarlyResults::default(),
            event_queue: EventQueue::default(),
            replies: HashSet::new(),
            loops: Loops::default(),
            removals: Removals::default(),
            rollback: Rollback::default(),
        };
        let journal = replay.loops.scan(journal);
        replay.context.position.inbox_known = replay.loops.iterations.inbox_dropped;
        let current = fold::earlier_passes(journal, &mut replay);
        for entry in &current {
            replay.notice(entry);
        }
        // A journal may be long, so it is not copied.
        replay.context.position.unfolded = current.into();
        replay
    }

    /// Adds records of the journal, in order. Records that are known already are ignored.
    pub fn extend(&mut self, entries: impl IntoIterator<Item = Entry>) {
        for entry in entries {
            if entry.number >= self.context.position.known {
                self.notice(&entry);
                self.context.position.unfolded.push_back(entry);
            }
        }
    }

    /// Takes notice of a record before it is folded.
    fn notice(&mut self, entry: &Entry) {
        let context = &mut self.context;
        let body = &entry.record.body;
        context.position.note_known(entry);
        context.state.note_parking(body);
        if let Body::StepCompleted(completed) = body {
            self.early.note(completed);
        }
        if body.is_scripted()
            && let Err(divergence) = context.script.record(entry)
        {
            context.state.halt(Halt::Diverged(divergence));
        }
    }
}
