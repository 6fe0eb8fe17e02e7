//! Stream tokens: valid for one stream or for a beginning of paths, to read or to append.

use axum::Router;
use everstep::Engine;
use everstep_protocol::access::{CreateKey, CreatedKey, Scope};
use everstep_server::{Keys, Options, router};
use serde_json::{Value, json};

use crate::support::{JSON, Response, TEXT, send};

struct Site {
    engine: Engine,
    app: Router,
    /// A key that reads and appends to streams below `chat/`.
    backend: CreatedKey,
    /// A key that only reads, everything.
    reader: CreatedKey,
}

async fn site() -> Site {
    let engine = Engine::in_memory().start().await.unwrap();
    let keys = Keys::of(&engine);
    let request = CreateKey {
        streams: vec!["chat/".to_owned()],
        ..CreateKey::new("backend", [Scope::Read, Scope::Send])
    };
    let backend = keys.create(request, None).await.unwrap();
    let request = CreateKey::new("reader", [Scope::Read]);
    let site = Site {
        reader: keys.create(request, None).await.unwrap(),
        app: router(&engine, Options::default()),
        engine,
        backend,
    };
    for path in ["chat/7", "chat/77"] {
        let created = site.call(&site.backend.key, "PUT", path, &[]).await;
        assert_eq!(created.status, 201);
    }
    site
}

impl Site {
    async fn call(
        &self,
        bearer: &str,
        method: &str,
        path: &str,
        more: &[(&str, &str)],
    ) -> Response {
        let authorization = format!("Bearer {bearer}");
        let mut headers = vec![TEXT, ("Authorization", authorization.as_str())];
        headers.extend_from_slice(more);
        let path = format!("/v1/stream/{path}");
        send(&self.app, method, &path, &headers, "x").await
    }

    async fn mint(&self, key: &str, body: Value) -> Response {
        let authorization = format!("Bearer {key}");
        let headers = [JSON, ("Authorization", authorization.as_str())];
        let path = "/tokens/streams";
        send(&self.app, "POST", path, &headers, body.to_string()).await
    }

    async fn token(&self, body: Value) -> String {
        let minted = self.mint(&self.backend.key, body).await;
        assert_eq!(minted.status, 201, "{minted:?}");
        minted.json()["token"].as_str().unwrap().to_owned()
    }
}

// B442
#[tokio::test]
async fn a_stream_token_reads_or_appends_to_what_it_names() {
    let site = site().await;
    let reader = site.token(json!({"stream": "chat/7"})).await;
    let writer = site.token(json!({"prefix": "chat/", "allows": ["append"]}));
    let writer = writer.await;
    for (token, method, path, status) in [
        (&reader, "GET", "chat/7?offset=-1", 200),
        (&reader, "HEAD", "chat/7", 200),
        (&reader, "GET", "chat/77?offset=-1", 403),
        (&reader, "POST", "chat/7", 403),
        (&writer, "POST", "chat/7", 204),
        (&writer, "POST", "chat/77", 204),
        (&writer, "GET", "chat/7?offset=-1", 403),
        (&writer, "POST", "chats", 403),
        (&writer, "PUT", "chat/8", 403),
        (&writer, "DELETE", "chat/7", 403),
        (&writer, "GET", "workflows/a?offset=-1", 403),
    ] {
        let answer = site.call(token, method, path, &[]).await;
        assert_eq!(answer.status, status, "{method} {path}");
    }
    let closed = [("Stream-Closed", "true")];
    let closing = site.call(&writer, "POST", "chat/7", &closed).await;
    assert_eq!(closing.status, 403, "only keys end streams");

    // Another node on the same store revokes the key.
    let id = &site.backend.view.id;
    Keys::of(&site.engine).revoke(id).await.unwrap();
    let read = || site.call(&reader, "GET", "chat/7?offset=-1", &[]);
    let mut after = read().await;
    while after.status == 200 {
        tokio::task::yield_now().await;
        after = read().await;
    }
    assert_eq!(after.json()["code"], "unauthenticated");
    site.engine.shutdown().await;
}

// B442
#[tokio::test]
async fn a_stream_token_cannot_exceed_the_rights_of_its_creator() {
    let site = site().await;
    let (reader, backend) = (&site.reader.key, &site.backend.key);
    let token = site.token(json!({"stream": "chat/7"})).await;
    for (creator, body, status) in [
        (reader, json!({"stream": "a"}), 201),
        (reader, json!({"stream": "a", "allows": ["append"]}), 403),
        (backend, json!({"stream": "other"}), 403),
        (backend, json!({"prefix": "chat"}), 403),
        (&token, json!({"stream": "chat/7"}), 403),
        (reader, json!({"prefix": "workflows/"}), 403),
        (reader, json!({"stream": "a", "prefix": "b"}), 400),
        (reader, json!({}), 400),
        (reader, json!({"prefix": ""}), 400),
    ] {
        let minted = site.mint(creator, body.clone()).await;
        assert_eq!(minted.status, status, "{body} {minted:?}");
    }
    site.engine.shutdown().await;
}
