//! Tests with local sockets and canned responses.

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::*;
use crate::secret::Secret;

/// Accepts one connection, sends one of these responses per request, and returns the requests.
async fn server(answers: Vec<String>) -> (Connection, mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/base/", listener.local_addr().unwrap());
    let (sender, requests) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        for answer in answers {
            let _ = sender.send(request(&mut socket).await);
            socket.write_all(answer.as_bytes()).await.unwrap();
        }
        // Keep the connection open for clients that wait.
        std::future::pending::<()>().await;
    });
    (Connection::to(&url).unwrap(), requests)
}

/// Reads one request: its head, and a body of the announced length.
async fn request(socket: &mut TcpStream) -> String {
    let mut text = String::new();
    loop {
        let mut buffer = [0; 1_024];
        let count = socket.read(&mut buffer).await.unwrap();
        text.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            (name.eq_ignore_ascii_case("content-length")).then(|| value.parse().unwrap())
        });
        if body.len() >= length.unwrap_or(0) || count == 0 {
            return text;
        }
    }
}

fn answer(status: &str, kind: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[tokio::test]
async fn one_connection_serves_many_calls_and_carries_the_key() {
    let success = answer("200 OK", "application/json", r#"{"n":1}"#);
    let (connection, mut requests) = server(vec![success.clone(), success]).await;
    let connection = connection.with_key(&Secret::new("evk_1")).unwrap();
    let first: Value = connection.post("/a", &json!({"x": true})).await.unwrap();
    assert_eq!(first, json!({"n": 1}));
    let sent = requests.recv().await.unwrap();
    assert!(sent.starts_with("POST /base/a HTTP/1.1\r\n"), "{sent}");
    assert!(sent.contains("authorization: Bearer evk_1\r\n"), "{sent}");
    assert!(sent.ends_with("{\"x\":true}"), "{sent}");
    let second: Value = connection.get("b?c=1").await.unwrap();
    assert_eq!(second, json!({"n": 1}));
    let sent = requests.recv().await.unwrap();
    assert!(sent.starts_with("GET /base/b?c=1 HTTP/1.1\r\n"), "{sent}");
}

#[tokio::test]
async fn a_rejected_request_returns_the_problem() {
    let problem = r#"{"title":"Conflict","status":409,"detail":"it is taken","code":"run_exists"}"#;
    let (connection, _requests) = server(vec![
        answer("409 Conflict", "application/problem+json", problem),
        answer("502 Bad Gateway", "text/html", "<h1>sorry</h1>"),
        answer("200 OK", "text/html", "<h1>welcome</h1>"),
    ])
    .await;
    let refused = connection.get::<Value>("a").await.unwrap_err();
    assert_eq!(refused.status(), Some(409));
    assert_eq!(refused.code(), Some(everstep_model::ErrorCode::RunExists));
    assert_eq!(refused.to_string(), "it is taken");
    for expected in ["502 Bad Gateway <h1>sorry</h1>", "expected value"] {
        let unexpected = connection.get::<Value>("a").await.unwrap_err();
        assert!(matches!(unexpected, CallError::UnexpectedResponse { .. }));
        assert!(unexpected.to_string().contains(expected), "{unexpected}");
    }
}

#[tokio::test]
async fn a_refused_connection_is_reported_with_a_remedy() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = Connection::to(&url).unwrap().get::<Value>("a").await;
    let CallError::Transport(error) = error.unwrap_err() else {
        panic!("not a transport error");
    };
    assert!(error.was_never_sent());
    let message = error.to_string();
    assert!(
        message.starts_with(&format!("nothing listens at {url};")),
        "{message}"
    );
    assert!(message.contains("everstep dev"), "{message}");
}

#[tokio::test]
async fn a_slow_server_times_out() {
    let (connection, _requests) = server(vec![String::new()]).await;
    let call = Call::get("slow").timeout(Duration::from_millis(20));
    let error = connection.send(call).await.unwrap_err();
    let CallError::Transport(error) = error else {
        panic!("not a transport error");
    };
    assert!(matches!(error, TransportError::TimedOut { .. }), "{error}");
    assert!(!error.was_never_sent());
}

#[tokio::test]
async fn https_to_a_plain_http_server_is_reported() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let _hello = socket.read(&mut [0; 1_024]).await.unwrap();
        let message = answer("400 Bad Request", "text/plain", "");
        socket.write_all(message.as_bytes()).await.unwrap();
    });
    let error = Connection::to(&url).unwrap().get::<Value>("a").await;
    let message = error.unwrap_err().to_string();
    assert!(
        message.starts_with(&format!("no secure connection to {url}")),
        "{message}"
    );
    assert!(message.contains("does it speak http instead"), "{message}");
}

#[tokio::test]
async fn invalid_urls_are_refused() {
    for url in [
        "",
        "localhost:4437",
        "ftp://localhost",
        "http://localhost/?a=1",
        "http://user:pw@localhost",
        "http://",
    ] {
        let error = Connection::to(url).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("http://localhost:4437"), "{url}");
    }
}

#[tokio::test]
async fn the_transport_can_be_replaced() {
    struct Echo;
    impl Transport for Echo {
        fn call(
            &self,
            request: http::Request<bytes::Bytes>,
        ) -> futures_util::future::BoxFuture<
            'static,
            Result<http::Response<bytes::Bytes>, TransportError>,
        > {
            let body = format!("\"{} {}\"", request.method(), request.uri());
            Box::pin(async move { Ok(http::Response::new(body.into())) })
        }
    }
    let connection = Connection::over(Arc::new(Echo), "http://sim").unwrap();
    let call = Call::new(Method::DELETE, format!("a/{}", segment("b/c ?")));
    let message: String = connection.send(call).await.unwrap().json().unwrap();
    assert_eq!(message, "DELETE http://sim/a/b%2Fc%20%3F");
}
