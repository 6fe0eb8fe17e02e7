//! What run tokens show of their run through the workflow API.

use axum::Router;
use everstep::schemars::{self, JsonSchema};
use everstep::testing::{TestEngine, virtual_time};
use everstep::{AnyEvent, Ctx, Error, Payload, Result, Rpc, Workflows, secs};
use everstep_model::{ErrorCode, Failure};
use everstep_protocol::access::{CreateKey, Scope};
use everstep_server::{Keys, Options, router};
use serde::Serialize;
use serde_json::{Value, json};

use crate::support::{JSON, Response, send};

#[derive(Serialize, JsonSchema)]
struct Approve {
    amount: u32,
}

impl Rpc for Approve {
    const METHOD: &'static str = "approve";
    type Answer = bool;
}

#[derive(Serialize, JsonSchema)]
struct Audit;

impl Rpc for Audit {
    const METHOD: &'static str = "audit";
    type Answer = bool;
}

/// Executes a step, then asks two people.
async fn expense(ctx: Ctx<AnyEvent>, amount: u32) -> Result<&'static str> {
    let work = || async { Ok::<_, Error>("internal".to_owned()) };
    ctx.step("charge", work).await?;
    ctx.join("people")
        .branch(
            "manager",
            |ctx| async move { ctx.rpc(Approve { amount }).await },
        )
        .branch("auditor", |ctx| async move { ctx.rpc(Audit).await })
        .await?;
    Ok("paid")
}

async fn broken(ctx: Ctx<AnyEvent>, (): ()) -> Result<()> {
    let cause = Failure::new(ErrorCode::StepFailed, "10.0.0.7 refused the connection");
    let declined = Failure::new(ErrorCode::StepFailed, "declined").caused_by(cause);
    let work = || async { Err::<(), _>(Error::from_failure(declined.clone()).non_retryable()) };
    ctx.step("charge", work).await
}

struct Site {
    test: TestEngine,
    app: Router,
    key: String,
}

fn with_site(test: impl AsyncFnOnce(Site)) {
    virtual_time(async {
        let workflows = Workflows::new()
            .function("expense", expense)
            .function("broken", broken);
        let engine = TestEngine::builder().workflows(workflows).start().await;
        let backend = CreateKey::new("backend", [Scope::Read, Scope::Send, Scope::Operate]);
        let key = Keys::of(&*engine).create(backend, None).await.unwrap().key;
        let app = router(&*engine, Options::default());
        let run = engine.start_by_name("expense", Payload::from_value(&700).unwrap());
        run.id("mine").tag("vip").await.unwrap();
        let run = engine.start_by_name("broken", Payload::null());
        run.id("lost").await.unwrap();
        engine.advance(secs(1)).await;
        test(Site {
            test: engine,
            app,
            key,
        })
        .await;
    });
}

impl Site {
    async fn call(&self, bearer: &str, method: &str, path: &str, body: &Value) -> Response {
        let bearer = format!("Bearer {bearer}");
        let headers = [("Authorization", bearer.as_str()), JSON];
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        send(&self.app, method, path, &headers, body).await
    }

    async fn get(&self, bearer: &str, path: &str) -> Response {
        self.call(bearer, "GET", path, &Value::Null).await
    }

    /// Returns a token that may answer `approve`.
    async fn token(&self, run: &str, view: &str) -> String {
        let request = json!({"run": run, "view": view, "rpcs": ["approve"]});
        let minted = self.call(&self.key, "POST", "/tokens", &request).await;
        minted.json()["token"].as_str().unwrap().to_owned()
    }
}

fn names(list: &Value, field: &str) -> Vec<String> {
    let list = list.as_array().unwrap().iter();
    list.map(|it| it[field].as_str().unwrap().to_owned())
        .collect()
}

// B610
#[test]
fn a_client_token_shows_the_state_of_its_run_and_the_rpcs_of_its_methods() {
    with_site(async |site| {
        let token = site.token("mine", "client").await;
        let run = site.get(&token, "/workflows/mine").await.json();
        for (field, shown) in [
            ("id", json!("mine")),
            ("type", json!("expense")),
            ("status", json!("waiting")),
            ("input", json!(null)),
            ("tags", json!([])),
            ("steps", json!([])),
            ("stream", json!("/v1/stream/workflows/mine")),
        ] {
            assert_eq!(run[field], shown, "{field}");
        }
        assert_eq!(names(&run["rpcs"], "method"), ["approve"]);
        assert_eq!(run["rpcs"][0]["args"], json!({"amount": 700}));
        assert_eq!(names(&run["waitingFor"], "name"), ["approve"]);
        let why = site.get(&token, "/workflows/mine/why").await.json();
        assert_eq!(names(&why["reasons"], "method"), ["approve"]);
        let sentence = why["sentence"].as_str().unwrap();
        assert!(sentence.contains("approve"), "{sentence}");
        assert!(!sentence.contains("audit"), "{sentence}");
    });
}

