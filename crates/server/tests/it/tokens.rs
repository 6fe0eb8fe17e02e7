//! Run tokens over sockets: valid for one run, the events and rpcs they name, and a limited time.

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use everstep::schemars::{self, JsonSchema};
use everstep::{AnyEvent, Ctx, Engine, Event, Payload, Result, Workflows};
use everstep_model::ErrorCode;
use everstep_protocol::Secret;
use everstep_protocol::access::{CreateKey, MintToken, MintedToken, Scope, View};
use everstep_protocol::client::{Call, CallError, Connection};
use everstep_protocol::workflow::EventAnswer;
use everstep_server::{Connections, Keys, Options, router};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::listening::listen;

#[derive(Debug, serde::Serialize, serde::Deserialize, JsonSchema)]
struct Note(Value);

impl Event for Note {
    const NAME: &'static str = "note";
}

/// Waits for two notes.
async fn patient(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    ctx.event::<Note>().await?;
    ctx.event::<Note>().await?;
    Ok(2)
}

struct Site {
    engine: Engine,
    url: String,
    key_id: String,
    /// A client with a key for `read` and `send`.
    backend: Connection,
}

async fn site() -> Site {
    let engine = Engine::in_memory().workflows(Workflows::new().function("patient", patient));
    let engine = engine.start().await.unwrap();
    let request = CreateKey::new("backend", [Scope::Read, Scope::Send]);
    let key = Keys::of(&engine).create(request, None).await.unwrap();
    let app = router(&engine, Options::default());
    let address = listen(app, Connections::default()).await;
    let url = format!("http://{address}");
    let backend = Connection::to(&url).unwrap();
    for id in ["mine", "other"] {
        let run = engine.start_by_name("patient", Payload::null());
        run.id(id).await.unwrap();
    }
    Site {
        engine,
        key_id: key.view.id,
        backend: backend.with_key(&key.key.into()).unwrap(),
        url,
    }
}

impl Site {
    async fn token(&self, change: impl FnOnce(&mut MintToken)) -> MintedToken {
        let mut request = MintToken {
            run: "mine".to_owned(),
            view: View::Client,
            rpcs: Vec::new(),
            events: vec!["note".to_owned()],
            subject: None,
            lifetime: None,
        };
        change(&mut request);
        self.backend.post("tokens", &request).await.unwrap()
    }

    fn with(&self, token: &str) -> Connection {
        let connection = Connection::to(&self.url).unwrap();
        connection.with_key(&Secret::new(token)).unwrap()
    }
}

async fn code_of(connection: &Connection, path: &str) -> Option<ErrorCode> {
    match connection.send(Call::get(path)).await {
        Ok(_) => None,
        Err(error) => Some(error.code().unwrap()),
    }
}

#[tokio::test]
async fn a_token_reads_only_its_view_of_its_run() {
    let site = site().await;
    let minted = site.token(|_| {}).await;
    assert_eq!(minted.stream, "/v1/stream/workflows/mine");
    let browser = site.with(&minted.token);
    let forbidden = Some(ErrorCode::Forbidden);
    for (path, expected) in [
        ("v1/stream/workflows/mine?offset=-1", None),
        ("v1/stream/workflows/mine?offset=-1&view=client", None),
        ("v1/stream/workflows/mine?offset=-1&view=full", forbidden),
        ("v1/stream/workflows/mine?offset=-1&view=state", forbidden),
        ("v1/stream/workflows/other?offset=-1", forbidden),
        // The token is good for generations to come.
        (
            "v1/stream/workflows/mine@2?offset=-1",
            Some(ErrorCode::StreamMissing),
        ),
        ("v1/stream/a?offset=-1", forbidden),
        ("workflows/mine", None),
        ("workflows/mine/timeline", forbidden),
        ("workflows", forbidden),
        ("workflows/mine/journal", forbidden),
        ("keys", forbidden),
    ] {
        assert_eq!(code_of(&browser, path).await, expected, "{path}");
    }
    let full = site.token(|request| request.view = View::Full).await;
    let full = site.with(&full.token);
    assert_eq!(code_of(&full, "workflows/mine").await, None);
    assert_eq!(code_of(&full, "workflows/other").await, forbidden);
    site.engine.shutdown().await;
}

#[tokio::test]
async fn a_token_sends_what_it_names_by_api_and_by_journal() {
    let site = site().await;
    let browser = site.with(&site.token(|_| {}).await.token);
    let sent: EventAnswer = browser
        .post("workflows/mine/events/note", &json!("hello"))
        .await
        .unwrap();
    assert_eq!(serde_json::to_value(sent.outcome).unwrap(), "accepted");
    for path in ["workflows/mine/events/other", "workflows/other/events/note"] {
        let refused = browser.post::<Value>(path, &json!(1)).await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::Forbidden), "{path}");
    }
    let record =
        |name: &str| json!({"type": "workflow:event", "value": {"name": name, "payload": 1}});
    let journal = "v1/stream/workflows/mine";
    let other = browser.post::<()>(journal, &record("other")).await;
    assert_eq!(other.unwrap_err().code(), Some(ErrorCode::Forbidden));
    browser.post::<()>(journal, &record("note")).await.unwrap();
    let run = site.engine.run("mine").await.unwrap();
    assert_eq!(run.wait_json().await.unwrap().as_str(), "2");
    site.engine.shutdown().await;
}

