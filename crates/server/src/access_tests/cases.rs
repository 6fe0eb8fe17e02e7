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
    /// A key with the scopes `read`, `start`, `send` and `operate` that reaches the runs of the
    /// workflow `order` whose ids begin with `order-`, and the streams below `a`.
    Tenant,
    /// A key with the same scopes that reaches the runs of another workflow.
    OfOtherWorkflow,
    /// A key with the same scopes that reaches runs and streams with other beginnings.
    OtherTenant,
    ForgedToken,
    ExpiredToken,
    /// A token whose key was revoked.
    TokenOfRevokedKey,
    TokenOfOtherRun,
    TokenOfLaterGeneration,
    /// A token for the run, its view `client`, the event `note` and the rpc `approve`.
    ClientToken,
    /// A token for the run and its view `full`, without events and rpcs.
    FullToken,
    /// A token to read and append to the stream `a`.
    StreamToken,
    /// The same for the streams whose paths begin with `b`.
    TokenOfOtherStreams,
}

pub(super) const ALL_CALLERS: [CallerKind; 22] = [
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
    CallerKind::Tenant,
    CallerKind::OfOtherWorkflow,
    CallerKind::OtherTenant,
    CallerKind::ForgedToken,
    CallerKind::ExpiredToken,
    CallerKind::TokenOfRevokedKey,
    CallerKind::TokenOfOtherRun,
    CallerKind::TokenOfLaterGeneration,
    CallerKind::ClientToken,
    CallerKind::FullToken,
    CallerKind::StreamToken,
    CallerKind::TokenOfOtherStreams,
];

const READ: CallerKind = CallerKind::Key(Scope::Read);
const START: CallerKind = CallerKind::Key(Scope::Start);
const SEND: CallerKind = CallerKind::Key(Scope::Send);
const WORK: CallerKind = CallerKind::Key(Scope::Work);
const OPERATE: CallerKind = CallerKind::Key(Scope::Operate);
const ADMIN: CallerKind = CallerKind::Key(Scope::Admin);
const TENANT: CallerKind = CallerKind::Tenant;
const OF_OTHER_WORKFLOW: CallerKind = CallerKind::OfOtherWorkflow;
const OTHER_TENANT: CallerKind = CallerKind::OtherTenant;
const STREAM: &str = "/v1/stream/{*path}";
/// The id of the open rpc in the second generation of the run. Ids are deterministic.
const OPEN_RPC: &str = "/workflows/order-7/rpc/rpc_b1b82cad6c9f17fb";

