//! Claims without a response, and claims with notifications about runs that the worker does not
//! have.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use everstep::secs;
use everstep::testing::virtual_time;
use everstep_protocol::client::{RequestTimeout, Transport, TransportError};
use everstep_store::BoxFuture;
use serde_json::{Value, json};

use crate::remote_workers::{Process, TIME_TO_LIVE, served, start};

type Answer = Result<http::Response<Bytes>, TransportError>;

/// Loses the second claim without an error: the worker waits for the response until its timeout.
struct LoseSecondClaim {
    inner: Arc<dyn Transport>,
    claims: AtomicU32,
}

impl Transport for LoseSecondClaim {
    fn call(&self, request: http::Request<Bytes>) -> BoxFuture<'static, Answer> {
        let is_claim = request.uri().path().ends_with("/claim");
        if !is_claim || self.claims.fetch_add(1, Ordering::Relaxed) != 1 {
            return self.inner.call(request);
        }
        let RequestTimeout(timeout) = *request.extensions().get::<RequestTimeout>().unwrap();
        assert!(
            timeout > TIME_TO_LIVE,
            "longer than the lifetime of an idle session"
        );
        Box::pin(async move {
            tokio::time::sleep(timeout).await;
            Err(TransportError::TimedOut {
                address: "http://test".to_owned(),
                timeout,
            })
        })
    }
}

#[test]
fn a_worker_that_waits_for_a_lost_claim_stays_alive() {
    virtual_time(async {
        let (engine, transport) = served().await;
        let transport: Arc<dyn Transport> = Arc::new(LoseSecondClaim {
            inner: transport,
            claims: AtomicU32::new(0),
        });
        let process = Process::start(&transport, 11, 10).await;
        let run = start(&engine, "r").await;
        run.wait_json().await.unwrap();
        assert_eq!(process.begun(), 1, "the run was not taken over");
    });
}

const UNKNOWN: &str = "an unknown token";

/// Sends a notification about an unknown run once the worker has a run, and records what it
/// releases.
struct SendUnknownRun {
    inner: Arc<dyn Transport>,
    has_sent: Arc<AtomicU32>,
    released: Arc<Mutex<Vec<Value>>>,
}

impl Transport for SendUnknownRun {
    fn call(&self, request: http::Request<Bytes>) -> BoxFuture<'static, Answer> {
        let path = request.uri().path().to_owned();
        // Releases are separate requests, or part of an append.
        let request = request.map(|body| {
            let mut body_json: Value = serde_json::from_slice(&body).unwrap_or_default();
            for field in ["tokens", "released"] {
                if let Some(tokens) = body_json.get_mut(field).map(Value::take) {
                    let mut released = self.released.lock().unwrap();
                    released.extend(tokens.as_array().unwrap().clone());
                    body_json[field] = json!([]);
                }
            }
            body_json.to_string().into()
        });
        let (call, has_sent) = (self.inner.call(request), self.has_sent.clone());
        Box::pin(async move {
            let answer = call.await?;
            if !path.ends_with("/claim") || has_sent.load(Ordering::Relaxed) > 0 {
                return Ok(answer);
            }
            let mut claimed: Value = serde_json::from_slice(answer.body()).unwrap();
            let items = claimed["items"].as_array_mut().unwrap();
            if !items.is_empty() {
                has_sent.fetch_add(1, Ordering::Relaxed);
                let news = json!({"token": UNKNOWN, "word": "resumed", "after": 0});
                items.push(json!({"number": 1_000, "news": news}));
            }
            Ok(answer.map(|_| claimed.to_string().into()))
        })
    }
}

#[test]
fn a_notification_about_an_unknown_run_is_answered_with_a_release() {
    virtual_time(async {
        let (engine, transport) = served().await;
        let released = Arc::new(Mutex::default());
        let transport: Arc<dyn Transport> = Arc::new(SendUnknownRun {
            inner: transport,
            has_sent: Arc::default(),
            released: released.clone(),
        });
        let _process = Process::start(&transport, 11, 10).await;
        start(&engine, "r").await;
        tokio::time::sleep(secs(1)).await;
        assert_eq!(*released.lock().unwrap(), [json!(UNKNOWN)]);
    });
}
