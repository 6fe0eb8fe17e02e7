//! The search for undos that only earlier passes of the function supplied: a dry execution of each
//! of those passes, the latest first.

use everstep_model::{Body, Entry};

use crate::action::{Action, ExecutionKind};
use crate::dry::{Dry, Next};
use crate::execution::Host;
use crate::setup::Setup;
use crate::state::{Driver, Search, Stage};

impl<H: Host> Search<H> {
    /// Returns `None` if the journal contains no earlier pass.
    pub(crate) fn new(setup: &Setup, journal: Vec<Entry>) -> Option<Self> {
        let is_retry = |entry: &Entry| matches!(entry.record.body, Body::ExecutionRetried(_));
        let entries = journal.iter().enumerate();
        let ends = entries.filter(|(_, entry)| is_retry(entry));
        let mut ends: Vec<usize> = ends.map(|(end, _)| end).collect();
        let latest = pass_until(&journal, ends.pop()?);
        Some(Self {
            dry: Dry::new(setup, latest),
            journal,
            ends,
        })
    }
}

fn pass_until(journal: &[Entry], end: usize) -> Vec<Entry> {
    journal.get(..end).unwrap_or_default().to_vec()
}

impl<H: Host> Driver<H> {
    pub(crate) fn continue_search(&mut self) -> Action {
        let Stage::Searching(search) = &mut self.stage else {
            return Action::Wait;
        };
        // Code that no longer fits its journal has supplied what it could.
        if let Next::Act(action) = search.dry.next() {
            return action;
        }
        let found = std::mem::take(&mut search.dry.execution.host);
        self.live.host.adopt_undos(found);
        match search.ends.pop() {
            Some(end) => {
                let pass = pass_until(&search.journal, end);
                search.dry = Dry::new(&self.setup, pass);
            }
            None => self.enter(Stage::Working),
        }
        Action::Drop(ExecutionKind::Dry)
    }
}
