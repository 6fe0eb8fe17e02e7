//! Records that a worker may not write: a request with such an append is refused completely, with a stable code.

use std::sync::Arc;

use everstep::testing::virtual_time;
use everstep::{Engine, ErrorCode};
use everstep_protocol::client::{CallError, Connection, Transport};
use serde_json::{Value, json};

use crate::remote_workers::served;
use crate::support::json as payload;

const TIME: &str = "2026-01-01T00:00:00.000Z";

/// A session that sends raw protocol messages, with the token of its run.
struct Session {
    connection: Connection,
    path: String,
    token: Value,
}

impl Session {
    async fn with_a_run(engine: &Engine, transport: Arc<dyn Transport>) -> Self {
        let connection = Connection::over(transport, "http://test").unwrap();
        let workflows = json!([{"name": "w", "versions": [1, 1]}]);
        let register = json!({"worker": "w", "slots": 1, "workflows": workflows});
        let registered: Value = connection.post("v1/workers", &register).await.unwrap();
        let path = format!("v1/workers/{}", registered["session"].as_str().unwrap());
        let start = engine.start_by_name("w", payload(&()));
        start.id("r").await.unwrap();
        let claim = json!({"after": 0});
        let claimed: Value = connection
            .post(&format!("{path}/claim"), &claim)
            .await
            .unwrap();
        let token = claimed["items"][0]["run"]["token"].clone();
        Self {
            connection,
            path,
            token,
        }
    }

    async fn append(&self, fields: &Value) -> Result<Value, CallError> {
        let mut append = json!({"token": self.token, "seq": 1, "seen": 1, "inboxSeen": 1});
        let fields = fields.as_object().unwrap().clone();
        append.as_object_mut().unwrap().extend(fields);
        let request = json!({"appends": [append]});
        let path = format!("{}/append", self.path);
        self.connection.post(&path, &request).await
    }
}

fn record(kind: &str, value: Value) -> Value {
    let headers = json!({"operation": "insert", "timestamp": TIME});
    json!({"type": format!("workflow:{kind}"), "key": "run", "value": value, "headers": headers})
}

fn completed(result: &str) -> Value {
    record("completed", json!({"result": result}))
}

fn advanced(dropped: Value) -> Value {
    let state = json!({
        "id": "l:0", "iteration": 1, "state": null, "done": false, "folded": 1, "now": TIME,
        "dropped": dropped,
    });
    record("loop_advanced", state)
}

#[test]
fn a_worker_writes_what_executors_write_and_nothing_else() {
    let go_on = |record: Value| json!({"then": "continue", "records": [record]});
    let event = record("event", json!({"name": "paid", "payload": 1}));
    let data = record("data", json!({"bytes": "", "ends": true}));
    let error = json!({"code": "x", "name": "Error", "message": "m"});
    let forced = |id: Value| record("forced_failure", json!({"id": id, "error": error}));
    let row = json!({
        "id": "r:0", "collection": "step", "key": "a", "operation": "upsert", "value": 1,
    });
    let refused = [
        go_on(event),
        go_on(data),
        go_on(record("terminated", json!({}))),
        go_on(forced(Value::Null)),
        json!({"then": "go_on_as", "status": "rolling_back", "records": [forced(json!("s:0"))]}),
        go_on(completed("done")),
        json!({"then": "end", "status": "failed", "records": [completed("done")]}),
        json!({"then": "end", "status": "completed", "records": []}),
        json!({"then": "end", "status": "running", "records": [completed("done")]}),
        json!({"then": "end", "status": "completed", "records": [completed("a"), completed("b")]}),
        json!({"then": "suspend", "status": "completed", "records": []}),
        json!({"then": "suspend", "status": "queued", "records": []}),
        json!({"then": "go_on_as", "status": "paused", "records": []}),
        json!({"then": "park", "status": "waiting", "records": []}),
        json!({"then": "continue", "status": "running", "records": []}),
        go_on(advanced(json!([{"first": 0, "last": 1}]))),
        go_on(advanced(json!([{"first": 2, "last": 1}]))),
        go_on(advanced(json!([{"first": 1, "last": 3}]))),
        go_on(record("state_changed", row)),
    ];
    virtual_time(async {
        let (engine, transport) = served().await;
        let session = Session::with_a_run(&engine, transport).await;
        for fields in &refused {
            let answer = session.append(fields).await.unwrap_err();
            assert_eq!(answer.code(), Some(ErrorCode::InvalidAppend), "{fields}");
        }
        let large = "x".repeat(1024 * 1024);
        let large = json!({"then": "end", "status": "completed", "records": [completed(&large)]});
        let answer = session.append(&large).await.unwrap_err();
        assert_eq!(answer.code(), Some(ErrorCode::PayloadTooLarge));
        let run = engine.run("r").await.unwrap();
        assert_eq!(run.journal().await.unwrap().len(), 1, "nothing is written");
        let done = json!({"then": "end", "status": "completed", "records": [completed("done")]});
        session.append(&done).await.unwrap();
        assert_eq!(run.wait_json().await.unwrap(), payload(&"done"));
    });
}

#[test]
fn a_request_with_one_bad_append_has_no_effect_at_all() {
    virtual_time(async {
        let (engine, transport) = served().await;
        let session = Session::with_a_run(&engine, transport).await;
        let common = json!({"token": session.token, "seq": 1, "seen": 1, "inboxSeen": 1});
        let append = |then: &str, status: &str| {
            let mut append = common.clone();
            append["then"] = json!(then);
            append["status"] = json!(status);
            append["records"] = json!([completed("done")]);
            append
        };
        let appends = json!([append("end", "completed"), append("suspend", "waiting")]);
        let path = format!("{}/append", session.path);
        let request = json!({"appends": appends});
        let answer = session.connection.post::<Value>(&path, &request).await;
        assert_eq!(answer.unwrap_err().code(), Some(ErrorCode::InvalidAppend));
        let run = engine.run("r").await.unwrap();
        assert_eq!(run.journal().await.unwrap().len(), 1);
    });
}
