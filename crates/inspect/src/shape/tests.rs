//! Tests of shapes and charts. The properties hold for any sequence of records, valid or not.

mod grammar;
mod random;

use everstep_model::record::*;
use everstep_model::{Body, RecordNumber, RecordRange, RunStatus};
use proptest::prelude::*;

use super::*;
use crate::tests::*;
use random::any_shape;

fn of(bodies: impl IntoIterator<Item = Body>) -> Shape {
    shape(&Journal::created().with_all(bodies).0)
}

/// Returns the tree on one line: `name kind status [children]`.
fn outline(nodes: &[Node]) -> String {
    let node = |node: &Node| {
        let kind = match &node.kind {
            NodeKind::Step => "step".to_owned(),
            NodeKind::Branch { won: true } => "winner".to_owned(),
            NodeKind::Branch { won: false } => "branch".to_owned(),
            NodeKind::Loop { iterations } => format!("loop×{iterations}"),
            other => format!("{other:?}")
                .split(' ')
                .next()
                .unwrap()
                .to_lowercase(),
        };
        let undo = match node.undo {
            Some(status) => format!(" undo-{}", status.as_str()),
            None => String::new(),
        };
        let inside = match outline(&node.children) {
            inside if inside.is_empty() => inside,
            inside => format!(" [{inside}]"),
        };
        let (location, status) = (&node.location, node.status.as_str());
        format!("{location} {kind} {status}{undo}{inside}")
    };
    nodes.iter().map(node).collect::<Vec<_>>().join(", ")
}

fn check(bodies: impl IntoIterator<Item = Body>, expected: &str) {
    assert_eq!(outline(&of(bodies).nodes), expected);
}

fn branches(location: &str, kind: BranchesKind) -> Body {
    let branches = vec![name("x"), name("y")];
    let location = at(location);
    BranchesStarted {
        location,
        kind,
        branches,
    }
    .into()
}

fn branch_done(location: &str, branch: &str) -> Body {
    BranchCompleted {
        location: at(location),
        branch: name(branch),
    }
    .into()
}

fn branch_failed(location: &str, branch: &str) -> Body {
    BranchFailed {
        location: at(location),
        branch: name(branch),
        error: failure("x"),
    }
    .into()
}

fn won(location: &str, winner: &str) -> Body {
    RaceWon {
        location: at(location),
        winner: name(winner),
    }
    .into()
}

fn chose(location: &str, branch: &str) -> Body {
    SwitchChosen {
        location: at(location),
        branch: name(branch),
    }
    .into()
}

fn done(location: &str) -> Body {
    completed_step(location, 1, "1").into()
}

fn all_nodes(nodes: &[Node]) -> Vec<&Node> {
    let mut all = Vec::new();
    for node in nodes {
        all.push(node);
        all.extend(all_nodes(&node.children));
    }
    all
}

