//! Every route crossed with every kind of identity. What each may do is written down here a second time, by hand.

use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request};
use everstep::{AnyEvent, Ctx, Rpc};
use everstep_model::{Generation, Payload, RunId, Timestamp};
use everstep_protocol::access::{CreateKey, Scope, View};
use serde::Serialize;
use tower::ServiceExt;

use super::key_list::Keys;
use super::run_token::RunToken;
use super::signer::Signer;
use crate::options::Options;
use crate::router::router;
use crate::routes::table;

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
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

const EVERYBODY: [Who; 17] = [
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
type Case = (Method, &'static str, &'static str, &'static [Who]);

fn cases() -> Vec<Case> {
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
        operate("/workflows/{id}/fork", "/workflows/order-7/fork"),
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

#[derive(Serialize)]
struct Approve;

impl Rpc for Approve {
    const METHOD: &'static str = "approve";
    type Answer = bool;
}

async fn order(ctx: Ctx<AnyEvent>, (): ()) -> everstep::Result<bool> {
    ctx.rpc(Approve).await
}

struct World {
    router: Router,
    keys: Vec<(Scope, String)>,
    revoked: String,
    signer: Signer,
    now: Timestamp,
    /// The id of a key that was revoked.
    gone: String,
}

impl World {
    async fn new() -> Self {
        let engine = everstep::Engine::in_memory().function("order", order);
        let engine = engine.start().await.unwrap();
        let run = engine.start_by_name("order", Payload::null()).id("order-7");
        run.await.unwrap().restart().await.unwrap();
        let engine: &everstep_engine::Engine = engine.as_ref();
        let order = RunId::new("order-7").unwrap();
        while engine
            .inspect(&order)
            .await
            .unwrap()
            .overview
            .rpcs
            .is_empty()
        {
            tokio::task::yield_now().await;
        }
        let options = Options {
            long_poll_timeout: Duration::from_millis(1),
            ..Options::default()
        };
        let made = Keys::of(engine);
        let mut keys = Vec::new();
        for scope in Scope::ALL {
            let wish = wish(scope);
            keys.push((scope, made.create(wish, None).await.unwrap().key));
        }
        let revoked = made.create(wish(Scope::Admin), None).await.unwrap();
        assert!(made.revoke(&revoked.view.id).await.unwrap());
        Self {
            signer: Signer::of_store(&engine.streams()).await.unwrap(),
            now: engine.streams().now(),
            router: router(engine, options),
            keys,
            revoked: revoked.key,
            gone: revoked.view.id,
        }
    }

    fn token(&self, change: impl FnOnce(&mut RunToken)) -> RunToken {
        let mut token = RunToken {
            run: RunId::new("order-7").unwrap(),
            generation: Generation(2),
            view: View::Client,
            rpcs: vec!["approve".to_owned()],
            events: vec!["note".to_owned()],
            expires_at: self.now.after(Duration::from_secs(600)),
            key: None,
        };
        change(&mut token);
        token
    }

    /// What they show.
    fn shown(&self, who: Who) -> Option<String> {
        let signed = |change: fn(&mut RunToken)| self.token(change).signed(&self.signer);
        Some(match who {
            Who::Nobody => return None,
            Who::Nonsense => "nonsense".to_owned(),
            Who::ForgedKey => {
                let known = &self.keys[0].1;
                format!("{}{}", &known[..known.len() - 1], other_digit(known))
            }
            Who::RevokedKey => self.revoked.clone(),
            Who::Key(scope) => {
                let found = self.keys.iter().find(|(known, _)| *known == scope);
                found.unwrap().1.clone()
            }
            Who::ForgedToken => self.token(|_| {}).signed(&Signer::new(b"another")),
            Who::ExpiredToken => signed(|token| token.expires_at = Timestamp::default()),
            Who::OrphanedToken => {
                let key = self.gone.clone();
                self.token(|token| token.key = Some(key))
                    .signed(&self.signer)
            }
            Who::OtherRunsToken => signed(|token| token.run = RunId::new("order-8").unwrap()),
            Who::OldGenerationsToken => signed(|token| token.generation = Generation(1)),
            Who::ClientToken => signed(|_| {}),
            Who::FullToken => signed(|token| {
                token.view = View::Full;
                token.rpcs.clear();
                token.events.clear();
            }),
        })
    }

    /// Whether they come in, to whatever awaits them there.
    async fn comes_in(&self, who: Who, method: &Method, address: &str) -> bool {
        let mut request = Request::builder().method(method).uri(address);
        if let Some(shown) = self.shown(who) {
            request = request.header("Authorization", format!("Bearer {shown}"));
        }
        let request = request.header("Content-Type", "text/plain");
        let request = request.body(Body::from("x")).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        if !matches!(status, 401 | 403) {
            return true;
        }
        // The answer to a HEAD has no body that could say why, and no handler of one refuses anybody by itself.
        if *method == Method::HEAD {
            return false;
        }
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let text = String::from_utf8_lossy(&body);
        let refused = text.contains("\"unauthenticated\"") || text.contains("\"forbidden\"");
        !refused
    }
}

fn wish(scope: Scope) -> CreateKey {
    CreateKey {
        name: scope.to_string(),
        scopes: vec![scope],
        workflows: match scope {
            Scope::Work => vec!["pay".to_owned()],
            _ => Vec::new(),
        },
    }
}

fn other_digit(key: &str) -> char {
    if key.ends_with('0') { '1' } else { '0' }
}

#[tokio::test]
async fn every_route_lets_in_whom_it_should_and_nobody_else() {
    let world = World::new().await;
    for (method, route, address, welcome) in cases() {
        assert!(
            table()
                .iter()
                .any(|row| row.method == method && row.path == route),
            "{method} {route} is not in the table"
        );
        for who in EVERYBODY {
            let expected = welcome.contains(&who);
            let came_in = world.comes_in(who, &method, address).await;
            assert_eq!(came_in, expected, "{who:?} {method} {address}");
        }
    }
}

#[test]
fn no_route_is_left_out_of_the_crossing() {
    let cases = cases();
    for row in table() {
        let crossed = |case: &Case| case.0 == row.method && case.1 == row.path;
        assert!(
            cases.iter().any(crossed),
            "{} {} ({:?}) is crossed with nobody",
            row.method,
            row.path,
            row.needs
        );
    }
}
