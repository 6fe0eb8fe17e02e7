//! Who asks, and what each of them may do: every route with those it lets in, written down by hand.

use axum::http::Method;
use everstep_protocol::access::Scope;

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    Nobody,
    Nonsense,
    ForgedKey,
    RevokedKey,
    Key(Scope),
    ForgedToken,
    ExpiredToken,
    /// A token whose key was revoked.
    OrphanedToken,
    OtherRunsToken,
    OldGenerationsToken,
    /// For the run, its view `client`, the event `note` and the rpc `approve`.
    ClientToken,
    /// For the run, its view `full`, and nothing to send.
    FullToken,
}

pub(super) const EVERYBODY: [Who; 17] = [
    Who::Nobody,
    Who::Nonsense,
    Who::ForgedKey,
    Who::RevokedKey,
    Who::Key(Scope::Read),
    Who::Key(Scope::Start),
    Who::Key(Scope::Send),
    Who::Key(Scope::Operate),
    Who::Key(Scope::Work),
    Who::Key(Scope::Admin),
    Who::ForgedToken,
    Who::ExpiredToken,
    Who::OrphanedToken,
    Who::OtherRunsToken,
    Who::OldGenerationsToken,
    Who::ClientToken,
    Who::FullToken,
];

const READ: Who = Who::Key(Scope::Read);
const START: Who = Who::Key(Scope::Start);
const SEND: Who = Who::Key(Scope::Send);
const WORK: Who = Who::Key(Scope::Work);
const OPERATE: Who = Who::Key(Scope::Operate);
const ADMIN: Who = Who::Key(Scope::Admin);
const STREAM: &str = "/v1/stream/{*path}";
/// What the run asks in its second generation; the id follows from that.
const QUESTION: &str = "/workflows/order-7/rpc/rpc_b1b82cad6c9f17fb";

/// A request, the route it goes to, and who may send it.
pub(super) type Case = (Method, &'static str, &'static str, &'static [Who]);

pub(super) fn cases() -> Vec<Case> {
    let mut cases = stream_cases();
    cases.extend(journal_cases());
    cases.extend(subscription_cases());
    cases.extend([
        (Method::POST, "/keys", "/keys", &[ADMIN][..]),
        (Method::GET, "/keys", "/keys", &[ADMIN]),
        (Method::DELETE, "/keys/{id}", "/keys/0123", &[ADMIN]),
        (Method::POST, "/tokens", "/tokens", &[READ, ADMIN]),
        (Method::GET, "/openapi.json", "/openapi.json", &EVERYBODY),
        (Method::GET, "/health/live", "/health/live", &EVERYBODY),
        (Method::GET, "/health/ready", "/health/ready", &EVERYBODY),
        (Method::GET, "/metrics", "/metrics", &[READ, ADMIN]),
    ]);
    cases.extend(workflow_cases());
    cases.extend(worker_cases());
    cases
}

fn worker_cases() -> Vec<Case> {
    const WORKERS: &[Who] = &[WORK, ADMIN];
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

fn workflow_cases() -> Vec<Case> {
    const OPERATORS: &[Who] = &[OPERATE, ADMIN];
    const LOOKERS: &[Who] = &[READ, ADMIN, Who::FullToken];
    const SENDERS: &[Who] = &[SEND, ADMIN, Who::ClientToken];
    let (get, post) = (Method::GET, Method::POST);
    let look = |route, address| (get.clone(), route, address, LOOKERS);
    let operate = |route, address| (post.clone(), route, address, OPERATORS);
    let send = |route, address| (post.clone(), route, address, SENDERS);
    const EVENT: &str = "/workflows/{id}/events/{name}";
    const RPC: &str = "/workflows/{id}/rpc/{rpc}";
    vec![
        (post.clone(), "/workflows", "/workflows", &[START, ADMIN]),
        (get.clone(), "/workflows", "/workflows", &[READ, ADMIN]),
        (get.clone(), "/types", "/types", &[READ, ADMIN]),
        look("/workflows/{id}", "/workflows/order-7"),
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
        send(RPC, QUESTION),
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
        look("/workflows/{id}/why", "/workflows/order-7/why"),
        look("/workflows/{id}/timeline", "/workflows/order-7/timeline"),
        look("/workflows/{id}/shape", "/workflows/order-7/shape"),
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
    const READERS: &[Who] = &[READ, ADMIN, Who::ClientToken, Who::FullToken];
    const WRITERS: &[Who] = &[SEND, ADMIN, Who::ClientToken, Who::FullToken];
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
        (Method::GET, STREAM, "/v1/stream/__ds/jwks.json", &EVERYBODY),
        (Method::GET, STREAM, ONE, &[READ, ADMIN]),
        // Those who subscribe need two scopes, which of these only one has.
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
        // The token of a wake is checked by their handler, under a code of its own.
        (
            Method::POST,
            STREAM,
            "/v1/stream/__ds/subscriptions/s/ack",
            &EVERYBODY,
        ),
        (
            Method::POST,
            STREAM,
            "/v1/stream/__ds/subscriptions/s/callback",
            &EVERYBODY,
        ),
        (
            Method::POST,
            STREAM,
            "/v1/stream/__ds/subscriptions/s/release",
            &EVERYBODY,
        ),
        (Method::GET, STREAM, "/v1/stream/__ds/auth/keys", &[ADMIN]),
        (Method::GET, STREAM, "/v1/stream/__ds/auth/secret", &[ADMIN]),
    ]
}