// B441
#[tokio::test]
async fn the_journal_names_the_subject_of_a_token() {
    let site = site().await;
    let ada = site.token(|request| request.subject = Some("Ada".to_owned()));
    let browser = site.with(&ada.await.token);
    let event = "workflows/mine/events/note";
    browser.post::<Value>(event, &json!(1)).await.unwrap();
    let record = json!({"type": "workflow:event", "value": {"name": "note", "payload": 1}});
    let journal = "v1/stream/workflows/mine";
    browser.post::<()>(journal, &record).await.unwrap();
    let run = site.engine.run("mine").await.unwrap();
    let timeline = run.timeline().await.unwrap();
    let actors = timeline.iter().filter_map(|line| line.by.as_deref());
    assert_eq!(actors.collect::<Vec<_>>(), ["Ada", "Ada"]);
    for wrong in [String::new(), "a\nb".to_owned(), "x".repeat(10_000)] {
        let body = json!({"run": "mine", "subject": wrong});
        let minted = site.backend.post::<Value>("tokens", &body).await;
        let code = minted.unwrap_err().code();
        assert_eq!(code, Some(ErrorCode::InvalidOptions), "{wrong:?}");
    }
    site.engine.shutdown().await;
}

#[tokio::test]
async fn a_modified_token_is_rejected() {
    let site = site().await;
    let token = site.token(|_| {}).await.token;
    let (content, signature) = token.rsplit_once('.').unwrap();
    let other = site
        .token(|request| request.run = "other".to_owned())
        .await
        .token;
    let (_, others_signature) = other.rsplit_once('.').unwrap();
    for forged in [
        format!("{content}.{others_signature}"),
        format!("{content}."),
        format!("{content}.{}", signature.to_lowercase()),
        format!("{}.{signature}", content.replace('e', "f")),
        content.to_owned(),
    ] {
        let code = code_of(&site.with(&forged), "v1/stream/workflows/mine?offset=-1").await;
        assert_eq!(code, Some(ErrorCode::Unauthenticated), "{forged}");
    }
    site.engine.shutdown().await;
}

#[tokio::test]
async fn open_responses_end_when_the_token_expires() {
    let site = site().await;
    let token = site
        .token(|request| request.lifetime = Some("400ms".to_owned()))
        .await;
    let browser = site.with(&token.token);
    // Without the token, both would stay open for half a minute or more.
    let waiting = browser.send(Call::get(
        "v1/stream/workflows/mine?offset=now&live=long-poll",
    ));
    let open = browser.send(Call::get("v1/stream/workflows/mine?offset=-1&live=sse"));
    let (waiting, open) = tokio::join!(waiting, open);
    assert_eq!(waiting.unwrap_err().code(), Some(ErrorCode::TokenExpired));
    let events = String::from_utf8(open.unwrap().body.to_vec()).unwrap();
    assert!(events.contains("event: control"), "{events}");
    let code = code_of(&browser, "v1/stream/workflows/mine?offset=-1").await;
    assert_eq!(code, Some(ErrorCode::TokenExpired));
    site.engine.shutdown().await;
}

#[tokio::test]
async fn revoking_a_key_revokes_its_tokens() {
    let site = site().await;
    let browser = site.with(&site.token(|_| {}).await.token);
    let journal = "v1/stream/workflows/mine?offset=-1";
    assert_eq!(code_of(&browser, journal).await, None);
    // Another node on the same store revokes the key; this one notices within a second.
    assert!(Keys::of(&site.engine).revoke(&site.key_id).await.unwrap());
    while code_of(&browser, journal).await.is_none() {
        tokio::task::yield_now().await;
    }
    let code = code_of(&browser, journal).await;
    assert_eq!(code, Some(ErrorCode::Unauthenticated));
    site.engine.shutdown().await;
}

#[tokio::test]
async fn a_token_cannot_exceed_the_rights_of_its_creator() {
    let site = site().await;
    let request = CreateKey::new("reader", [Scope::Read]);
    let reader = Keys::of(&site.engine).create(request, None).await.unwrap();
    let reader = site.with(&reader.key);
    let mint = async |connection: &Connection, body: Value| {
        let minted = connection.post::<Value>("tokens", &body).await;
        minted.map_err(|error: CallError| error.code().unwrap())
    };
    let plain = json!({"run": "mine"});
    let acting = json!({"run": "mine", "events": ["note"]});
    assert!(mint(&reader, plain.clone()).await.is_ok());
    assert_eq!(mint(&reader, acting).await, Err(ErrorCode::Forbidden));
    for (body, code) in [
        (json!({"run": "missing"}), ErrorCode::UnknownRun),
        (
            json!({"run": "mine", "lifetime": "1h"}),
            ErrorCode::InvalidOptions,
        ),
        (
            json!({"run": "mine", "lifetime": "soon"}),
            ErrorCode::InvalidOptions,
        ),
        (
            json!({"run": "mine", "scope": "admin"}),
            ErrorCode::Undecodable,
        ),
    ] {
        assert_eq!(mint(&site.backend, body.clone()).await, Err(code), "{body}");
    }
    let browser = site.with(&site.token(|_| {}).await.token);
    assert_eq!(mint(&browser, plain).await, Err(ErrorCode::Forbidden));
    site.engine.shutdown().await;
}

