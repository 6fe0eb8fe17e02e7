//! The callers that each route admits, written by hand.

use axum::http::Method;
use everstep_protocol::access::Scope;

/// A kind of caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallerKind {
    WithoutKey,
    Malformed,
    ForgedKey,
    RevokedKey,
    Key(Scope),
    ForgedToken,
    ExpiredToken,
    /// A token whose key was revoked.
    TokenOfRevokedKey,
    TokenOfOtherRun,
    TokenOfOldGeneration,
    /// A token for the run, its view `client`, the event `note` and the rpc `approve`.
    ClientToken,
    /// A token for the run and its view `full`, without events and rpcs.
    FullToken,
}

pub(super) const ALL_CALLERS: [CallerKind; 17] = [
    CallerKind::WithoutKey,
    CallerKind::Malformed,
    CallerKind::ForgedKey,
    CallerKind::RevokedKey,
    CallerKind::Key(Scope::Read),
    CallerKind::Key(Scope::Start),
    CallerKind::Key(Scope::Send),
    CallerKind::Key(Scope::Operate),
    CallerKind::Key(Scope::Work),
    CallerKind::Key(Scope::Admin),
    CallerKind::ForgedToken,
    CallerKind::ExpiredToken,
    CallerKind::TokenOfRevokedKey,
    CallerKind::TokenOfOtherRun,
    CallerKind::TokenOfOldGeneration,
    CallerKind::ClientToken,
    CallerKind::FullToken,
];

const READ: CallerKind = CallerKind::Key(Scope::Read);
const START: CallerKind = CallerKind::Key(Scope::Start);
const SEND: CallerKind = CallerKind::Key(Scope::Send);
const WORK: CallerKind = CallerKind::Key(Scope::Work);
const OPERATE: CallerKind = CallerKind::Key(Scope::Operate);
const ADMIN: CallerKind = CallerKind::Key(Scope::Admin);
const STREAM: &str = "/v1/stream/{*path}";
/// The id of the open rpc in the second generation of the run. Ids are deterministic.
const OPEN_RPC: &str = "/workflows/order-7/rpc/rpc_b1b82cad6c9f17fb";

