//! The labels of a chart, and their escaping.

use std::fmt::Write;

use everstep_model::Name;

use super::super::node::{Node, NodeKind};

/// Returns `charge`, or `charge:1` if the scope calls several operations of that name.
pub(super) fn shown_name(node: &Node, siblings: &[Node]) -> String {
    let name = &node.location.name;
    let is_counted = |other: &Node| other.location.name == *name && other.location.counter > 0;
    if siblings.iter().any(is_counted) {
        format!("{name}:{}", node.location.counter)
    } else {
        name.to_string()
    }
}

pub(super) fn label_of(kind: &NodeKind, name: &str) -> String {
    match kind {
        NodeKind::Step | NodeKind::Switch | NodeKind::Scope | NodeKind::Branch { won: false } => {
            name.to_owned()
        }
        NodeKind::Branch { won: true } => format!("{name} (won)"),
        NodeKind::Sleep => format!("sleep {name}"),
        NodeKind::Wait { names } => match names.as_slice() {
            [only] if is_named_after(name, only) => format!("wait {name}"),
            names => {
                let names: Vec<_> = names.iter().map(Name::as_str).collect();
                format!("wait {name}: {}", names.join(" or "))
            }
        },
        NodeKind::Rpc { method } if is_named_after(name, method) => format!("rpc {name}"),
        NodeKind::Rpc { method } => format!("rpc {name}: {method}"),
        NodeKind::Child { run, .. } => format!("child {name}: {run}"),
        NodeKind::Send { event, to } => format!("send {event} to {to}"),
        NodeKind::Reply => format!("reply {name}"),
        NodeKind::NoReturn => format!("no return: {name}"),
        NodeKind::Join => format!("join {name}"),
        NodeKind::Race => format!("race {name}"),
        NodeKind::Loop { iterations } => format!("loop {name} ×{iterations}"),
    }
}

/// Returns whether an operation is named after its subject, which a label does not repeat.
fn is_named_after(name: &str, about: &Name) -> bool {
    name.split(':').next() == Some(about.as_str())
}

/// Escapes text for use between double quotes.
///
/// Letters, digits and a few signs stay as they are; every other character is replaced by its
/// entity number, which Mermaid decodes when it draws. Otherwise quotes would end a label,
/// backticks would make it Markdown, `<` HTML, and `%%` a comment. Only a letter may come first,
/// because a label that begins like a list is rendered as one.
pub(super) fn escaped(text: &str) -> String {
    let mut label = String::with_capacity(text.len());
    for (position, character) in text.chars().enumerate() {
        let is_harmless = if position == 0 {
            character.is_alphabetic()
        } else {
            character.is_alphanumeric() || " -_.:,()×".contains(character)
        };
        if is_harmless {
            label.push(character);
        } else {
            let _ = write!(label, "#{};", u32::from(character));
        }
    }
    label
}