proptest! {
    #[test]
    fn any_sequence_of_records_has_a_shape_and_a_chart(journal in any_journal(), numbers in any::<[u64; 4]>()) {
        let mut entries = journal.0;
        for (entry, number) in entries.iter_mut().rev().zip(numbers) {
            entry.number = RecordNumber(number);
        }
        let shape = super::shape(&entries);
        prop_assert_eq!(&super::shape(&entries), &shape);
        let chart = to_mermaid(&shape);
        prop_assert!(grammar::parse(&chart).is_ok(), "{:?}\n{chart}", grammar::parse(&chart));
    }

    #[test]
    fn no_name_breaks_a_chart(shape in any_shape()) {
        let chart = to_mermaid(&shape);
        let parsed = grammar::parse(&chart);
        prop_assert!(parsed.is_ok(), "{parsed:?}\n{chart}");
        // Every name is shown unchanged.
        let labels: Vec<_> = parsed.unwrap().labels.into_values().collect();
        for node in all_nodes(&shape.nodes) {
            if matches!(node.kind, NodeKind::Step) {
                let name = node.location.name.as_str();
                prop_assert!(labels.iter().any(|label| label.starts_with(name)), "{name:?}\n{chart}");
            }
        }
    }

    #[test]
    fn readers_of_dropped_records_see_the_same_shape(journal in any_journal()) {
        let mut kept = journal.0.clone();
        for entry in &journal.0 {
            if let Body::LoopAdvanced(advanced) = &entry.record.body {
                kept.retain(|old| {
                    let is_in = |range: &RecordRange| (range.first..=range.last).contains(&old.number);
                    old.number >= entry.number || !advanced.dropped.iter().any(is_in)
                });
            }
        }
        // A record that names dropped records may be dropped itself. Neither reader sees it then.
        let is_kept = |entry: &Entry| kept.contains(entry);
        let is_heard = |entry: &Entry| !matches!(&entry.record.body, Body::LoopAdvanced(a) if !a.dropped.is_empty());
        prop_assume!(journal.0.iter().all(|entry| is_kept(entry) || is_heard(entry)));
        prop_assert_eq!(shape(&kept), shape(&journal.0));
    }

    #[test]
    fn nothing_is_open_in_an_ended_run(journal in any_journal()) {
        let shape = shape(&journal.with(completed()).0);
        prop_assert!(shape.status.is_terminal());
        for node in all_nodes(&shape.nodes) {
            let undo_is_open = node.undo.is_some_and(NodeStatus::is_open);
            prop_assert!(!node.status.is_open() && !undo_is_open, "{node:?}");
        }
    }

    #[test]
    fn after_the_end_nothing_changes(journal in any_journal(), more in proptest::collection::vec(any_open_body(), 0..10)) {
        let ended = journal.with(completed());
        let is_heard = |body: &Body| !matches!(body, Body::LoopAdvanced(a) if !a.dropped.is_empty());
        let more: Vec<_> = more.into_iter().filter(is_heard).collect();
        prop_assert_eq!(shape(&ended.0), shape(&ended.clone().with_all(more).0));
    }
}

#[test]
fn steps_are_listed_in_the_order_of_their_first_records() {
    check(
        [
            done("b:0"),
            started("a:0", 1).into(),
            failed_step("c:0", 1, FailureOutcome::Retrying).into(),
            failed_step("d:0", 1, FailureOutcome::TimedOut).into(),
        ],
        "b:0 step completed, a:0 step running, c:0 step retrying, d:0 step failed",
    );
}

#[test]
fn waiting_operations_wait_until_they_end() {
    let open = [
        Body::from(sleeping("s:0")),
        waiting("w:0", &["yes"]).into(),
        asked("q:0", "rpc_1").into(),
        child("c:0", false).into(),
        child("d:0", true).into(),
    ];
    check(
        open.clone(),
        "s:0 sleep waiting, w:0 wait waiting, q:0 rpc waiting, c:0 child waiting, d:0 child completed",
    );
    let ends = [
        Body::from(fired(TimerPurpose::Sleep, Some("s:0"), time(200))),
        fired(TimerPurpose::Wait, Some("w:0"), time(500)).into(),
        answered("q:0", "rpc_1").into(),
        child_finished("c:0").into(),
    ];
    check(
        open.clone().into_iter().chain(ends),
        "s:0 sleep completed, w:0 wait timed_out, q:0 rpc completed, c:0 child completed, d:0 child completed",
    );
    check(
        open.into_iter().chain([completed().into()]),
        "s:0 sleep abandoned, w:0 wait abandoned, q:0 rpc abandoned, c:0 child abandoned, d:0 child completed",
    );
}

#[test]
fn a_join_shows_its_branches_and_ends_with_the_last() {
    let begun = [branches("fan:0", BranchesKind::Join), done("fan/y/a:0")];
    check(
        begun.clone(),
        "fan:0 join running [fan/x:0 branch running, fan/y:0 branch running [fan/y/a:0 step completed]]",
    );
    let resting = [branch_done("fan:0", "x"), sleeping("fan/y/s:0").into()];
    check(
        begun.clone().into_iter().chain(resting),
        "fan:0 join waiting [fan/x:0 branch completed, \
         fan/y:0 branch waiting [fan/y/a:0 step completed, fan/y/s:0 sleep waiting]]",
    );
    let ended = [branch_done("fan:0", "x"), branch_failed("fan:0", "y")];
    check(
        begun.into_iter().chain(ended),
        "fan:0 join failed [fan/x:0 branch completed, fan/y:0 branch failed [fan/y/a:0 step completed]]",
    );
}