/// Method, route, address, and the callers that are admitted.
pub(super) type Case = (Method, &'static str, &'static str, &'static [CallerKind]);

pub(super) fn cases() -> Vec<Case> {
    let mut cases = stream_cases();
    cases.extend(journal_cases());
    cases.extend(subscription_cases());
    cases.extend([
        (Method::POST, "/keys", "/keys", &[ADMIN][..]),
        (Method::GET, "/keys", "/keys", &[ADMIN]),
        (Method::DELETE, "/keys/{id}", "/keys/0123", &[ADMIN]),
        (Method::POST, "/tokens", "/tokens", &[READ, ADMIN]),
        (Method::GET, "/openapi.json", "/openapi.json", &ALL_CALLERS),
        (Method::GET, "/health/live", "/health/live", &ALL_CALLERS),
        (Method::GET, "/health/ready", "/health/ready", &ALL_CALLERS),
        (Method::GET, "/metrics", "/metrics", &[READ, ADMIN]),
    ]);
    cases.extend(workflow_cases());
    cases.extend(worker_cases());
    cases
}

fn worker_cases() -> Vec<Case> {
    const WORKERS: &[CallerKind] = &[WORK, ADMIN];
    let work = |route, address| (Method::POST, route, address, WORKERS);
    const SESSION: &str = "/v1/workers/{session}";
    vec![
        work("/v1/workers", "/v1/workers"),
        (Method::DELETE, SESSION, "/v1/workers/none", WORKERS),
        work("/v1/workers/{session}/claim", "/v1/workers/none/claim"),
        work("/v1/workers/{session}/append", "/v1/workers/none/append"),
        work("/v1/workers/{session}/read", "/v1/workers/none/read"),
        work(
            "/v1/workers/{session}/heartbeat",
            "/v1/workers/none/heartbeat",
        ),
        work("/v1/workers/{session}/release", "/v1/workers/none/release"),
    ]
}

#[allow(clippy::too_many_lines, reason = "one row for each route")]
fn workflow_cases() -> Vec<Case> {
    const OPERATORS: &[CallerKind] = &[OPERATE, ADMIN];
    const RUN_READERS: &[CallerKind] = &[READ, ADMIN, CallerKind::FullToken];
    const SENDERS: &[CallerKind] = &[SEND, ADMIN, CallerKind::ClientToken];
    let (get, post) = (Method::GET, Method::POST);
    let read = |route, address| (get.clone(), route, address, RUN_READERS);
    let operate = |route, address| (post.clone(), route, address, OPERATORS);
    let send = |route, address| (post.clone(), route, address, SENDERS);
    const EVENT: &str = "/workflows/{id}/events/{name}";
    const RPC: &str = "/workflows/{id}/rpc/{rpc}";
    vec![
        (post.clone(), "/workflows", "/workflows", &[START, ADMIN]),
        (get.clone(), "/workflows", "/workflows", &[READ, ADMIN]),
        (get.clone(), "/types", "/types", &[READ, ADMIN]),
        read("/workflows/{id}", "/workflows/order-7"),
        (
            Method::DELETE,
            "/workflows/{id}",
            "/workflows/none",
            OPERATORS,
        ),
        send(EVENT, "/workflows/order-7/events/note"),
        (
            post.clone(),
            EVENT,
            "/workflows/order-7/events/other",
            &[SEND, ADMIN],
        ),
        (
            post.clone(),
            EVENT,
            "/workflows/order-8/events/note",
            &[SEND, ADMIN],
        ),
        send(RPC, OPEN_RPC),
        (
            post.clone(),
            RPC,
            "/workflows/order-7/rpc/rpc_0",
            &[SEND, ADMIN],
        ),
        operate("/workflows/{id}/pause", "/workflows/order-7/pause"),
        operate("/workflows/{id}/resume", "/workflows/order-7/resume"),
        operate("/workflows/{id}/cancel", "/workflows/order-7/cancel"),
        operate("/workflows/{id}/terminate", "/workflows/order-7/terminate"),
        operate("/workflows/{id}/restart", "/workflows/order-7/restart"),
        (
            post.clone(),
            "/workflows/{id}/fork",
            "/workflows/order-7/fork",
            &[ADMIN],
        ),
        operate("/workflows/{id}/recover", "/workflows/order-7/recover"),
        operate(
            "/workflows/{id}/retry-rollback",
            "/workflows/order-7/retry-rollback",
        ),
        operate("/workflows/{id}/fail", "/workflows/order-7/fail"),
        operate(
            "/workflows/{id}/steps/{step}/skip",
            "/workflows/order-7/steps/a:0/skip",
        ),
        operate(
            "/workflows/{id}/steps/{step}/edit",
            "/workflows/order-7/steps/a:0/edit",
        ),
        operate(
            "/workflows/{id}/steps/{step}/fail",
            "/workflows/order-7/steps/a:0/fail",
        ),
        operate("/bulk", "/bulk"),
        read("/workflows/{id}/why", "/workflows/order-7/why"),
        read("/workflows/{id}/timeline", "/workflows/order-7/timeline"),
        read("/workflows/{id}/shape", "/workflows/order-7/shape"),
        (
            get,
            "/workflows/{id}/journal",
            "/workflows/order-7/journal",
            &[ADMIN],
        ),
    ]
}

fn stream_cases() -> Vec<Case> {
    vec![
        (Method::GET, STREAM, "/v1/stream/a", &[READ, ADMIN]),
        (
            Method::GET,
            STREAM,
            "/v1/stream/a?offset=now&live=long-poll",
            &[READ, ADMIN],
        ),
        (
            Method::GET,
            STREAM,
            "/v1/stream/a?offset=-1&live=sse",
            &[READ, ADMIN],
        ),
        (Method::HEAD, STREAM, "/v1/stream/a", &[READ, ADMIN]),
        (Method::PUT, STREAM, "/v1/stream/a", &[SEND, ADMIN]),
        (Method::POST, STREAM, "/v1/stream/a", &[SEND, ADMIN]),
        (
            Method::DELETE,
            STREAM,
            "/v1/stream/never",
            &[OPERATE, ADMIN],
        ),
    ]
}

fn journal_cases() -> Vec<Case> {
    const READERS: &[CallerKind] = &[READ, ADMIN, CallerKind::ClientToken, CallerKind::FullToken];
    const WRITERS: &[CallerKind] = &[SEND, ADMIN, CallerKind::ClientToken, CallerKind::FullToken];
    vec![
        (
            Method::GET,
            STREAM,
            "/v1/stream/workflows/order-7@2",
            READERS,
        ),
        (
            Method::GET,
            STREAM,
            "/v1/stream/workflows%2Forder-7%402",
            READERS,
        ),
        (
            Method::HEAD,
            STREAM,
            "/v1/stream/workflows/order-7@2",
            READERS,
        ),
        (
            Method::GET,
            STREAM,
            "/v1/stream/workflows/order-7@2?offset=now&live=long-poll",
            READERS,
        ),
        (
            Method::GET,
            STREAM,
            "/v1/stream/workflows/order-7@2?offset=-1&live=sse",
            READERS,
        ),
        (
            Method::POST,
            STREAM,
            "/v1/stream/workflows/order-7@2",
            WRITERS,
        ),
        (
            Method::PUT,
            STREAM,
            "/v1/stream/workflows/order-7@2",
            &[OPERATE, ADMIN],
        ),
        (
            Method::DELETE,
            STREAM,
            "/v1/stream/workflows/order-7@2",
            &[OPERATE, ADMIN],
        ),
    ]
}

fn subscription_cases() -> Vec<Case> {
    const ONE: &str = "/v1/stream/__ds/subscriptions/s";
    vec![
        (
            Method::GET,
            STREAM,
            "/v1/stream/__ds/jwks.json",
            &ALL_CALLERS,
        ),
        (Method::GET, STREAM, ONE, &[READ, ADMIN]),
        // Subscribing requires two scopes; only `admin` includes both.
        (Method::PUT, STREAM, ONE, &[ADMIN]),
        (Method::DELETE, STREAM, ONE, &[ADMIN]),
        (
            Method::POST,
            STREAM,
            "/v1/stream/__ds/subscriptions/s/streams",
            &[ADMIN],
        ),
        (
            Method::DELETE,
            STREAM,
            "/v1/stream/__ds/subscriptions/s/streams/a",
            &[ADMIN],
        ),
        (
            Method::POST,
            STREAM,
            "/v1/stream/__ds/subscriptions/s/claim",
            &[ADMIN],
        ),
        // The handler checks the wake token and reports its own error code.
        (
            Method::POST,
            STREAM,
            "/v1/stream/__ds/subscriptions/s/ack",
            &ALL_CALLERS,
        ),
        (
            Method::POST,
            STREAM,
            "/v1/stream/__ds/subscriptions/s/callback",
            &ALL_CALLERS,
        ),
        (
            Method::POST,
            STREAM,
            "/v1/stream/__ds/subscriptions/s/release",
            &ALL_CALLERS,
        ),
        (Method::GET, STREAM, "/v1/stream/__ds/auth/keys", &[ADMIN]),
        (Method::GET, STREAM, "/v1/stream/__ds/auth/secret", &[ADMIN]),
    ]
}
