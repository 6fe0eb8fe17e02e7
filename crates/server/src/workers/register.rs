//! `POST /v1/workers`: a session begins.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::response::Response;
use everstep_engine::{EngineError, Offer};
use everstep_model::ErrorCode;
use everstep_protocol::worker::{
    RegisterAnswer, RegisterRequest, SLOTS_MAX, WORKER_NAME_CHARS_MAX, WORKFLOWS_MAX,
};

use super::offered::OfferedBySession;
use super::pool::Pool;
use super::request::{answered, json};
use super::session::Session;
use crate::auth::Caller;
use crate::failure::Failure;
use crate::router::Shared;

/// A claim waits for this part of a session's time to live, so that two lost ones do no harm.
const CLAIMS_PER_LIFE: u32 = 3;

pub(crate) async fn register(
    State(shared): State<Arc<Shared>>,
    Extension(caller): Extension<Caller>,
    body: Body,
) -> Response {
    let answer = async {
        let request: RegisterRequest = json(&shared, body).await?;
        check_grant(&caller, &request)?;
        shared.workers.register(request).await
    };
    answered(answer.await)
}

impl Pool {
    /// How long a claim waits.
    pub(super) fn claim_wait(&self) -> Duration {
        self.time_to_live / CLAIMS_PER_LIFE
    }

    async fn register(
        self: &Arc<Self>,
        request: RegisterRequest,
    ) -> Result<RegisterAnswer, Failure> {
        check(&request)?;
        let offers: Vec<Offer> = request
            .workflows
            .iter()
            .map(|offered| Offer {
                workflow: offered.name.clone(),
                versions: offered.versions[0]..=offered.versions[1],
            })
            .collect();
        let described = request.workflows.into_iter();
        let descriptions: BTreeMap<_, _> = described
            .map(|offered| (offered.name, Arc::new(offered.description)))
            .collect();
        let runtime = self.engine.runtime();
        let id = format!("{:016x}{:016x}", runtime.random(), runtime.random());
        let session = Session::new(offers.clone(), request.slots, self.elapsed());
        self.state().sessions.insert(id.clone(), session);
        let worker = OfferedBySession {
            pool: Arc::downgrade(self),
            offers,
            descriptions,
        };
        // Before anything is waited for: whoever asks may go away meanwhile, and then nobody else would end the session.
        runtime.spawn(Box::pin(watch(Arc::downgrade(self), id.clone())));
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
        tracing::info!(worker = request.worker, session = id, "a worker has come");
        let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        Ok(RegisterAnswer {
            session: id,
            time_to_live: millis(self.time_to_live),
            heartbeat_every: millis(self.claim_wait()),
            now: self.now(),
        })
    }
}

/// Ends a session that gives no sign of life.
async fn watch(pool: Weak<Pool>, session: String) {
    loop {
        let rest = {
            let Some(pool) = pool.upgrade() else {
                return;
            };
            let Some(seen_at) = pool.state().sessions.get(&session).map(|its| its.seen_at) else {
                return;
            };
            let silent = pool.elapsed().saturating_sub(seen_at);
            let left = pool.time_to_live.saturating_sub(silent);
            if left.is_zero() {
                tracing::warn!(
                    session,
                    "a worker gives no sign of life; its runs go to others"
                );
                pool.end(&session, true);
                return;
            }
            pool.engine.runtime().sleep(left)
        };
        rest.await;
    }
}

/// A worker executes what its key names, and nothing else.
fn check_grant(caller: &Caller, request: &RegisterRequest) -> Result<(), Failure> {
    let mut offered = request.workflows.iter().map(|offered| &offered.name);
    match offered.find(|name| !caller.may_work_on(name.as_str())) {
        None => Ok(()),
        Some(name) => {
            let detail = format!("this key does not allow to execute workflow `{name}`");
            Err(Failure::new(StatusCode::FORBIDDEN, detail).coded(ErrorCode::Forbidden))
        }
    }
}

fn check(request: &RegisterRequest) -> Result<(), Failure> {
    let name = request.worker.chars();
    if name.count() > WORKER_NAME_CHARS_MAX {
        let detail = format!("a worker's name has at most {WORKER_NAME_CHARS_MAX} characters");
        return Err(Failure::invalid(detail));
    }
    if request.slots == 0 || request.slots > SLOTS_MAX {
        let detail = format!("a worker has 1 to {SLOTS_MAX} slots");
        return Err(Failure::invalid(detail));
    }
    if request.workflows.is_empty() || request.workflows.len() > WORKFLOWS_MAX {
        let detail = format!("a worker offers 1 to {WORKFLOWS_MAX} workflows");
        return Err(Failure::invalid(detail));
    }
    for offered in &request.workflows {
        let [first, last] = offered.versions;
        if first == 0 || first > last {
            let detail = format!(
                "workflow `{}`: versions count from 1, and the last must not be before the first",
                offered.name
            );
            return Err(Failure::invalid(detail));
        }
        for schema in offered.description.schemas() {
            schema.check_size().map_err(EngineError::from)?;
        }
    }
    Ok(())
}