#[test]
fn a_race_marks_its_winner_and_abandons_the_rest() {
    check(
        [
            branches("fan:0", BranchesKind::Race),
            sleeping("fan/x/s:0").into(),
            done("fan/y/a:0"),
            won("fan:0", "y"),
        ],
        "fan:0 race completed [fan/x:0 branch abandoned [fan/x/s:0 sleep abandoned], \
         fan/y:0 winner completed [fan/y/a:0 step completed]]",
    );
}

#[test]
fn the_iterations_of_a_loop_are_shown_as_one() {
    let two = [
        done("each/~0/a:0"),
        advanced("each:0", 1, false, &[]).into(),
        done("each/~1/a:0"),
        started("each/~1/b:0", 1).into(),
    ];
    check(
        two.clone(),
        "each:0 loop×2 running [each/~1/a:0 step completed, each/~1/b:0 step running]",
    );
    // The record that drops iterations still counts them.
    check(
        [advanced("each:0", 41, true, &[(1, 3)]).into()],
        "each:0 loop×42 completed",
    );
}

#[test]
fn an_open_or_failed_iteration_takes_precedence() {
    let fatal = |location: &str| Body::from(failed_step(location, 1, FailureOutcome::Fatal));
    check(
        [
            fatal("each/~0/a:0"),
            done("each/~1/a:0"),
            done("each/~2/a:0"),
        ],
        "each:0 loop×3 running [each/~0/a:0 step failed]",
    );
    check(
        [
            fatal("each/~0/a:0"),
            started("each/~1/a:0", 1).into(),
            done("each/~2/a:0"),
        ],
        "each:0 loop×3 running [each/~1/a:0 step running]",
    );
}

#[test]
fn iterations_of_nested_loops_are_merged() {
    check(
        [
            branches("o/~0/fan:0", BranchesKind::Join),
            done("o/~0/fan/x/i/~0/a:0"),
            done("o/~0/fan/x/i/~1/a:0"),
            branches("o/~1/fan:0", BranchesKind::Join),
            done("o/~1/fan/x/i/~0/b:0"),
        ],
        "o:0 loop×2 running [o/~1/fan:0 join running [o/~1/fan/x:0 branch running \
         [o/~1/fan/x/i:0 loop×2 running [o/~0/fan/x/i/~1/a:0 step completed, o/~1/fan/x/i/~0/b:0 step completed]], \
         o/~1/fan/y:0 branch running]]",
    );
}

#[test]
fn a_switch_shows_what_was_chosen() {
    check(
        [
            chose("route:0", "left"),
            done("route/left/a:0"),
            chose("route:1", "right"),
        ],
        "route:0 switch completed [route/left:0 branch completed [route/left/a:0 step completed]], \
         route:1 switch completed [route:1/right:0 branch completed]",
    );
}

#[test]
fn an_undo_belongs_to_its_child() {
    let location = at("ship:0");
    let undo = UndoStarted {
        location: location.clone(),
        attempt: 1,
        run: None,
        ends_run: false,
    };
    let done: [Body; 3] = [
        child("ship:0", false).into(),
        child_finished("ship:0").into(),
        undo.into(),
    ];
    check(done.clone(), "ship:0 child completed undo-running");
    let undone = UndoCompleted {
        location,
        attempt: 1,
        run: None,
    };
    let done = done.into_iter().chain([undone.into()]);
    check(done, "ship:0 child undone undo-undone");
}

#[test]
fn an_undo_belongs_to_its_step() {
    let location = at("a:0");
    let undo = Body::from(UndoStarted {
        location: location.clone(),
        attempt: 1,
        run: None,
        ends_run: false,
    });
    let failed = |retry_at| {
        Body::from(UndoFailed {
            location: location.clone(),
            attempt: 1,
            error: failure("x"),
            retry_at,
            run: None,
        })
    };
    let undone = Body::from(UndoCompleted {
        location: location.clone(),
        attempt: 2,
        run: None,
    });
    let skipped = Body::from(UndoSkipped {
        location: location.clone(),
        run: None,
        ends_run: false,
    });
    for (bodies, expected) in [
        (vec![undo.clone()], "a:0 step completed undo-running"),
        (
            vec![undo.clone(), failed(Some(time(9)))],
            "a:0 step completed undo-retrying",
        ),
        (
            vec![undo.clone(), failed(None)],
            "a:0 step completed undo-failed",
        ),
        (vec![undo, undone], "a:0 step undone undo-undone"),
        (vec![skipped], "a:0 step completed undo-skipped"),
    ] {
        check([done("a:0")].into_iter().chain(bodies), expected);
    }
}

