//! What has resolved where the fold stands.
//!
//! Several operations may resolve between two records, each in a poll of its own and some of them without saying
//! anything. Where an iteration began among them cannot be told from the script, so its record says how many came before.

use everstep_model::Scope;

/// How many operations have resolved since the last record was folded, by the iteration they stand in.
#[derive(Debug, Default)]
pub(in super::super) struct ResolvedHere(Vec<(Option<Scope>, u32)>);

impl ResolvedHere {
    pub(in super::super) fn count(&mut self, scope: &Scope) {
        let iteration = scope.iteration();
        match self.0.iter_mut().find(|(known, _)| *known == iteration) {
            Some((_, count)) => *count += 1,
            None => self.0.push((iteration, 1)),
        }
    }

    /// Those that a loop in this scope finds again on every replay: iterations of other loops may be gone by then.
    pub(super) fn seen_from(&self, scope: &Scope) -> u32 {
        let stays = |iteration: &Option<Scope>| match iteration {
            Some(iteration) => scope.is_within(iteration),
            None => true,
        };
        let counts = self.0.iter().filter(|(iteration, _)| stays(iteration));
        counts.map(|(_, count)| count).sum()
    }

    /// An iteration has ended.
    pub(super) fn forget(&mut self, iteration: &Scope) {
        let is_inside = |known: &Option<Scope>| {
            known
                .as_ref()
                .is_some_and(|known| known.is_within(iteration))
        };
        self.0.retain(|(known, _)| !is_inside(known));
    }

    /// The fold moves on.
    pub(in super::super) fn clear(&mut self) {
        self.0.clear();
    }
}
