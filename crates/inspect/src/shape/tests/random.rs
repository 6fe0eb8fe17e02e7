//! Random shapes with names that try to break out of their labels.

use everstep_model::{Location, Name, RunId, RunStatus};
use proptest::prelude::*;

use super::*;
use crate::tests::at;

/// A legal name, usually a hostile one.
pub(super) fn any_name() -> impl Strategy<Value = Name> {
    let hostile = prop_oneof![
        Just("end"),
        Just("\"] --> x[\""),
        Just("<script>alert(1)<"),
        Just("%%{init: {}}%%"),
        Just("`markdown`"),
        Just("1. list"),
        Just("- list"),
        Just("#35;"),
        Just("#quot;"),
        Just("größe ×2 日本語 🚀"),
        Just("a;b|c&d"),
        Just("ﬂ°°35¶ß"),
    ];
    let text = prop_oneof![hostile.prop_map(str::to_owned), any::<String>(), ".{1,9}"];
    text.prop_filter_map("legal", |text| Name::internal(text).ok())
}

fn any_kind() -> impl Strategy<Value = NodeKind> {
    let run = || RunId::new("order-1").unwrap();
    prop_oneof![
        Just(NodeKind::Step),
        Just(NodeKind::Sleep),
        proptest::collection::vec(any_name(), 0..3).prop_map(|names| NodeKind::Wait { names }),
        any_name().prop_map(|method| NodeKind::Rpc { method }),
        (any_name(), any::<bool>()).prop_map(move |(workflow, detached)| NodeKind::Child {
            run: run(),
            workflow,
            detached
        }),
        any_name().prop_map(move |event| NodeKind::Send { event, to: run() }),
        Just(NodeKind::Reply),
        Just(NodeKind::NoReturn),
        Just(NodeKind::Join),
        Just(NodeKind::Race),
        any::<bool>().prop_map(|won| NodeKind::Branch { won }),
        Just(NodeKind::Switch),
        any::<u64>().prop_map(|iterations| NodeKind::Loop { iterations }),
        Just(NodeKind::Scope),
    ]
}

fn any_node_with(children: impl Strategy<Value = Vec<Node>>) -> impl Strategy<Value = Node> {
    let status = || proptest::sample::select(NodeStatus::ALL);
    let undo = proptest::option::of(status());
    let parts = (any_name(), 0u32..3, any_kind(), status(), undo, children);
    parts.prop_map(|(name, counter, kind, status, undo, children)| Node {
        location: Location {
            name,
            counter,
            ..at("x:0")
        },
        kind,
        status,
        undo,
        children,
    })
}

/// A random shape. There may be no journal for it.
pub(super) fn any_shape() -> impl Strategy<Value = Shape> {
    let leaf = any_node_with(Just(Vec::new()));
    let node = leaf.prop_recursive(4, 24, 4, |inner| {
        any_node_with(proptest::collection::vec(inner, 0..4))
    });
    let nodes = proptest::collection::vec(node, 0..5);
    let status = proptest::sample::select(RunStatus::ALL);
    let parts = (proptest::option::of(any_name()), status, nodes);
    parts.prop_map(|(workflow, status, nodes)| Shape {
        workflow,
        status,
        nodes,
        truncated_at: None,
    })
}