// B610
#[test]
fn a_client_token_shows_the_result_or_the_error_of_its_run() {
    with_site(async |site| {
        let token = site.token("mine", "client").await;
        let run = site.test.run("mine").await.unwrap();
        site.test.answer_next::<Approve>(&run, &true).await;
        site.test.answer_next::<Audit>(&run, &true).await;
        let path = "/workflows/mine?wait=30s";
        let ended = site.get(&token, path).await.json();
        assert_eq!(ended["status"], "completed");
        assert_eq!(ended["result"], "paid");
        let (client, state) = (
            site.token("lost", "client").await,
            site.token("lost", "state").await,
        );
        let failed = site.get(&state, "/workflows/lost").await.json();
        assert!(failed["error"]["cause"].is_object(), "{failed}");
        let failed = site.get(&client, "/workflows/lost").await.json();
        assert_eq!(failed["status"], "failed");
        let why = site.get(&client, "/workflows/lost/why").await.json();
        let reason = &why["reasons"][0];
        for error in [&failed["error"], &reason["error"]] {
            assert_eq!(error["message"], "declined");
            assert_eq!((error.get("cause"), error.get("stack")), (None, None));
        }
        assert_eq!(reason.get("causedBy"), None, "{why}");
    });
}

// B610
#[test]
fn state_and_full_tokens_show_the_steps_and_only_full_ones_the_input() {
    with_site(async |site| {
        for (view, input) in [("state", json!(null)), ("full", json!(700))] {
            let token = site.token("mine", view).await;
            let run = site.get(&token, "/workflows/mine").await.json();
            assert_eq!(run["input"], input, "{view}");
            assert_eq!(run["tags"], json!(["vip"]));
            assert_eq!(run["steps"][0]["result"], "internal");
            assert_eq!(names(&run["rpcs"], "method"), ["approve", "audit"]);
            let why = site.get(&token, "/workflows/mine/why").await.json();
            assert_eq!(names(&why["reasons"], "method"), ["approve", "audit"]);
        }
    });
}

// B610
#[test]
fn a_token_reads_the_generation_that_it_is_for_by_its_address() {
    with_site(async |site| {
        let token = site.token("mine", "client").await;
        for (path, status) in [
            ("/workflows/mine@1", 200),
            ("/workflows/mine@1/why", 200),
            // The token is good for generations to come.
            ("/workflows/mine@2", 404),
            ("/workflows/lost@1", 403),
            ("/workflows/mine@1/timeline", 403),
            ("/workflows/mine/shape", 403),
        ] {
            assert_eq!(site.get(&token, path).await.status, status, "{path}");
        }
        let full = site.token("mine", "full").await;
        for path in ["/workflows/mine@1/timeline", "/workflows/mine/shape"] {
            assert_eq!(site.get(&full, path).await.status, 200, "{path}");
        }
    });
}

// B763
#[test]
fn the_stream_of_a_client_token_shows_the_rpcs_of_its_methods() {
    with_site(async |site| {
        let token = site.token("mine", "client").await;
        let path = "/v1/stream/workflows/mine?view=client&offset=-1";
        let methods = |page: &Response| {
            let page = page.json();
            let changes = page.as_array().unwrap().iter();
            let asked = changes.filter(|it| it["type"] == "rpc" && it["value"].is_object());
            asked
                .map(|it| it["value"]["method"].clone())
                .collect::<Vec<_>>()
        };
        let seen = site.get(&token, path).await;
        assert_eq!(methods(&seen), ["approve"]);
        let all = site.get(&site.key, path).await;
        assert_eq!(methods(&all), ["approve", "audit"]);
        assert_ne!(seen.header("etag"), all.header("etag"));
        // Neither does it show that the other rpcs end.
        let run = site.get(&site.key, "/workflows/mine").await.json();
        for rpc in run["rpcs"].as_array().unwrap() {
            let path = format!("/workflows/mine/rpc/{}", rpc["id"].as_str().unwrap());
            site.call(&site.key, "POST", &path, &json!(true)).await;
        }
        site.test.advance(secs(1)).await;
        let page = site.get(&token, path).await.json();
        let changes = page.as_array().unwrap().iter();
        let rpcs: Vec<_> = changes.filter(|it| it["type"] == "rpc").collect();
        let operations: Vec<_> = rpcs.iter().map(|it| &it["headers"]["operation"]).collect();
        assert_eq!(operations, ["insert", "delete"], "{rpcs:?}");
        assert_eq!(rpcs[0]["key"], rpcs[1]["key"]);
    });
}
