//! Renders a shape as a Mermaid flowchart from top to bottom.
//!
//! Operations are nodes, each kind with its own outline. Joins, races, loops and branches are
//! subgraphs, switches are diamonds with an arrow to the chosen branch. Dashed arrows lead from
//! steps to their undos. Every element has a class named after its status. Ids are counters, never
//! names. Arrows come after all nodes, because Mermaid would move a node that an arrow mentions
//! first inside a subgraph into that subgraph.

mod label;

use std::collections::BTreeMap;
use std::fmt::Write;

use everstep_model::RunStatus;

use super::node::{Node, NodeKind, NodeStatus, Shape};
use label::{escaped, label_of, shown_name};

/// Returns the shape as a Mermaid flowchart.
#[must_use]
pub fn to_mermaid(shape: &Shape) -> String {
    let mut chart = Chart::default();
    let workflow = shape.workflow.as_ref().map_or("run", |name| name.as_str());
    chart.line(&format!("start([\"{}\"])", escaped(workflow)));
    let mut tips = vec!["start".to_owned()];
    chart.sequence(&shape.nodes, &mut tips);
    if let Some(number) = shape.truncated_at {
        chart.line(&format!(
            "more[\"the journal continues at record {number}\"]"
        ));
        chart.arrows(&tips, "more");
    } else if let Some(status) = status_of_end(shape.status) {
        chart.line(&format!("finish([\"{}\"])", escaped(shape.status.as_str())));
        chart.mark("finish", status.as_str());
        chart.arrows(&tips, "finish");
    }
    chart.text()
}

/// Returns the class of an ended run; `None` if it has not ended.
fn status_of_end(status: RunStatus) -> Option<NodeStatus> {
    match status {
        RunStatus::Completed => Some(NodeStatus::Completed),
        RunStatus::Failed | RunStatus::RollbackFailed => Some(NodeStatus::Failed),
        RunStatus::Cancelled | RunStatus::Terminated => Some(NodeStatus::Abandoned),
        RunStatus::Queued
        | RunStatus::Running
        | RunStatus::Sleeping
        | RunStatus::Waiting
        | RunStatus::Retrying
        | RunStatus::Pausing
        | RunStatus::Paused
        | RunStatus::Cancelling
        | RunStatus::RollingBack
        | RunStatus::Diverged => None,
    }
}

#[derive(Debug, Default)]
struct Chart {
    nodes: String,
    arrows: String,
    /// The ids of each class.
    classes: BTreeMap<&'static str, Vec<String>>,
    ids: usize,
    depth: usize,
}

impl Chart {
    /// Draws nodes in sequence. `tips` are the nodes from which the next arrow leaves.
    fn sequence(&mut self, nodes: &[Node], tips: &mut Vec<String>) {
        for node in nodes {
            let name = shown_name(node, nodes);
            let (entry, exits) = self.node(node, &name);
            self.arrows(tips, &entry);
            *tips = exits;
        }
    }

    /// Draws one node. Returns where arrows to it end and where arrows from it begin.
    fn node(&mut self, node: &Node, name: &str) -> (String, Vec<String>) {
        match &node.kind {
            NodeKind::Switch => self.switch(node, name),
            NodeKind::Join | NodeKind::Race => {
                let id = self.open(node, name);
                for branch in &node.children {
                    self.node(branch, &shown_name(branch, &node.children));
                }
                self.close(&node.children);
                (id.clone(), vec![id])
            }
            NodeKind::Loop { .. } | NodeKind::Branch { .. } | NodeKind::Scope => {
                self.scope(node, name)
            }
            // In a damaged journal, any node may have children.
            _ if !node.children.is_empty() => self.scope(node, name),
            _ => {
                let id = self.leaf(node, name);
                (id.clone(), vec![id])
            }
        }
    }

    fn scope(&mut self, node: &Node, name: &str) -> (String, Vec<String>) {
        let id = self.open(node, name);
        self.sequence(&node.children, &mut Vec::new());
        self.close(&node.children);
        (id.clone(), vec![id])
    }

    /// Draws a diamond with an arrow to each chosen branch. The next node follows the branches.
    fn switch(&mut self, node: &Node, name: &str) -> (String, Vec<String>) {
        let diamond = self.leaf(node, name);
        let mut exits = Vec::new();
        for branch in &node.children {
            let name = shown_name(branch, &node.children);
            let (entry, tips) = self.node(branch, &name);
            let arrow = format!("{diamond} -->|\"{}\"| {entry}", escaped(&name));
            self.arrow(&arrow);
            exits.extend(tips);
        }
        if exits.is_empty() {
            exits.push(diamond.clone());
        }
        (diamond, exits)
    }

