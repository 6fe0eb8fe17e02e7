//! `POST /v1/workers` begins a session.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::response::Response;
use everstep_engine::Offer;
use everstep_model::ErrorCode;
use everstep_protocol::worker::{
    RegisterAnswer, RegisterRequest, SLOTS_MAX, WORKER_NAME_CHARS_MAX, WORKFLOWS_MAX,
};

use super::offered::OfferedBySession;
use super::pool::Pool;
use super::request::{WorkerRoutes, respond};
use super::session::Session;
use crate::auth::Caller;
use crate::failure::Failure;

pub(super) async fn register(
    State(routes): State<WorkerRoutes>,
    Extension(caller): Extension<Caller>,
    body: Body,
) -> Response {
    let answer = async {
        let request: RegisterRequest = routes.json(body).await?;
        check_grant(&caller, &request)?;
        routes.pool.register(request).await
    };
    respond(answer.await)
}

impl Pool {
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
        // Spawned before the first await: if the client disconnects, only this task ends the session.
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
        tracing::info!(worker = request.worker, session = id, "worker registered");
        let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        Ok(RegisterAnswer {
            session: id,
            time_to_live: millis(self.time_to_live),
            heartbeat_every: millis(self.claim_timeout()),
            now: self.now(),
        })
    }
}

/// Ends a session that sends no requests.
async fn expire(pool: Weak<Pool>, session: String) {
    loop {
        let sleep = {
            let Some(pool) = pool.upgrade() else {
                return;
            };
            let Some(seen_at) = pool
                .state()
                .sessions
                .get(&session)
                .map(|found| found.seen_at)
            else {
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

/// Checks that the key of the worker names all workflows that it offers.
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
            schema.check_size()?;
        }
    }
    Ok(())
}
