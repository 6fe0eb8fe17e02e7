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

    pub(super) fn loop_advanced(&mut self, record: &LoopAdvanced) {
        self.leave(&record.location, |next| {
            record.done
                || matches!(next, Some(Segment::Iteration(iteration)) if *iteration < record.iteration)
        });
        self.forget(&record.dropped);
    }

    /// Closes an operation that was removed from the code, and everything inside it.
    pub(super) fn removed(&mut self, location: &Location) {
        self.close_where(|open| open == location);
        self.leave(location, |_| true);
    }

    /// Closes what is open inside an operation, if the segment after it is left.
    pub(super) fn leave(&mut self, owner: &Location, is_left: impl Fn(Option<&Segment>) -> bool) {
        self.close_where(|location| match inside(location, owner) {
            Some(path) => is_left(path.first()),
            None => false,
        });
    }
}

/// Returns the path from `owner` to the scope of `location`; `None` if `location` is not inside.
fn inside<'a>(location: &'a Location, owner: &Location) -> Option<&'a [Segment]> {
    let path = location.scope.segments();
    match path.strip_prefix(owner.scope.segments())? {
        [Segment::Named(name, counter), rest @ ..]
            if *name == owner.name && *counter == owner.counter =>
        {
            Some(rest)
        }
        _ => None,
    }
}