/// Returns a body that restarts the run when it is read, after the request was authorized.
fn restarting_first(engine: &Engine, json: &Value) -> Body {
    let (engine, json) = (engine.clone(), json.to_string());
    let sent = futures_util::stream::once(async move {
        let run = engine.run("mine").await.unwrap();
        run.restart().await.unwrap();
        Ok::<_, std::convert::Infallible>(json)
    });
    Body::from_stream(sent)
}

// B765
#[tokio::test]
async fn a_token_follows_its_run_into_later_generations() {
    let site = site().await;
    let browser = site.with(&site.token(|_| {}).await.token);
    let run = site.engine.run("mine").await.unwrap();
    run.restart().await.unwrap();
    let forbidden = Some(ErrorCode::Forbidden);
    let later = site.with(&site.token(|_| {}).await.token);
    for (path, first, second) in [
        ("v1/stream/workflows/mine?offset=-1", None, forbidden),
        ("v1/stream/workflows/mine@2?offset=-1", None, None),
        ("workflows/mine@1", None, forbidden),
        ("workflows/mine", None, None),
        ("workflows/mine/why", None, None),
    ] {
        assert_eq!(code_of(&browser, path).await, first, "{path}");
        assert_eq!(code_of(&later, path).await, second, "{path}");
    }
    let record = json!({"type": "workflow:event", "value": {"name": "note", "payload": 1}});
    let journal = "v1/stream/workflows/mine@2";
    browser.post::<()>(journal, &record).await.unwrap();
    let event = "workflows/mine/events/note";
    browser.post::<Value>(event, &json!(2)).await.unwrap();
    assert_eq!(run.wait_json().await.unwrap().as_str(), "2");
    site.engine.shutdown().await;
}

#[tokio::test]
async fn what_is_meant_for_one_generation_does_not_reach_a_later_one() {
    for (path, body) in [
        ("/workflows/mine/events/note", json!(1)),
        (
            "/v1/stream/workflows/mine",
            json!({"type": "workflow:event", "value": {"name": "note", "payload": 1}}),
        ),
    ] {
        let site = site().await;
        let token = site.token(|_| {}).await.token;
        let app = router(&site.engine, Options::default());
        let request = Request::post(path)
            .header("authorization", format!("Bearer {token}"))
            .header("content-type", "application/json")
            .body(restarting_first(&site.engine, &body));
        let answer = app.oneshot(request.unwrap()).await.unwrap();
        assert_eq!(answer.status(), StatusCode::CONFLICT, "{path}");
        let problem = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        let problem: Value = serde_json::from_slice(&problem).unwrap();
        assert_eq!(problem["code"], "run_finished", "{path}: {problem}");
        let run = site.engine.run("mine").await.unwrap();
        let journal = run.journal().await.unwrap();
        let mut kinds = journal.iter().map(|entry| entry.record.body.type_name());
        assert!(!kinds.any(|kind| kind == "event"), "{path}");
        site.engine.shutdown().await;
    }
}

// B848
#[tokio::test]
async fn a_token_ends_with_the_deletion_of_its_run() {
    let site = site().await;
    let full = |request: &mut MintToken| request.view = View::Full;
    let browser = site.with(&site.token(full).await.token);
    let forbidden = Some(ErrorCode::Forbidden);
    assert_eq!(code_of(&browser, "workflows/mine").await, None);
    let run = site.engine.run("mine").await.unwrap();
    run.delete().await.unwrap();
    let gone = code_of(&browser, "workflows/mine").await;
    assert_eq!(gone, forbidden);
    let run = site.engine.start_by_name("patient", Payload::null());
    run.id("mine").await.unwrap();
    for path in [
        "workflows/mine",
        "workflows/mine@1",
        "workflows/mine/why",
        "workflows/mine/timeline",
        "v1/stream/workflows/mine?offset=-1",
    ] {
        assert_eq!(code_of(&browser, path).await, forbidden, "{path}");
    }
    let event = "workflows/mine/events/note";
    let sent = browser.post::<Value>(event, &json!(1)).await.unwrap_err();
    assert_eq!(sent.code(), forbidden);
    let record = json!({"type": "workflow:event", "value": {"name": "note", "payload": 1}});
    let journal = "v1/stream/workflows/mine";
    let appended = browser.post::<()>(journal, &record).await.unwrap_err();
    assert_eq!(appended.code(), forbidden);
    let later = site.with(&site.token(full).await.token);
    assert_eq!(code_of(&later, "workflows/mine").await, None);
    site.engine.shutdown().await;
}
