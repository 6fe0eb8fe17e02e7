//! Open responses end when the key or the token of their request ends.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use everstep::testing::{VirtualRuntime, virtual_time};
use everstep::{AnyEvent, Ctx, Engine, EngineBuilder, Payload, Result, Workflows};
use everstep_model::RunStatus;
use everstep_protocol::access::{CreateKey, CreatedKey, Scope};
use everstep_server::{Keys, Options, router};
use everstep_store::MemoryStore;
use futures_util::future::join_all;
use serde_json::json;

use crate::support::{JSON, Response, TEXT, send};

/// Waits for an hour.
async fn patient(ctx: Ctx<AnyEvent>, (): ()) -> Result<()> {
    ctx.sleep("nap", Duration::from_secs(3_600)).await
}

struct Site {
    engine: Engine,
    app: Router,
    backend: CreatedKey,
    admin: CreatedKey,
}

/// Starts a server on which open requests would last an hour.
async fn site() -> Site {
    site_on(Engine::in_memory()).await
}

async fn site_on(engine: EngineBuilder) -> Site {
    const LONG: Duration = Duration::from_secs(3_600);
    let engine = engine.workflows(Workflows::new().function("patient", patient));
    let engine = engine.start().await.unwrap();
    let run = engine.start_by_name("patient", Payload::null());
    let run = run.id("r").await.unwrap();
    while run.inspect().await.unwrap().row.status != RunStatus::Sleeping {
        tokio::task::yield_now().await;
    }
    let mut options = Options::default();
    options.sse_lifetime = LONG;
    options.long_poll_timeout = LONG;
    options.wait_max = LONG;
    let request = CreateKey::new("backend", [Scope::Read, Scope::Send]);
    let backend = Keys::of(&engine).create(request, None).await.unwrap();
    let admin = CreateKey::new("ops", [Scope::Admin]);
    let admin = Keys::of(&engine).create(admin, None).await.unwrap();
    let app = router(&engine, options);
    let site = Site {
        engine,
        app,
        backend,
        admin,
    };
    let created = site.call(&site.backend.key, "PUT", "/v1/stream/a").await;
    assert_eq!(created.status, 201);
    site
}

impl Site {
    async fn call(&self, bearer: &str, method: &str, path: &str) -> Response {
        let bearer = format!("Bearer {bearer}");
        let headers = [TEXT, ("Authorization", bearer.as_str())];
        send(&self.app, method, path, &headers, "x").await
    }

    /// Creates a token with the backend's key.
    async fn token(&self, path: &str, body: serde_json::Value) -> String {
        let bearer = format!("Bearer {}", self.backend.key);
        let headers = [JSON, ("Authorization", bearer.as_str())];
        let minted = send(&self.app, "POST", path, &headers, body.to_string()).await;
        minted.json()["token"].as_str().unwrap().to_owned()
    }

    /// Runs requests that stay open until `end` has ended their key or token.
    async fn open_until(
        &self,
        requests: &[(&str, &str)],
        end: impl Future<Output = ()>,
    ) -> Vec<Response> {
        let requests = requests.iter();
        let open = requests.map(|(bearer, path)| self.call(bearer, "GET", path));
        let (responses, ()) = tokio::join!(join_all(open), end);
        responses
    }
}

const JOURNAL: &str = "/v1/stream/workflows/r";

// B443
#[test]
fn revoking_a_key_ends_its_open_requests_and_those_of_its_tokens() {
    virtual_time(async {
        let runtime = Arc::new(VirtualRuntime::new(1));
        let store = MemoryStore::new(runtime.clone());
        let site = site_on(Engine::on_store(Arc::new(store)).runtime(runtime)).await;
        revoke_a_key(site).await;
    });
}

/// Revokes a key with open requests, which end within a second.
async fn revoke_a_key(site: Site) {
    let key = site.backend.key.as_str();
    let of_run = site
        .token("/tokens", json!({"run": "r", "view": "full"}))
        .await;
    let of_stream = site.token("/tokens/streams", json!({"stream": "a"})).await;
    let journal_events = format!("{JOURNAL}?offset=-1&live=sse");
    let journal_poll = format!("{JOURNAL}?offset=now&live=long-poll");
    let requests = [
        (key, "/v1/stream/a?offset=-1&live=sse"),
        (of_run.as_str(), journal_events.as_str()),
        (of_stream.as_str(), "/v1/stream/a?offset=-1&live=sse"),
        (key, "/v1/stream/a?offset=now&live=long-poll"),
        (key, "/workflows/r?wait=50m"),
        (of_run.as_str(), journal_poll.as_str()),
        (of_run.as_str(), "/workflows/r?wait=50m"),
        (of_stream.as_str(), "/v1/stream/a?offset=now&live=long-poll"),
    ];
    let revoke = async {
        // Another node on the same store revokes it.
        let keys = Keys::of(&site.engine);
        assert!(keys.revoke(&site.backend.view.id).await.unwrap());
    };
    let began = tokio::time::Instant::now();
    let responses = site.open_until(&requests, revoke).await;
    assert!(
        began.elapsed() <= Duration::from_secs(1),
        "{:?}",
        began.elapsed()
    );
    for ((_, path), response) in requests.iter().zip(&responses) {
        match path.contains("live=sse") {
            // Its head was sent before.
            true => assert!([200, 401].contains(&response.status.as_u16()), "{path}"),
            false => assert_eq!(response.status, 401, "{path}"),
        }
    }
    site.engine.shutdown().await;
}

// B444
#[tokio::test]
async fn replacing_the_signing_secret_ends_all_tokens_and_no_key() {
    let site = site().await;
    let token = site.token("/tokens", json!({"run": "r"})).await;
    let events = format!("{JOURNAL}?offset=-1&live=sse");
    let poll = format!("{JOURNAL}?offset=now&live=long-poll");
    let requests = [(token.as_str(), events.as_str()), (&token, poll.as_str())];
    let rotate = async {
        let rotated = site
            .call(&site.admin.key, "POST", "/keys/rotate-secret")
            .await;
        assert_eq!(rotated.status, 204);
    };
    let responses = site.open_until(&requests, rotate).await;
    assert_eq!(responses[1].status, 401);
    assert_eq!(responses[1].json()["code"], "unauthenticated");
    let read = format!("{JOURNAL}?offset=-1");
    assert_eq!(site.call(&token, "GET", &read).await.status, 401);
    assert_eq!(site.call(&site.backend.key, "GET", &read).await.status, 200);

    // Another node has used the old secret, and signs and verifies with the new one.
    let other = router(&site.engine, Options::default());
    let other = Site {
        engine: site.engine.clone(),
        app: other,
        backend: site.backend.clone(),
        admin: site.admin.clone(),
    };
    let of_other = other.token("/tokens", json!({"run": "r"})).await;
    assert_eq!(site.call(&of_other, "GET", &read).await.status, 200);
    Keys::of(&site.engine).rotate_secret().await.unwrap();
    let newest = other.token("/tokens", json!({"run": "r"})).await;
    for node in [&site, &other] {
        // A node that has just read the secret does not read it again at once.
        while node.call(&newest, "GET", &read).await.status == 401 {
            tokio::task::yield_now().await;
        }
        assert_eq!(node.call(&newest, "GET", &read).await.status, 200);
    }
    while other.call(&of_other, "GET", &read).await.status == 200 {
        tokio::task::yield_now().await;
    }
    site.engine.shutdown().await;
}
