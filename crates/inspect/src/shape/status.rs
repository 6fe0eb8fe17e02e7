//! Turns the tree into a shape: every part gets its kind and status, and iterations are merged.
//!
//! The status of steps, and whether an operation is open, come from the overview, which tracks the
//! scopes that the code has left.

use everstep_model::{Location, Scope, Segment, StepStatus};

use super::draft::Draft;
use super::iterations::merge_iteration;
use super::node::{Node, NodeKind, NodeStatus};
use crate::overview::Overview;

/// Returns the nodes of the root scope.
pub(super) fn nodes(draft: &Draft, overview: &Overview) -> Vec<Node> {
    Statuses { overview }.inside(draft, &Scope::ROOT).nodes
}

struct Statuses<'a> {
    overview: &'a Overview,
}

struct Inside {
    nodes: Vec<Node>,
    /// The number of iterations that began.
    iterations: u64,
}

impl Statuses<'_> {
    fn inside(&self, part: &Draft, scope: &Scope) -> Inside {
        let mut nodes = Vec::new();
        let mut bodies = Vec::new();
        let mut iterations = 0;
        for (segment, child) in part.parts() {
            match segment {
                Segment::Named(name, counter) => {
                    let location = Location {
                        scope: scope.clone(),
                        name: name.clone(),
                        counter: *counter,
                    };
                    nodes.push(self.node(location, child, part));
                }
                Segment::Iteration(iteration) => {
                    bodies.push(self.inside(child, &scope.child(segment.clone())).nodes);
                    iterations = iterations.max(iteration.saturating_add(1));
                }
            }
        }
        Inside {
            nodes: bodies.into_iter().fold(nodes, merge_iteration),
            iterations,
        }
    }

    fn node(&self, location: Location, part: &Draft, above: &Draft) -> Node {
        let inside = self.inside(part, &location.inner_scope());
        let kind = kind_of(part, above, inside.iterations);
        let status = self.status(&kind, &location, part, above, &inside.nodes);
        Node {
            location,
            kind,
            status,
            undo: part.undo.map(|undo| self.undo_status(undo)),
            children: inside.nodes,
        }
    }

    fn status(
        &self,
        kind: &NodeKind,
        location: &Location,
        part: &Draft,
        above: &Draft,
        inside: &[Node],
    ) -> NodeStatus {
        match kind {
            NodeKind::Step => self.step_status(location),
            NodeKind::Child { .. } if part.undo == Some(NodeStatus::Undone) => NodeStatus::Undone,
            NodeKind::Send { .. } | NodeKind::Reply | NodeKind::NoReturn | NodeKind::Switch => {
                NodeStatus::Completed
            }
            NodeKind::Scope => summary(inside),
            kind => part.outcome.unwrap_or_else(|| match kind {
                NodeKind::Join => self.join_status(inside),
                NodeKind::Race => self.race_status(inside),
                NodeKind::Branch { .. } => self.branch_status(above, inside),
                NodeKind::Loop { .. } => self.unfinished(inside),
                _ => self.open_status(location),
            }),
        }
    }

    fn step_status(&self, location: &Location) -> NodeStatus {
        let Some(step) = self.overview.step(location) else {
            // Known only by its undo, and only completed steps have one.
            return NodeStatus::Completed;
        };
        match step.status {
            StepStatus::Running => NodeStatus::Running,
            StepStatus::Retrying => NodeStatus::Retrying,
            StepStatus::Completed => NodeStatus::Completed,
            StepStatus::Failed | StepStatus::Exhausted | StepStatus::TimedOut => NodeStatus::Failed,
            StepStatus::Skipped => NodeStatus::Skipped,
            StepStatus::Abandoned => NodeStatus::Abandoned,
            StepStatus::Undone => NodeStatus::Undone,
        }
    }

    /// Returns the status of an undo. The end of a run ends its undos too.
    fn undo_status(&self, undo: NodeStatus) -> NodeStatus {
        if undo.is_open() && self.overview.end.is_some() {
            return NodeStatus::Abandoned;
        }
        undo
    }

    /// Returns the status of an operation without a recorded end: it is open, or its scope was
    /// left.
    fn open_status(&self, location: &Location) -> NodeStatus {
        if self.overview.is_open(location) {
            NodeStatus::Waiting
        } else {
            NodeStatus::Abandoned
        }
    }

    /// Returns the status of a join, which ends when all its branches have ended.
    fn join_status(&self, branches: &[Node]) -> NodeStatus {
        let is_over = |status| matches!(status, NodeStatus::Completed | NodeStatus::Failed);
        if branches.iter().all(|branch| is_over(branch.status)) {
            return summary(branches);
        }
        self.unfinished(branches)
    }

    /// Returns the status of a race without a winner, which ends when all its branches have failed.
    fn race_status(&self, branches: &[Node]) -> NodeStatus {
        let has_failed = |branch: &Node| branch.status == NodeStatus::Failed;
        if !branches.is_empty() && branches.iter().all(has_failed) {
            return NodeStatus::Failed;
        }
        self.unfinished(branches)
    }

    fn branch_status(&self, above: &Draft, inside: &[Node]) -> NodeStatus {
        if matches!(above.kind, Some(NodeKind::Switch)) {
            // No record marks the end of a chosen branch.
            return summary(inside);
        }
        if above.outcome.is_some() {
            // The race is over without it.
            return NodeStatus::Abandoned;
        }
        self.unfinished(inside)
    }

    /// Returns the status of something whose end would be recorded, and is not.
    fn unfinished(&self, inside: &[Node]) -> NodeStatus {
        match (summary(inside), self.overview.end) {
            (status, None) if status.is_open() => status,
            (_, None) => NodeStatus::Running,
            (NodeStatus::Failed, Some(_)) => NodeStatus::Failed,
            (_, Some(_)) => NodeStatus::Abandoned,
        }
    }
}

/// Returns the kind of a part, according to its records or to what is around it.
fn kind_of(part: &Draft, above: &Draft, seen: u64) -> NodeKind {
    match &part.kind {
        Some(NodeKind::Loop { iterations }) => NodeKind::Loop {
            iterations: seen.max(*iterations),
        },
        Some(kind) => kind.clone(),
        None if seen > 0 => NodeKind::Loop { iterations: seen },
        None => match above.kind {
            Some(NodeKind::Join | NodeKind::Race | NodeKind::Switch) => {
                NodeKind::Branch { won: false }
            }
            _ => NodeKind::Scope,
        },
    }
}

/// Returns the status of a scope: open parts take precedence over failed ones, and those over
/// completed ones.
fn summary(nodes: &[Node]) -> NodeStatus {
    match nodes.iter().map(|node| node.status).max() {
        None | Some(NodeStatus::TimedOut | NodeStatus::Skipped) => NodeStatus::Completed,
        Some(status) => status,
    }
}
