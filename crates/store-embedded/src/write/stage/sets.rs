//! The sets of streams that a stream enters and leaves in a batch.

use everstep_model::StreamNumber;
use everstep_store::{Head, StoreError};

use super::batch::Stage;
use crate::encoding::page;
use crate::sets::{self, PageKey, sets_of};

/// The pages that a stream enters (`true`) or leaves. All of them are loaded.
#[must_use]
pub(super) struct Moves {
    pub(super) stream: StreamNumber,
    pages: Vec<(PageKey, bool)>,
}

impl Stage<'_> {
    /// Loads the pages that change with the head of a stream, and changes none of them yet: a page
    /// may be unreadable, and then nothing may be staged.
    pub(super) fn plan_moves(
        &mut self,
        before: &Head,
        after: Option<&Head>,
    ) -> Result<Moves, StoreError> {
        let mut moves = Moves {
            stream: before.number,
            pages: Vec::new(),
        };
        if after.is_some_and(|after| are_in_the_same_sets(before, after)) {
            return Ok(moves);
        }
        let (before, after) = (sets_of(before), after.map(sets_of).unwrap_or_default());
        let left = before.iter().filter(|set| !after.contains(set));
        let entered = after.iter().filter(|set| !before.contains(set));
        let all = left.map(|set| (set, false));
        for (set, is_member) in all.chain(entered.map(|set| (set, true))) {
            let key = (set.clone(), page::number_of(moves.stream));
            if !self.pages.contains_key(&key) {
                let page = match self.page_cache.get(&key) {
                    Some(page) => page,
                    None => sets::load(self.view(), &key)?,
                };
                self.pages.insert(key.clone(), page);
            }
            moves.pages.push((key, is_member));
        }
        Ok(moves)
    }

    pub(super) fn make_moves(&mut self, moves: Moves) {
        for (key, is_member) in moves.pages {
            if let Some(page) = self.pages.get_mut(&key) {
                page.put(moves.stream, is_member);
            }
        }
    }
}

fn are_in_the_same_sets(a: &Head, b: &Head) -> bool {
    let are_listed_alike = match (a.listed(), b.listed()) {
        (Some(a), Some(b)) => (&a.workflow, a.status, &a.tags) == (&b.workflow, b.status, &b.tags),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    };
    a.ready == b.ready && are_listed_alike
}