/// What requests about several runs or streams show depends on limits, which `limited_keys.rs`
/// tests.
const LISTERS: &[CallerKind] = &[READ, ADMIN, TENANT, OF_OTHER_WORKFLOW, OTHER_TENANT];

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
        (Method::POST, "/tokens", "/tokens", LISTERS),
        (Method::POST, "/tokens/streams", "/tokens/streams", LISTERS),
        (Method::GET, "/openapi.json", "/openapi.json", &ALL_CALLERS),
        (Method::GET, "/health/live", "/health/live", &ALL_CALLERS),
        (Method::GET, "/health/ready", "/health/ready", &ALL_CALLERS),
        (Method::GET, "/metrics", "/metrics", &[READ, ADMIN]),
    ]);
    cases.extend(workflow_cases());
    cases.extend(worker_cases());
    // Last, because it ends all tokens.
    const ROTATE: &str = "/keys/rotate-secret";
    cases.push((Method::POST, ROTATE, ROTATE, &[ADMIN]));
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
    const OPERATORS: &[CallerKind] = &[OPERATE, ADMIN, TENANT];
    const VIEWERS: &[CallerKind] = &[
        READ,
        ADMIN,
        TENANT,
        CallerKind::ClientToken,
        CallerKind::FullToken,
    ];
    const RUN_READERS: &[CallerKind] = &[READ, ADMIN, TENANT, CallerKind::FullToken];
    /// A token for the second generation of the run does not suffice.
    const KEYS: &[CallerKind] = &[READ, ADMIN, TENANT];
    /// Cursors of both generations with the position `{"next":0}`.
    const EARLIER_TIMELINE: &str = "/workflows/order-7/timeline?cursor=1.eyJuZXh0IjowfQ";
    const LATEST_TIMELINE: &str = "/workflows/order-7/timeline?cursor=2.eyJuZXh0IjowfQ";
    const SENDERS: &[CallerKind] = &[SEND, ADMIN, TENANT, CallerKind::ClientToken];
    let (get, post) = (Method::GET, Method::POST);
    let view = |route, address| (get.clone(), route, address, VIEWERS);
    let read = |route, address| (get.clone(), route, address, RUN_READERS);
    let of_keys = |route, address| (get.clone(), route, address, KEYS);
    let operate = |route, address| (post.clone(), route, address, OPERATORS);
    let send = |route, address| (post.clone(), route, address, SENDERS);
    const EVENT: &str = "/workflows/{id}/events/{name}";
    const RPC: &str = "/workflows/{id}/rpc/{rpc}";
    vec![
        (
            post.clone(),
            "/workflows",
            "/workflows",
            &[START, ADMIN, TENANT, OF_OTHER_WORKFLOW, OTHER_TENANT],
        ),
        (
            post.clone(),
            "/batch",
            "/batch",
            &[START, ADMIN, TENANT, OF_OTHER_WORKFLOW, OTHER_TENANT],
        ),
        (get.clone(), "/workflows", "/workflows", LISTERS),
        (get.clone(), "/types", "/types", LISTERS),
        view("/workflows/{id}", "/workflows/order-7"),
        view("/workflows/{id}", "/workflows/order-7@2"),
        (
            Method::DELETE,
            "/workflows/{id}",
            "/workflows/order-none",
            &[OPERATE, ADMIN, TENANT, OF_OTHER_WORKFLOW],
        ),
        send(EVENT, "/workflows/order-7/events/note"),
        (
            post.clone(),
            EVENT,
            "/workflows/order-7/events/other",
            &[SEND, ADMIN, TENANT],
        ),
        (
            post.clone(),
            EVENT,
            "/workflows/order-8/events/note",
            // The run does not exist.
            &[SEND, ADMIN, TENANT, OF_OTHER_WORKFLOW],
        ),
        send(RPC, OPEN_RPC),
        (
            post.clone(),
            RPC,
            "/workflows/order-7/rpc/rpc_0",
            &[SEND, ADMIN, TENANT],
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
            &[ADMIN, TENANT],
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
        (
            post.clone(),
            "/bulk",
            "/bulk",
            &[OPERATE, ADMIN, TENANT, OF_OTHER_WORKFLOW, OTHER_TENANT],
        ),
        view("/workflows/{id}/why", "/workflows/order-7/why"),
        of_keys("/workflows/{id}", "/workflows/order-7?cursor=1.0"),
        view("/workflows/{id}", "/workflows/order-7?cursor=2.0"),
        read("/workflows/{id}/timeline", "/workflows/order-7/timeline"),
        of_keys("/workflows/{id}/timeline", "/workflows/order-7@1/timeline"),
        of_keys("/workflows/{id}/timeline", EARLIER_TIMELINE),
        read("/workflows/{id}/timeline", LATEST_TIMELINE),
        read("/workflows/{id}/shape", "/workflows/order-7/shape"),
        of_keys("/workflows/{id}/shape", "/workflows/order-7@1/shape"),
        of_keys(
            "/workflows/{id}/shape",
            "/workflows/order-7/shape?cursor=1.0",
        ),
        read(
            "/workflows/{id}/shape",
            "/workflows/order-7/shape?cursor=2.0",
        ),
        of_keys("/workflows/{id}/records", "/workflows/order-7/records"),
        of_keys(
            "/workflows/{id}/records",
            "/workflows/order-7/records?cursor=1.0",
        ),
        (
            get.clone(),
            "/workflows/{id}/journal",
            "/workflows/order-7/journal",
            &[ADMIN],
        ),
        (
            get.clone(),
            "/workflows/{id}/journal",
            "/workflows/order-7/journal?cursor=1.0",
            &[ADMIN],
        ),
        (
            Method::PUT,
            "/workflows/{id}/journal",
            "/workflows/order-8/journal",
            &[ADMIN],
        ),
    ]
}

