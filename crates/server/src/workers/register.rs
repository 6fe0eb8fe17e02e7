//! `POST /v1/workers` begins a session.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use everstep_engine::{Activation, Declares, Offer, Worker};
use everstep_model::{Description, ErrorCode, Name};
use everstep_protocol::PROTOCOL_VERSION;
use everstep_protocol::worker::{
    RegisterAnswer, RegisterRequest, SLOTS_MAX, WORKER_NAME_CHARS_MAX, WORKFLOWS_MAX,
};
use everstep_store::BoxFuture;

use super::bridge;
use super::pool::Pool;
use super::request::{JsonBody, WorkerRoutes};
use super::session::Session;
use crate::auth::Caller;
use crate::failure::Failure;

pub(super) async fn register(
    State(routes): State<WorkerRoutes>,
    Extension(caller): Extension<Caller>,
    JsonBody(request): JsonBody<RegisterRequest>,
) -> Result<Json<RegisterAnswer>, Failure> {
    // First, because a later version may have other rules.
    let protocol = common_version(request.protocol)?;
    check_grant(&caller, &request)?;
    check(&request)?;
    routes.pool.register(request, protocol).await.map(Json)
}

impl Pool {
    async fn register(
        self: &Arc<Self>,
        request: RegisterRequest,
        protocol: u32,
    ) -> Result<RegisterAnswer, Failure> {
        let offers = request.workflows.iter().map(|offered| Offer {
            workflow: offered.name.clone(),
            versions: offered.versions[0]..=offered.versions[1],
        });
        let offers: Vec<Offer> = offers.collect();
        let described = request.workflows.into_iter();
        let described = described.map(|offered| (offered.name, Arc::new(offered.description)));
        let runtime = self.engine.runtime();
        let id = format!("{:016x}{:016x}", runtime.random(), runtime.random());
        let session = Session::new(offers.clone(), request.slots, self.elapsed());
        self.state().sessions.insert(id.clone(), session);
        let worker = OfferedBySession {
            pool: Arc::downgrade(self),
            offers,
            descriptions: described.collect(),
        };
        // Spawned before the first await: if the client disconnects, only this task ends the
        // session.
        runtime.spawn(Box::pin(expire(Arc::downgrade(self), id.clone())));
        match self.engine.offer(Arc::new(worker)).await {
            Ok(offered) => {
                if let Some(session) = self.state().sessions.get_mut(&id) {
                    session.offered = Some(offered);
                }
            }
            Err(error) => {
                self.end(&id, false);
                return Err(error.into());
            }
        }
        let sdk = request.sdk.as_deref().unwrap_or("unknown");
        tracing::info!(
            worker = request.worker,
            sdk,
            protocol,
            session = id,
            "worker registered"
        );
        let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        Ok(RegisterAnswer {
            session: id,
            protocol,
            server: concat!("everstep ", env!("CARGO_PKG_VERSION")).to_owned(),
            time_to_live: millis(self.time_to_live),
            heartbeat_every: millis(self.claim_timeout()),
            development: self.engine.is_in_development(),
            now: self.now(),
        })
    }
}

/// The offer of a session. Any session of the pool may execute a run that the engine gives to it.
struct OfferedBySession {
    pool: Weak<Pool>,
    offers: Vec<Offer>,
    descriptions: BTreeMap<Name, Arc<Description>>,
}

impl Worker for OfferedBySession {
    fn offers(&self) -> Vec<Offer> {
        self.offers.clone()
    }

    fn declares(&self, workflow: &Name) -> Option<Arc<dyn Declares>> {
        let description = self.descriptions.get(workflow)?.clone();
        Some(description)
    }

    fn is_full(&self) -> bool {
        let pool = self.pool.upgrade();
        pool.is_none_or(|pool| pool.is_full())
    }

    fn execute(&self, activation: Activation) -> BoxFuture<'static, ()> {
        match self.pool.upgrade() {
            Some(pool) => Box::pin(bridge::execute(pool, activation)),
            None => Box::pin(std::future::ready(())),
        }
    }
}

/// Ends a session that sends no requests.
async fn expire(pool: Weak<Pool>, session: String) {
    loop {
        let sleep = {
            let Some(pool) = pool.upgrade() else {
                return;
            };
            let seen_at = pool.state().sessions.get(&session).map(|it| it.seen_at);
            let Some(seen_at) = seen_at else {
                return;
            };
            let silent = pool.elapsed().saturating_sub(seen_at);
            let remaining = pool.time_to_live.saturating_sub(silent);
            if remaining.is_zero() {
                tracing::warn!(session, "worker session timed out, releasing its runs");
                pool.end(&session, true);
                return;
            }
            pool.engine.runtime().sleep(remaining)
        };
        sleep.await;
    }
}

/// Returns the latest version of the protocol that both this server and a worker can use.
fn common_version([first, last]: [u32; 2]) -> Result<u32, Failure> {
    if (first..=last).contains(&PROTOCOL_VERSION) {
        return Ok(PROTOCOL_VERSION);
    }
    let detail = format!(
        "this server uses version {PROTOCOL_VERSION} of the protocol, and the worker versions {first} to {last}; \
         update the older one"
    );
    let code = ErrorCode::ProtocolUnsupported;
    Err(Failure::new(StatusCode::BAD_REQUEST, code, detail))
}

/// Checks that the key of the worker names all workflows that it offers.
fn check_grant(caller: &Caller, request: &RegisterRequest) -> Result<(), Failure> {
    let mut offered = request.workflows.iter().map(|offered| &offered.name);
    match offered.find(|name| !caller.may_work_on(name.as_str())) {
        None => Ok(()),
        Some(name) => Err(Failure::forbidden(format!(
            "this key does not allow to execute workflow `{name}`"
        ))),
    }
}

fn check(request: &RegisterRequest) -> Result<(), Failure> {
    let invalid = |detail: String| Err(Failure::invalid(detail));
    if request.worker.chars().count() > WORKER_NAME_CHARS_MAX {
        return invalid(format!(
            "a worker's name has at most {WORKER_NAME_CHARS_MAX} characters"
        ));
    }
    if request
        .sdk
        .as_ref()
        .is_some_and(|sdk| sdk.chars().count() > WORKER_NAME_CHARS_MAX)
    {
        return invalid(format!(
            "the name of an SDK has at most {WORKER_NAME_CHARS_MAX} characters"
        ));
    }
    if request.slots == 0 || request.slots > SLOTS_MAX {
        return invalid(format!("a worker has 1 to {SLOTS_MAX} slots"));
    }
    if request.workflows.is_empty() || request.workflows.len() > WORKFLOWS_MAX {
        return invalid(format!("a worker offers 1 to {WORKFLOWS_MAX} workflows"));
    }
    for offered in &request.workflows {
        let [first, last] = offered.versions;
        if first == 0 || first > last {
            let name = &offered.name;
            return invalid(format!(
                "workflow `{name}`: versions count from 1, and the last must not be before the first"
            ));
        }
        for schema in offered.description.schemas() {
            schema.check_size()?;
        }
    }
    Ok(())
}
