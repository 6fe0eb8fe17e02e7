//! The rows of the views `state` and `client`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::workflows::support::{Served, served};

pub(super) type Rows = BTreeMap<(String, String), Value>;

/// Returns the rows of a client that has read a view from its beginning.
pub(super) async fn rows(served: &Served, journal: &str) -> Rows {
    let page = served
        .get(&format!("/v1/stream/workflows/{journal}"))
        .await
        .json();
    rows_of(page.as_array().unwrap())
}

/// Returns the rows of a client that has received these changes.
fn rows_of(changes: &[Value]) -> Rows {
    let mut rows = Rows::new();
    for change in changes {
        let text = |field: &str| change[field].as_str().unwrap().to_owned();
        let key = (text("type"), text("key"));
        match change["headers"]["operation"].as_str().unwrap() {
            "delete" => drop(rows.remove(&key)),
            _ => drop(rows.insert(key, change["value"].clone())),
        }
    }
    rows
}

pub(super) fn of<'a>(rows: &'a Rows, kind: &str) -> Vec<&'a Value> {
    let rows = rows.iter().filter(|((known, _), _)| known == kind);
    rows.map(|(_, value)| value).collect()
}

#[test]
fn rows_match_the_api() {
    served(async |served| {
        served.start("order", "o", "7").await;
        served.post("/workflows/o/events/later", "1").await;
        served
            .post("/workflows/o/events/approval", r#"{"by":"ada"}"#)
            .await;
        let run = served.wait_for_status("o", "waiting").await;
        let open = rows(&served, "o?view=state").await;
        assert_eq!(of(&open, "workflow")[0]["status"], "waiting");
        for (row, step) in of(&open, "step")
            .iter()
            .zip(run["steps"].as_array().unwrap())
        {
            for field in [
                "id",
                "name",
                "status",
                "attempts",
                "result",
                "startedAt",
                "completedAt",
            ] {
                assert_eq!(row[field], step[field], "{field}");
            }
        }
        let rpc = of(&open, "rpc")[0];
        assert_eq!(
            (&rpc["method"], &rpc["id"]),
            (&json!("confirm"), &run["rpcs"][0]["id"])
        );
        assert_eq!(
            of(&open, "event").len(),
            0,
            "the approval was consumed: {open:?}"
        );
        assert_eq!(of(&open, "orders"), [&json!({"approved": true})]);
        let rpc = rpc["id"].as_str().unwrap();
        served
            .post(&format!("/workflows/o/rpc/{rpc}"), "true")
            .await;
        let run = served.wait_for_status("o", "completed").await;
        let over = rows(&served, "o?view=state").await;
        assert_eq!(of(&over, "rpc").len(), 0);
        let workflow = of(&over, "workflow")[0];
        for field in [
            "id",
            "type",
            "version",
            "generation",
            "status",
            "result",
            "error",
            "completedAt",
        ] {
            assert_eq!(workflow[field], run[field], "{field}");
        }
        let client = rows(&served, "o?view=client").await;
        assert_eq!(of(&client, "workflow")[0]["status"], "completed");
        assert_eq!(of(&client, "workflow")[0]["result"], run["result"]);
        assert_eq!(of(&client, "orders").len(), 1);
        assert_eq!(of(&client, "step").len(), 0);
    });
}

#[test]
fn a_loop_does_not_add_rows_with_each_iteration() {
    served(async |served| {
        served.start("discreet", "d", "null").await;
        served.wait_for_status("d", "waiting").await;
        let rows = rows(&served, "d?view=state").await;
        let keys: Vec<_> = rows.keys().filter(|(kind, _)| kind == "step").collect();
        assert_eq!(keys.len(), 2, "{keys:?}");
        let turn = of(&rows, "step")
            .into_iter()
            .find(|step| step["name"] == "turn")
            .unwrap();
        assert_eq!(
            (&turn["id"], &turn["result"]),
            (&json!("turns/~2/turn:0"), &json!(2))
        );
        assert_eq!(of(&rows, "progress"), [&json!({"value": 3})]);
    });
}

#[test]
fn the_row_of_a_step_settled_by_an_operator_is_complete() {
    served(async |served| {
        served.start("slow", "s", "null").await;
        let mut location = Value::Null;
        while location.is_null() {
            served.test.advance(everstep::secs(1)).await;
            location = served.get("/workflows/s").await.json()["steps"][0]["id"].clone();
        }
        let encoded = location.as_str().unwrap().replace('/', "%2F");
        served
            .post(
                &format!("/workflows/s/steps/{encoded}/skip"),
                r#"{"result":"x"}"#,
            )
            .await;
        let run = served.wait_for_status("s", "completed").await;
        let rows = rows(&served, "s?view=state").await;
        let (row, step) = (of(&rows, "step")[0], &run["steps"][0]);
        for field in [
            "id",
            "name",
            "status",
            "attempts",
            "result",
            "startedAt",
            "completedAt",
        ] {
            assert_eq!(row[field], step[field], "{field}");
        }
        assert_eq!(
            (&row["status"], &row["attempts"]),
            (&json!("skipped"), &json!(1))
        );
    });
}