fn stream_cases() -> Vec<Case> {
    const READERS: &[CallerKind] = &[READ, ADMIN, TENANT, CallerKind::StreamToken];
    vec![
        (Method::GET, STREAM, "/v1/stream/a", READERS),
        (Method::GET, STREAM, "/v1/stream/%61", READERS),
        (
            Method::GET,
            STREAM,
            "/v1/stream/a?offset=now&live=long-poll",
            READERS,
        ),
        (
            Method::GET,
            STREAM,
            "/v1/stream/a?offset=-1&live=sse",
            READERS,
        ),
        (Method::HEAD, STREAM, "/v1/stream/a", READERS),
        (Method::GET, STREAM, "/v1/stream/aa", &[READ, ADMIN, TENANT]),
        (
            Method::GET,
            STREAM,
            "/v1/stream/bb",
            &[READ, ADMIN, OTHER_TENANT, CallerKind::TokenOfOtherStreams],
        ),
        (Method::PUT, STREAM, "/v1/stream/a", &[SEND, ADMIN, TENANT]),
        (
            Method::POST,
            STREAM,
            "/v1/stream/a",
            &[SEND, ADMIN, TENANT, CallerKind::StreamToken],
        ),
        (
            Method::DELETE,
            STREAM,
            "/v1/stream/a-never",
            &[OPERATE, ADMIN, TENANT],
        ),
    ]
}

fn journal_cases() -> Vec<Case> {
    const READERS: &[CallerKind] = &[
        READ,
        ADMIN,
        TENANT,
        CallerKind::ClientToken,
        CallerKind::FullToken,
    ];
    const WRITERS: &[CallerKind] = &[
        SEND,
        ADMIN,
        TENANT,
        CallerKind::ClientToken,
        CallerKind::FullToken,
    ];
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
            &[OPERATE, ADMIN, TENANT],
        ),
        (
            Method::DELETE,
            STREAM,
            "/v1/stream/workflows/order-7@2",
            &[OPERATE, ADMIN, TENANT],
        ),
    ]
}

fn subscription_cases() -> Vec<Case> {
    // Subscribing requires two scopes.
    const SUBSCRIBERS: &[CallerKind] = &[ADMIN, TENANT, OF_OTHER_WORKFLOW, OTHER_TENANT];
    const ONE: &str = "/v1/stream/__ds/subscriptions/s";
    vec![
        (
            Method::GET,
            STREAM,
            "/v1/stream/__ds/jwks.json",
            &ALL_CALLERS,
        ),
        // The subscription does not exist, so its streams do not matter.
        (Method::GET, STREAM, ONE, LISTERS),
        (Method::PUT, STREAM, ONE, SUBSCRIBERS),
        (Method::DELETE, STREAM, ONE, SUBSCRIBERS),
        (
            Method::POST,
            STREAM,
            "/v1/stream/__ds/subscriptions/s/streams",
            SUBSCRIBERS,
        ),
        (
            Method::DELETE,
            STREAM,
            "/v1/stream/__ds/subscriptions/s/streams/a",
            SUBSCRIBERS,
        ),
        (
            Method::POST,
            STREAM,
            "/v1/stream/__ds/subscriptions/s/claim",
            SUBSCRIBERS,
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
        (
            Method::GET,
            STREAM,
            "/v1/stream/__ds/feeds/records",
            &[READ, ADMIN],
        ),
        (Method::GET, STREAM, "/v1/stream/__ds/auth/keys", &[ADMIN]),
        (Method::GET, STREAM, "/v1/stream/__ds/auth/secret", &[ADMIN]),
    ]
}
