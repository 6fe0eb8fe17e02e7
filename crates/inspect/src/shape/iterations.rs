//! Merges the iterations of a loop, so that its body is shown once.

use super::node::{Node, NodeKind, NodeStatus};

/// Merges the body of the next iteration into that of the earlier ones. An open or failed state
/// wins over others; otherwise the later state wins.
pub(super) fn merge_iteration(mut body: Vec<Node>, iteration: Vec<Node>) -> Vec<Node> {
    for (position, node) in iteration.into_iter().enumerate() {
        // Most iterations call the same operations in the same order.
        let is_same = |other: &Node| is_same_operation(other, &node);
        let found = if body.get(position).is_some_and(is_same) {
            Some(position)
        } else {
            body.iter().position(is_same)
        };
        match found.and_then(|found| body.get_mut(found)) {
            Some(below) => merge(below, node),
            None => body.push(node),
        }
    }
    body
}

fn is_same_operation(a: &Node, b: &Node) -> bool {
    a.location.name == b.location.name && a.location.counter == b.location.counter
}

fn merge(below: &mut Node, above: Node) {
    let children = std::mem::take(&mut below.children);
    below.children = merge_iteration(children, above.children);
    below.undo = below.undo.max(above.undo);
    let is_shown = weight(above.status) >= weight(below.status);
    if is_shown {
        below.location = above.location;
        below.status = above.status;
    }
    match (&mut below.kind, above.kind) {
        (NodeKind::Loop { iterations }, NodeKind::Loop { iterations: other }) => {
            *iterations = other.max(*iterations);
        }
        (NodeKind::Branch { won }, NodeKind::Branch { won: other }) => *won |= other,
        (below, above) if is_shown => *below = above,
        _ => {}
    }
}

/// Outcomes that need no attention have the same weight.
fn weight(status: NodeStatus) -> NodeStatus {
    match status {
        NodeStatus::TimedOut | NodeStatus::Skipped => NodeStatus::Completed,
        other => other,
    }
}
