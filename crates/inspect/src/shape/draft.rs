//! The tree under construction: one part per location and iteration, found by its path.

use std::collections::BTreeMap;

use everstep_model::{Location, Name, Segment};

use super::node::{NodeKind, NodeStatus};

/// Longer paths are cut, which bounds the recursion of functions that walk the tree.
const DEPTH_MAX: usize = 64;

/// A location, an iteration of the loop above it, or the root.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// `None` if only records about its inside were seen.
    pub(super) kind: Option<NodeKind>,
    /// The outcome according to its own records. The status of steps comes from the overview.
    pub(super) outcome: Option<NodeStatus>,
    /// The progress of its undo.
    pub(super) undo: Option<NodeStatus>,
    inside: BTreeMap<Segment, Draft>,
    /// Its position among the parts of its parent.
    position: usize,
}

impl Draft {
    /// Returns the part at a location. Adds it and its ancestors if they are new.
    pub(super) fn at(&mut self, location: &Location) -> &mut Self {
        let own = Segment::Named(location.name.clone(), location.counter);
        let above = location.scope.segments().iter().take(DEPTH_MAX - 1);
        above.chain([&own]).fold(self, Self::child)
    }

    /// Returns the part at a location, if it is known.
    pub(super) fn known(&mut self, location: &Location) -> Option<&mut Self> {
        let own = Segment::Named(location.name.clone(), location.counter);
        let mut path = location.scope.segments().iter().chain([&own]);
        path.try_fold(self, |part, segment| part.inside.get_mut(segment))
    }

    /// Returns a branch of the join, race or switch at a location.
    pub(super) fn branch(&mut self, owner: &Location, branch: &Name) -> &mut Self {
        self.at(&Location {
            scope: owner.inner_scope(),
            name: branch.clone(),
            counter: 0,
        })
    }

    fn child(&mut self, segment: &Segment) -> &mut Self {
        let position = self.inside.len();
        self.inside.entry(segment.clone()).or_insert_with(|| Self {
            position,
            ..Self::default()
        })
    }

    /// Returns the parts inside, in the order of first appearance.
    pub(super) fn parts(&self) -> Vec<(&Segment, &Self)> {
        let mut parts: Vec<_> = self.inside.iter().collect();
        parts.sort_by_key(|(_, part)| part.position);
        parts
    }

    /// Sets the kind unless an earlier record did. Returns whether the part is of this kind.
    pub(super) fn is(&mut self, kind: NodeKind) -> bool {
        let same = std::mem::discriminant(&kind);
        let known = self.kind.get_or_insert(kind);
        std::mem::discriminant(known) == same
    }

    /// Sets the outcome unless an earlier record did.
    pub(super) fn set_outcome(&mut self, status: NodeStatus) {
        self.outcome.get_or_insert(status);
    }

    /// Clears failures, because the next pass of the function repeats what failed.
    pub(super) fn forget_failures(&mut self) {
        self.outcome.take_if(|status| *status == NodeStatus::Failed);
        self.inside.values_mut().for_each(Self::forget_failures);
    }
}
