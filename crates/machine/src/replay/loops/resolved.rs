//! Operations that have resolved at the current position of the fold.
//!
//! Several operations may resolve between two records, each in a poll of its own and some without a
//! line of the script. The script does not show where an iteration began among them, so the record
//! of the iteration stores how many came before it.

use everstep_model::Scope;
use everstep_model::record::ResolvedInside;

/// The number of operations that resolved since the last record was folded, by their iteration.
#[derive(Debug, Default)]
pub(super) struct ResolvedHere(Vec<(Option<Scope>, u32)>);

impl ResolvedHere {
    pub(super) fn count(&mut self, scope: &Scope) {
        let iteration = scope.iteration();
        match self.0.iter_mut().find(|(known, _)| *known == iteration) {
            Some((_, count)) => *count += 1,
            None => self.0.push((iteration, 1)),
        }
    }

    /// Returns the number of operations that every replay of a loop in this scope repeats.
    /// Iterations of other loops may be dropped by then.
    pub(super) fn seen_from(&self, scope: &Scope) -> u32 {
        let stays = |iteration: &Scope| scope.is_within(iteration);
        let counts = self.0.iter();
        let counts = counts.filter(|(iteration, _)| iteration.as_ref().is_none_or(stays));
        counts.map(|(_, count)| count).sum()
    }

    /// Returns the operations in iterations that do not contain this scope. A replay repeats them
    /// if their iteration is still in the journal.
    pub(super) fn elsewhere(&self, scope: &Scope) -> Vec<ResolvedInside> {
        let elsewhere = self.0.iter().filter_map(|(iteration, count)| {
            let iteration = iteration.as_ref()?;
            let (location, number) = iteration.as_iteration()?;
            (!scope.is_within(iteration)).then_some(ResolvedInside {
                location,
                iteration: number,
                count: *count,
            })
        });
        elsewhere.collect()
    }

    /// Returns the number of operations that resolved in this iteration.
    pub(super) fn inside(&self, iteration: &Scope) -> u32 {
        let mut counts = self.0.iter();
        let it = counts.find(|(known, _)| known.as_ref() == Some(iteration));
        it.map_or(0, |(_, count)| *count)
    }

    /// Forgets an iteration that has ended.
    pub(super) fn forget(&mut self, iteration: &Scope) {
        let is_outside = |known: &Scope| !known.is_within(iteration);
        self.0
            .retain(|(known, _)| known.as_ref().is_none_or(is_outside));
    }

    /// Resets the counts, because the fold moves on.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
