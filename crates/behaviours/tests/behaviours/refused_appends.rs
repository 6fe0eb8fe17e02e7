//! Records that a worker may not write: such an append is refused with a stable code, and other
//! runs are not affected.

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
    /// The tokens of its runs.
    tokens: Vec<Value>,
}

impl Session {
    async fn with_runs<const N: usize>(
        engine: &Engine,
        transport: Arc<dyn Transport>,
        ids: [&str; N],
    ) -> Self {
        let connection = Connection::over(transport, "http://test").unwrap();
        let workflows = json!([{"name": "w", "versions": [1, 1]}]);
        let register = json!({"worker": "w", "slots": N, "workflows": workflows});
        let registered: Value = connection.post("v1/workers", &register).await.unwrap();
        let path = format!("v1/workers/{}", registered["session"].as_str().unwrap());
        let mut tokens = Vec::new();
        for id in ids {
            let start = engine.start_by_name("w", payload(&()));
            start.id(id).await.unwrap();
            let claim = json!({"after": tokens.len()});
            let claimed: Value = connection
                .post(&format!("{path}/claim"), &claim)
                .await
                .unwrap();
            tokens.push(claimed["items"][0]["run"]["token"].clone());
        }
        Self {
            connection,
            path,
            tokens,
        }
    }

    /// Returns an append to one of the runs.
    fn append(&self, run: usize, seq: usize, fields: &Value) -> Value {
        let token = &self.tokens[run];
        let mut append = json!({"token": token, "seq": seq, "seen": 1, "inboxSeen": 1});
        let fields = fields.as_object().unwrap().clone();
        append.as_object_mut().unwrap().extend(fields);
        append
    }

    /// Returns the answers to these appends.
    async fn send(&self, appends: &[Value]) -> Result<Value, CallError> {
        let request = json!({"appends": appends});
        let path = format!("{}/append", self.path);
        let answer: Value = self.connection.post(&path, &request).await?;
        Ok(answer["answers"].clone())
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
        let session = Session::with_runs(&engine, transport, ["r"]).await;
        let large = "x".repeat(1024 * 1024);
        let large = json!({"then": "end", "status": "completed", "records": [completed(&large)]});
        let coded = refused.iter().map(|fields| (fields, "invalid_append"));
        let coded = coded.chain([(&large, "payload_too_large")]);
        let mut seq = 0;
        for (fields, code) in coded {
            seq += 1;
            let append = session.append(0, seq, fields);
            let answers = session.send(std::slice::from_ref(&append)).await.unwrap();
            assert_eq!(answers[0]["outcome"], "refused", "{fields}");
            assert_eq!(answers[0]["code"], code, "{fields}");
            let again = session.send(&[append]).await.unwrap();
            assert_eq!(again, answers, "a repetition gets the same answer");
        }
        let run = engine.run("r").await.unwrap();
        assert_eq!(run.journal().await.unwrap().len(), 1, "nothing is written");
        let done = json!({"then": "end", "status": "completed", "records": [completed("done")]});
        session
            .send(&[session.append(0, seq + 1, &done)])
            .await
            .unwrap();
        assert_eq!(run.wait_json().await.unwrap(), payload(&"done"));
    });
}

// B880
#[test]
fn a_refused_append_affects_no_other_run() {
    virtual_time(async {
        let (engine, transport) = served().await;
        let session = Session::with_runs(&engine, transport, ["good", "bad"]).await;
        let done = json!({"then": "end", "status": "completed", "records": [completed("done")]});
        let bad = json!({"then": "suspend", "status": "waiting", "records": [completed("done")]});
        let appends = [session.append(1, 1, &bad), session.append(0, 1, &done)];
        let answers = session.send(&appends).await.unwrap();
        assert_eq!(answers[0]["outcome"], "refused");
        assert_eq!(answers[1]["outcome"], "appended");
        let good = engine.run("good").await.unwrap();
        assert_eq!(good.wait_json().await.unwrap(), payload(&"done"));
        let bad = engine.run("bad").await.unwrap();
        assert_eq!(bad.journal().await.unwrap().len(), 1);
    });
}

#[test]
fn a_request_about_runs_of_another_session_is_refused_completely() {
    virtual_time(async {
        let (engine, transport) = served().await;
        let session = Session::with_runs(&engine, transport, ["r"]).await;
        let done = json!({"then": "end", "status": "completed", "records": [completed("done")]});
        let mut foreign = session.append(0, 1, &done);
        foreign["token"] = json!("0.stolen");
        let answer = session.send(&[session.append(0, 1, &done), foreign]).await;
        assert_eq!(answer.unwrap_err().code(), Some(ErrorCode::Fenced));
        let run = engine.run("r").await.unwrap();
        assert_eq!(run.journal().await.unwrap().len(), 1);
    });
}
