//! Live reads of journals.

use axum::body::to_bytes;
use axum::http::Request;
use everstep::secs;
use serde_json::Value;
use tower::ServiceExt;

use crate::support::send;
use crate::workflows::support::{Served, served};

async fn end_of(served: &Served, id: &str) -> String {
    let head = send(
        &served.app,
        "HEAD",
        &format!("/v1/stream/workflows/{id}"),
        &[],
        "",
    )
    .await;
    head.header("stream-next-offset").to_owned()
}

#[test]
fn a_long_poll_returns_only_for_records_that_the_view_shows() {
    served(async |served| {
        served.start("discreet", "d", "null").await;
        served.wait_for_status("d", "waiting").await;
        let from = end_of(&served, "d").await;
        let address = format!("/v1/stream/workflows/d?view=client&live=long-poll&offset={from}");
        let (nothing, _) = tokio::join!(
            served.get(&address),
            served.post("/workflows/d/events/other", "1")
        );
        assert_eq!(nothing.status, 204);
        let moved = nothing.header("stream-next-offset").to_owned();
        assert!(moved > from, "{moved}");
        let address = format!("/v1/stream/workflows/d?view=client&live=long-poll&offset={moved}");
        let (status, _) = tokio::join!(served.get(&address), served.post("/workflows/d/pause", ""));
        assert_eq!(status.status, 200);
        assert_eq!(status.header("cache-control"), "private");
        assert_eq!(status.json()[0]["value"]["status"], "pausing");
        let full = format!("/v1/stream/workflows/d?live=long-poll&offset={from}");
        let event = served.get(&full).await.json();
        assert_eq!(event[0]["type"], "workflow:event");
    });
}

#[test]
fn a_long_poll_at_the_end_of_a_finished_run_returns_at_once() {
    served(async |served| {
        served.start("nap", "n", "1").await;
        served.wait_for_status("n", "completed").await;
        let from = end_of(&served, "n").await;
        let address = format!("/v1/stream/workflows/n?live=long-poll&offset={from}");
        let closed = served.get(&address).await;
        assert_eq!(
            (closed.status.as_u16(), closed.header("stream-closed")),
            (204, "true")
        );
    });
}

/// Parses an event stream into names and payloads.
async fn events(served: &Served, address: &str) -> Vec<(String, Value)> {
    let request = Request::get(address).header("Host", "localhost:4437");
    let request = request.body(axum::body::Body::empty()).unwrap();
    let response = served.app.clone().oneshot(request).await.unwrap();
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    let text = String::from_utf8(body.to_vec()).unwrap();
    let events = text.split("\n\n").filter(|event| !event.is_empty());
    events
        .map(|event| {
            let (name, data) = event.split_once('\n').unwrap();
            let data = data.strip_prefix("data:").unwrap();
            let name = name.strip_prefix("event: ").unwrap();
            (name.to_owned(), serde_json::from_str(data).unwrap())
        })
        .collect()
}

#[test]
fn an_event_stream_advances_its_offset_past_hidden_records() {
    served(async |served| {
        served.start("discreet", "d", "null").await;
        served.wait_for_status("d", "waiting").await;
        let from = end_of(&served, "d").await;
        let address = format!("/v1/stream/workflows/d?view=client&live=sse&offset={from}");
        let later = async {
            served.test.advance(secs(5)).await;
            served.post("/workflows/d/events/other", "1").await;
            served.test.advance(secs(5)).await;
            served.post("/workflows/d/terminate", "").await;
        };
        let (events, ()) = tokio::join!(events(&served, &address), later);
        let names: Vec<_> = events.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["control", "control", "data", "control"]);
        let offset = |index: usize| events[index].1["streamNextOffset"].as_str().unwrap();
        assert_eq!(offset(0), from);
        assert!(offset(1) > offset(0) && offset(3) > offset(1));
        let changes = events[2].1.as_array().unwrap();
        let end = changes.last().unwrap();
        assert_eq!(end["value"]["status"], "terminated", "{changes:?}");
        assert_eq!(events[3].1["streamClosed"], true);
    });
}
