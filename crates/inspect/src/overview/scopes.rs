//! Scopes the code has left: what was still open inside them was dropped, and no record says so.
//!
//! An operation of branch `b` of a join or race `j` stands in the scope `j/b`, one of iteration 3 of a loop `l` in
//! `l/~3`. Steps are not touched: a dropped step has a record of its own.

use everstep_model::record::LoopAdvanced;
use everstep_model::{Location, Name, Segment};

use super::Overview;

impl Overview {
    /// A branch of a join or race returned.
    pub(super) fn branch_left(&mut self, owner: &Location, branch: &Name) {
        self.leave(
            owner,
            |next| matches!(next, Some(Segment::Named(name, _)) if name == branch),
        );
    }

    /// A race has its winner: the losers are dropped.
    pub(super) fn race_left(&mut self, owner: &Location) {
        self.leave(owner, |_| true);
    }

    /// A loop came to its next iteration, or to its end.
    pub(super) fn loop_advanced(&mut self, record: &LoopAdvanced) {
        self.leave(&record.location, |next| {
            record.done
                || matches!(next, Some(Segment::Iteration(iteration)) if *iteration < record.iteration)
        });
        self.forget(&record.dropped);
    }

    /// The code no longer has an operation: nobody waits for it, or for anything inside it.
    pub(super) fn removed(&mut self, place: &Location) {
        self.close_where(|location| location == place);
        self.leave(place, |_| true);
    }

    fn leave(&mut self, owner: &Location, is_left: impl Fn(Option<&Segment>) -> bool) {
        self.close_where(|location| match inside(location, owner) {
            Some(path) => is_left(path.first()),
            None => false,
        });
    }
}

/// The path from `owner` down to the scope of `location`, if it is inside.
fn inside<'a>(location: &'a Location, owner: &Location) -> Option<&'a [Segment]> {
    let path = location.scope.segments();
    let below = path.strip_prefix(owner.scope.segments())?;
    let (first, rest) = below.split_first()?;
    match first {
        Segment::Named(name, counter) if *name == owner.name && *counter == owner.counter => {
            Some(rest)
        }
        Segment::Named(..) | Segment::Iteration(_) => None,
    }
}
