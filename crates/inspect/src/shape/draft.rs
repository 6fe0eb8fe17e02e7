//! The tree while it grows: one part per place and per iteration, found by its path.

use std::collections::BTreeMap;

use everstep_model::{Location, Name, Segment};

use super::{NodeKind, NodeStatus};

/// Paths are cut here. Nobody nests scopes this deep, and what walks the tree need not fear for its stack.
const DEPTH_MAX: usize = 64;

/// A place, an iteration of the loop above it, or the root.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// What stands there; none if only what is inside was seen.
    pub(super) kind: Option<NodeKind>,
    /// How it ended, as far as its own records say. Steps are settled by the overview.
    pub(super) settled: Option<NodeStatus>,
    /// How far its undo is.
    pub(super) undo: Option<NodeStatus>,
    inside: BTreeMap<Segment, Draft>,
    /// How many parts of the one above it appeared before.
    position: usize,
}

impl Draft {
    /// The part at a place, which appears with everything above it if it was not seen before.
    pub(super) fn at(&mut self, location: &Location) -> &mut Self {
        let own = Segment::Named(location.name.clone(), location.counter);
        let above = location.scope.segments().iter().take(DEPTH_MAX - 1);
        above.chain([&own]).fold(self, Self::child)
    }

    /// The part at a place, if it was seen before.
    pub(super) fn known(&mut self, location: &Location) -> Option<&mut Self> {
        let own = Segment::Named(location.name.clone(), location.counter);
        let mut path = location.scope.segments().iter().chain([&own]);
        path.try_fold(self, |part, segment| part.inside.get_mut(segment))
    }

    /// A branch of the join, race or switch at a place.
    pub(super) fn branch(&mut self, owner: &Location, branch: &Name) -> &mut Self {
        self.at(&Location {
            scope: owner
                .scope
                .child(Segment::Named(owner.name.clone(), owner.counter)),
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

    /// What is inside, in the order of first appearance.
    pub(super) fn parts(&self) -> Vec<(&Segment, &Self)> {
        let mut parts: Vec<_> = self.inside.iter().collect();
        parts.sort_by_key(|(_, part)| part.position);
        parts
    }

    /// The first record that says what stands here is right. Whether it is this.
    pub(super) fn is(&mut self, kind: NodeKind) -> bool {
        let same = std::mem::discriminant(&kind);
        let known = self.kind.get_or_insert(kind);
        std::mem::discriminant(known) == same
    }

    /// The first end counts.
    pub(super) fn settle(&mut self, status: NodeStatus) {
        self.settled.get_or_insert(status);
    }

    /// The whole function runs again: what failed is called anew.
    pub(super) fn forget_failures(&mut self) {
        self.settled.take_if(|status| *status == NodeStatus::Failed);
        self.inside.values_mut().for_each(Self::forget_failures);
    }
}