    fn leaf(&mut self, node: &Node, name: &str) -> String {
        let id = self.id();
        let (open, close) = outline(&node.kind);
        let label = escaped(&label_of(&node.kind, name));
        self.line(&format!("{id}{open}\"{label}\"{close}"));
        self.mark(&id, node.status.as_str());
        if node.kind == NodeKind::NoReturn {
            self.mark(&id, "no_return");
        }
        if let Some(status) = node.undo {
            self.undo(&id, name, status);
        }
        id
    }

    fn undo(&mut self, step: &str, name: &str, status: NodeStatus) {
        let id = self.id();
        let label = escaped(&format!("undo {name}"));
        self.line(&format!("{id}(\"{label}\")"));
        self.mark(&id, status.as_str());
        self.mark(&id, "undo");
        self.arrow(&format!("{step} -.-> {id}"));
    }

    fn open(&mut self, node: &Node, name: &str) -> String {
        let id = self.id();
        let label = escaped(&label_of(&node.kind, name));
        self.line(&format!("subgraph {id}[\"{label}\"]"));
        self.mark(&id, node.status.as_str());
        self.depth += 1;
        id
    }

    /// Ends a subgraph. Mermaid draws an empty one as a node or not at all, depending on its
    /// release.
    fn close(&mut self, inside: &[Node]) {
        if inside.is_empty() {
            let id = self.id();
            self.line(&format!("{id}[\"nothing recorded\"]"));
            self.mark(&id, "nothing");
        }
        self.depth = self.depth.saturating_sub(1);
        self.line("end");
    }

    fn id(&mut self) -> String {
        self.ids += 1;
        format!("n{}", self.ids)
    }

    fn line(&mut self, text: &str) {
        let indent = "  ".repeat(self.depth + 1);
        let _ = writeln!(self.nodes, "{indent}{text}");
    }

    fn arrow(&mut self, text: &str) {
        let _ = writeln!(self.arrows, "  {text}");
    }

    fn arrows(&mut self, tips: &[String], to: &str) {
        for tip in tips {
            self.arrow(&format!("{tip} --> {to}"));
        }
    }

    fn mark(&mut self, id: &str, class: &'static str) {
        self.classes.entry(class).or_default().push(id.to_owned());
    }

    fn text(self) -> String {
        let mut text = format!("flowchart TD\n{}{}", self.nodes, self.arrows);
        for (class, ids) in &self.classes {
            let _ = writeln!(text, "  classDef {class} {}", look_of(class));
            let _ = writeln!(text, "  class {} {class}", ids.join(","));
        }
        text
    }
}

fn outline(kind: &NodeKind) -> (&'static str, &'static str) {
    match kind {
        NodeKind::Step => ("[", "]"),
        NodeKind::Sleep => ("([", "])"),
        NodeKind::Wait { .. } => ("{{", "}}"),
        NodeKind::Rpc { .. } => ("[/", "/]"),
        NodeKind::Child { .. } => ("[[", "]]"),
        NodeKind::Send { .. } | NodeKind::Reply => (">", "]"),
        NodeKind::NoReturn => ("[/", "\\]"),
        NodeKind::Switch => ("{", "}"),
        NodeKind::Join
        | NodeKind::Race
        | NodeKind::Branch { .. }
        | NodeKind::Loop { .. }
        | NodeKind::Scope => ("(", ")"),
    }
}

/// Returns the colours of a class. Dark text is readable on light and dark pages.
fn look_of(class: &str) -> &'static str {
    match class {
        "completed" => "fill:#d3f9d8,stroke:#2b8a3e,color:#1b1b1b",
        "running" => "fill:#d0ebff,stroke:#1971c2,color:#1b1b1b,stroke-width:3px",
        "failed" => "fill:#ffe3e3,stroke:#c92a2a,color:#1b1b1b,stroke-width:3px",
        "waiting" => "fill:#fff3bf,stroke:#e67700,color:#1b1b1b",
        "retrying" => "fill:#ffe8cc,stroke:#d9480f,color:#1b1b1b",
        "timed_out" => "fill:#f3f0ff,stroke:#6741d9,color:#1b1b1b",
        "undone" => "fill:#e6fcf5,stroke:#087f5b,color:#1b1b1b",
        "undo" => "stroke-dasharray:5 5",
        "no_return" => "stroke-width:4px",
        "abandoned" | "skipped" => "fill:#f1f3f5,stroke:#868e96,color:#495057",
        _ => "fill:none,stroke:none,color:#868e96",
    }
}
