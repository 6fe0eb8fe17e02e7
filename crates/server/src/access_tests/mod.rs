//! Every route combined with every kind of caller. `cases.rs` lists independently which callers a
//! route admits.

mod cases;

use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request};
use everstep::schemars::{self, JsonSchema};
use everstep::{AnyEvent, Ctx, Rpc, Workflows};
use everstep_model::{Generation, Payload, RunId, StreamNumber, Timestamp};
use everstep_protocol::access::{CreateKey, Scope, StreamRight, View};
use serde::Serialize;
use tower::ServiceExt;

use cases::{ALL_CALLERS, CallerKind, Case, cases};

use crate::auth::{Keys, RunToken, Signer, StreamToken, Token, TokenStreams};
use crate::options::Options;
use crate::route::Endpoint;
use crate::router::router;
use crate::routes::all_routes;

#[derive(Serialize, JsonSchema)]
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
    /// Keys with limits.
    limited: Vec<(CallerKind, String)>,
    revoked: String,
    signer: Signer,
    now: Timestamp,
    /// The id of a key that was revoked.
    revoked_id: String,
    /// The journal of the second generation of the run.
    journal: StreamNumber,
}

impl World {
    async fn new() -> Self {
        let engine =
            everstep::Engine::in_memory().workflows(Workflows::new().function("order", order));
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
        let keys_of_store = Keys::of(engine);
        let mut keys = Vec::new();
        for &scope in Scope::ALL {
            let request = request(scope);
            keys.push((
                scope,
                keys_of_store.create(request, None).await.unwrap().key,
            ));
        }
        let mut limited = Vec::new();
        for (kind, workflow, run, stream) in [
            (CallerKind::Tenant, "order", "order-", "a"),
            (CallerKind::OfOtherWorkflow, "refund", "order-", "c"),
            (CallerKind::OtherTenant, "order", "other-", "b"),
        ] {
            let scopes = [Scope::Read, Scope::Start, Scope::Send, Scope::Operate];
            let request = CreateKey {
                workflows: vec![workflow.to_owned()],
                runs: vec![run.to_owned()],
                streams: vec![stream.to_owned()],
                ..CreateKey::new("tenant", scopes)
            };
            let created = keys_of_store.create(request, None).await.unwrap();
            limited.push((kind, created.key));
        }
        let revoked = keys_of_store
            .create(request(Scope::Admin), None)
            .await
            .unwrap();
        assert!(keys_of_store.revoke(&revoked.view.id).await.unwrap());
        let journal = engine.streams().journal(&order, Generation(2)).await;
        Self {
            journal: journal.unwrap().info.number,
            signer: keys_of_store.current_signer().await.unwrap(),
            now: engine.streams().now(),
            router: router(engine, options),
            keys,
            limited,
            revoked: revoked.key,
            revoked_id: revoked.view.id,
        }
    }

    fn token(&self, change: impl FnOnce(&mut RunToken)) -> RunToken {
        let mut token = RunToken {
            run: RunId::new("order-7").unwrap(),
            generation: Generation(2),
            stream: self.journal,
            view: View::Client,
            rpcs: vec!["approve".to_owned()],
            events: vec!["note".to_owned()],
            expires_at: self.now.after(Duration::from_secs(600)),
            by: None,
            key: None,
        };
        change(&mut token);
        token
    }

    fn stream_token(&self, streams: TokenStreams) -> String {
        let token = StreamToken {
            streams,
            allows: StreamRight::ALL.to_vec(),
            expires_at: self.now.after(Duration::from_secs(600)),
            key: None,
        };
        token.signed(&self.signer)
    }

