//! Children of the run, as its execution knows them.

use everstep_model::Location;
use everstep_model::record::ChildFinished;

use super::Replay;
use super::divergence::Halt;
use super::operation::ChildOp;

impl Replay {
    pub(super) fn fold_child_finished(&mut self, _record: ChildFinished) {
        self.halt(Halt::Newer("child_finished"));
    }

    /// The code no longer waits for a child.
    pub(super) fn leave_child(&mut self, _location: Location, _child: &ChildOp) {}
}
