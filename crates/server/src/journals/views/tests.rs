//! Checks that PROTOCOL.md lists the columns of every row.

use std::collections::{BTreeMap, BTreeSet};

use everstep_model::{Entry, Generation, Name, RecordNumber, RunId, RunStatus, Timestamp};
use everstep_protocol::access::View;
use everstep_store::RunRow;
use serde_json::Value;

use super::{Audience, of};

const PROTOCOL: &str = include_str!("../../../../../PROTOCOL.md");

/// Returns the words in backticks in the first column of the table under a heading.
fn documented(row: &str) -> BTreeSet<String> {
    let heading = format!("\n#### Row {row}\n");
    let (_, rest) = PROTOCOL
        .split_once(&heading)
        .unwrap_or_else(|| panic!("no table of {row}"));
    let lines = rest.trim_start().lines();
    let table = lines.take_while(|line| line.starts_with('|'));
    let cells = table.filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    cells.map(str::to_owned).collect()
}

/// Returns the columns of each type of row in a view, over samples of all kinds of records.
fn columns(view: View) -> BTreeMap<String, BTreeSet<String>> {
    let run = RunRow {
        id: RunId::new("a").unwrap(),
        generation: Generation::FIRST,
        workflow: Name::new("w").unwrap(),
        version: 1,
        status: RunStatus::Running,
        tags: Vec::new(),
        created_at: Timestamp::default(),
        updated_at: Timestamp::default(),
    };
    let audience = Audience {
        view,
        methods: None,
    };
    let mut columns: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for record in everstep_samples::one_of_each() {
        // Each record is the first about its operation.
        let mut rows = of(&audience, &run);
        let number = RecordNumber(0);
        for message in rows.fold(&Entry { number, record }) {
            let message: Value = serde_json::from_slice(&message).unwrap();
            if let Some(value) = message["value"].as_object() {
                let kind = message["type"].as_str().unwrap().to_owned();
                columns
                    .entry(kind)
                    .or_default()
                    .extend(value.keys().cloned());
            }
        }
    }
    columns
}

// B766
#[test]
fn the_columns_of_every_row_are_documented() {
    let state = columns(View::State);
    let client = columns(View::Client);
    assert_eq!(
        documented("`workflow` in the view `state`"),
        state["workflow"]
    );
    assert_eq!(
        documented("`workflow` in the view `client`"),
        client["workflow"]
    );
    for (row, views) in [
        ("wait", vec![&state, &client]),
        ("rpc", vec![&state, &client]),
        ("step", vec![&state]),
        ("event", vec![&state]),
    ] {
        for view in views {
            assert_eq!(documented(&format!("`{row}`")), view[row], "{row}");
        }
    }
    let hidden = ["step", "event"];
    assert!(hidden.iter().all(|row| !client.contains_key(*row)));
}
