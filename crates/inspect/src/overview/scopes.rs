//! Scopes that the code has left. Operations that were open inside them are dropped without a
//! record.
//!
//! Operations of branch `b` of a join or race `j` have the scope `j/b`, those of iteration 3 of a
//! loop `l` the scope `l/~3`. Steps are not affected, because a dropped step has a record of its
//! own.

use everstep_model::record::LoopAdvanced;
use everstep_model::{Location, Name, Segment};

use super::fold::Overview;

impl Overview {
    pub(super) fn branch_left(&mut self, owner: &Location, branch: &Name) {
        self.leave(
            owner,
            |next| matches!(next, Some(Segment::Named(name, _)) if name == branch),
        );
    }

    /// The race has a winner, so the other branches are dropped.
    pub(super) fn race_left(&mut self, owner: &Location) {
        self.leave(owner, |_| true);
    }

    pub(super) fn loop_advanced(&mut self, record: &LoopAdvanced) {
        self.leave(&record.location, |next| {
            record.done
                || matches!(next, Some(Segment::Iteration(iteration)) if *iteration < record.iteration)
        });
        self.forget(&record.dropped);
    }

    /// The code no longer has this operation, so neither it nor anything inside it is open.
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

/// The path from `owner` to the scope of `location`; `None` if `location` is not inside.
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