#[test]
fn the_next_pass_repeats_what_failed() {
    check(
        [
            branches("fan:0", BranchesKind::Join),
            branch_done("fan:0", "x"),
            branch_failed("fan:0", "y"),
            execution_retried(1).into(),
            branch_done("fan:0", "y"),
        ],
        "fan:0 join completed [fan/x:0 branch completed, fan/y:0 branch completed]",
    );
}

#[test]
fn very_deep_locations_do_no_harm() {
    let deep = format!("{}a:0", "s/".repeat(100_000));
    let shape = of([done(&deep)]);
    assert_eq!(all_nodes(&shape.nodes).len(), 64);
}

#[test]
fn a_shape_is_json_with_kinds_and_locations() {
    let json = serde_json::to_string(&of([sleeping("s:0").into(), won("fan:0", "x")])).unwrap();
    assert_eq!(
        json,
        "{\"workflow\":\"payment\",\"status\":\"sleeping\",\"nodes\":[\
         {\"location\":\"s:0\",\"kind\":\"sleep\",\"status\":\"waiting\",\"undo\":null,\"children\":[]},\
         {\"location\":\"fan:0\",\"kind\":\"race\",\"status\":\"completed\",\"undo\":null,\"children\":[\
         {\"location\":\"fan/x:0\",\"kind\":\"branch\",\"won\":true,\"status\":\"completed\",\"undo\":null,\
         \"children\":[]}]}]}"
    );
}

#[test]
fn a_chart_shows_branches_diamonds_undos_and_the_end() {
    let no_return = NoReturn {
        location: at("sure:0"),
    };
    let undone = UndoCompleted {
        location: at("charge:0"),
        attempt: 1,
        run: None,
    };
    let failed = Failed {
        error: failure("x"),
        rolled_back: true,
        abandoned: Vec::new(),
        caused_by: Vec::new(),
    };
    let shape = of([
        done("charge:0"),
        chose("route:0", "left"),
        branches("fan:0", BranchesKind::Race),
        done("fan/x/ship:0"),
        won("fan:0", "x"),
        done("each/~0/pack:0"),
        advanced("each:0", 0, true, &[]).into(),
        no_return.into(),
        undone.into(),
        failed.into(),
    ]);
    assert_eq!(shape.status, RunStatus::Failed);
    let chart = to_mermaid(&shape);
    let (drawn, _) = chart.split_once("  classDef").unwrap();
    assert_eq!(
        drawn,
        r#"flowchart TD
  start(["payment"])
  n1["charge"]
  n2("undo charge")
  n3{"route"}
  subgraph n4["left"]
    n5["nothing recorded"]
  end
  subgraph n6["race fan"]
    subgraph n7["x (won)"]
      n8["ship"]
    end
    subgraph n9["y"]
      n10["nothing recorded"]
    end
  end
  subgraph n11["loop each ×1"]
    n12["pack"]
  end
  n13[/"no return: sure"\]
  finish(["failed"])
  n1 -.-> n2
  start --> n1
  n3 -->|"left"| n4
  n1 --> n3
  n4 --> n6
  n6 --> n11
  n11 --> n13
  n13 --> finish
"#
    );
    let classes = grammar::parse(&chart).unwrap().classes;
    assert_eq!(classes["undone"], ["n1", "n2"]);
    assert_eq!(classes["abandoned"], ["n9"]);
    assert_eq!(classes["undo"], ["n2"]);
    assert_eq!(classes["no_return"], ["n13"]);
    assert_eq!(classes["failed"], ["finish"]);
}

#[test]
fn counters_are_shown_where_a_name_is_used_twice() {
    let chart = to_mermaid(&of([done("a:0"), done("b:0"), done("b:1")]));
    let labels: Vec<_> = grammar::parse(&chart)
        .unwrap()
        .labels
        .into_values()
        .collect();
    assert_eq!(labels, ["a", "b:0", "b:1", "payment"]);
}