    fn bearer(&self, caller: CallerKind) -> Option<String> {
        let signed = |change: fn(&mut RunToken)| self.token(change).signed(&self.signer);
        Some(match caller {
            CallerKind::WithoutKey => return None,
            CallerKind::Malformed => "nonsense".to_owned(),
            CallerKind::ForgedKey => {
                let known = &self.keys[0].1;
                format!("{}{}", &known[..known.len() - 1], other_digit(known))
            }
            CallerKind::RevokedKey => self.revoked.clone(),
            CallerKind::Key(scope) => {
                let found = self.keys.iter().find(|(known, _)| *known == scope);
                found.unwrap().1.clone()
            }
            CallerKind::Tenant | CallerKind::OfOtherWorkflow | CallerKind::OtherTenant => {
                let found = self.limited.iter().find(|(known, _)| *known == caller);
                found.unwrap().1.clone()
            }
            CallerKind::StreamToken => self.stream_token(TokenStreams::One("a".to_owned())),
            CallerKind::TokenOfOtherStreams => {
                self.stream_token(TokenStreams::BeginningWith("b".to_owned()))
            }
            CallerKind::ForgedToken => self.token(|_| {}).signed(&Signer::new(b"another")),
            CallerKind::ExpiredToken => signed(|token| token.expires_at = Timestamp::default()),
            CallerKind::TokenOfRevokedKey => {
                let key = self.revoked_id.clone();
                self.token(|token| token.key = Some(key))
                    .signed(&self.signer)
            }
            CallerKind::TokenOfOtherRun => {
                signed(|token| token.run = RunId::new("order-8").unwrap())
            }
            CallerKind::TokenOfLaterGeneration => signed(|token| token.generation = Generation(3)),
            CallerKind::ClientToken => signed(|_| {}),
            CallerKind::FullToken => signed(|token| {
                token.view = View::Full;
                token.rpcs.clear();
                token.events.clear();
            }),
        })
    }

    /// Returns whether the gate admits the caller, whatever the handler then responds.
    async fn is_admitted(&self, caller: CallerKind, method: &Method, address: &str) -> bool {
        let mut request = Request::builder().method(method).uri(address);
        if let Some(token) = self.bearer(caller) {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let request = request.header("Content-Type", "text/plain");
        let request = request.body(Body::from("x")).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        if !matches!(status, 401 | 403) {
            return true;
        }
        // Responses to HEAD have no body with a code, and no HEAD handler rejects callers itself.
        if *method == Method::HEAD {
            return false;
        }
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let text = String::from_utf8_lossy(&body);
        let refusals = ["\"unauthenticated\"", "\"token_expired\"", "\"forbidden\""];
        !refusals.iter().any(|refusal| text.contains(refusal))
    }
}

fn request(scope: Scope) -> CreateKey {
    let mut request = CreateKey::new(scope.to_string(), [scope]);
    if scope == Scope::Work {
        request.workflows.push("pay".to_owned());
    }
    request
}

fn other_digit(key: &str) -> char {
    if key.ends_with('0') { '1' } else { '0' }
}

// B840
#[tokio::test]
async fn every_route_admits_exactly_the_documented_callers() {
    let world = World::new().await;
    let endpoints = endpoints().await;
    for (method, route, address, admitted) in cases() {
        assert!(
            endpoints
                .iter()
                .any(|known| known.method == method && known.path == route),
            "{method} {route} is not in the table"
        );
        for caller in ALL_CALLERS {
            let expected = admitted.contains(&caller);
            let is_admitted = world.is_admitted(caller, &method, address).await;
            assert_eq!(is_admitted, expected, "{caller:?} {method} {address}");
        }
    }
}

#[tokio::test]
async fn every_route_has_a_case() {
    let cases = cases();
    for endpoint in endpoints().await {
        let Endpoint {
            method,
            path,
            requires,
            ..
        } = &endpoint;
        let is_tested = |case: &Case| case.0 == *method && case.1 == *path;
        assert!(
            cases.iter().any(is_tested),
            "{method} {path} ({requires:?}) has no case"
        );
    }
}

async fn endpoints() -> Vec<Endpoint> {
    let routes = all_routes().await.into_iter();
    routes.map(|route| route.endpoint).collect()
}
