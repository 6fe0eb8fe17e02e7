//! The extractor of requests of the workflow API.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, OriginalUri, Path, Request};
use axum::http::{HeaderMap, StatusCode, header};
use everstep_engine::{Engine, RequestOrigin};
use everstep_model::{Generation, Payload, RunId, StreamName, TraceParent};
use serde::de::DeserializeOwned;

use super::shape_size::ShapeSize;
use crate::actor::actor;
use crate::auth::{Caller, check_reach, unreached};
use crate::body::BodyLimits;
use crate::connections::Closing;
use crate::failure::Failure;
use crate::json;
use crate::parameters::{Parameter, Parameters};
use crate::permits::{WaitPermit, WaitPermits};
use crate::read_turns::{ReadTurn, ReadTurns};
use crate::run_address;
use crate::stream_protocol::PREFIX;

#[derive(Clone)]
pub(crate) struct WorkflowRoutes {
    pub(crate) engine: Engine,
    pub(crate) wait_permits: WaitPermits,
    /// How long a request may wait.
    pub(crate) wait_max: Duration,
    pub(crate) body_limits: BodyLimits,
    pub(crate) read_turns: Arc<ReadTurns>,
    pub(crate) shape_size: ShapeSize,
    /// The limits of a body that is a journal to import.
    pub(crate) import_limits: BodyLimits,
}

/// A request of the workflow API.
pub(crate) struct Call {
    routes: WorkflowRoutes,
    headers: HeaderMap,
    query: String,
    /// The path at which the router is mounted.
    mount: String,
    path_parameters: HashMap<String, String>,
    pub(super) caller: Caller,
    closing: Closing,
    /// The name under which the journal records the request.
    pub(super) by: Option<String>,
    /// The generation of the run when the request was received, if the caller has a run token. What
    /// such a caller does applies to no later one, because the run may begin another generation
    /// concurrently.
    pub(super) generation: Option<Generation>,
    body: Bytes,
}

impl FromRequest<WorkflowRoutes> for Call {
    type Rejection = Failure;

    async fn from_request(request: Request, routes: &WorkflowRoutes) -> Result<Self, Failure> {
        Self::read(request, routes, routes.body_limits).await
    }
}

impl Call {
    /// Reads a request whose body has these limits.
    pub(super) async fn read(
        request: Request,
        routes: &WorkflowRoutes,
        limits: BodyLimits,
    ) -> Result<Self, Failure> {
        let (mut parts, body) = request.into_parts();
        let inner = parts.uri.path().to_owned();
        let original = parts.extensions.get::<OriginalUri>();
        let mount = original.and_then(|original| original.path().strip_suffix(&inner));
        let mount = mount.unwrap_or_default().to_owned();
        let path = Path::<HashMap<String, String>>::from_request_parts(&mut parts, routes).await;
        let Path(path_parameters) = path.map_err(|error| Failure::invalid(error.body_text()))?;
        // The gate always inserts a caller; without one, nothing is allowed.
        let caller = parts.extensions.get::<Caller>().cloned();
        let caller = caller.unwrap_or_else(Caller::without_rights);
        let by = actor(&caller, &parts.headers);
        // Before the body is read, which may take long.
        let generation = match caller.token() {
            Some(token) => Some(routes.engine.row(&token.run).await?.generation),
            None => None,
        };
        Ok(Self {
            routes: routes.clone(),
            query: parts.uri.query().unwrap_or_default().to_owned(),
            headers: parts.headers,
            mount,
            path_parameters,
            closing: Closing::of(&parts.extensions),
            caller,
            by,
            generation,
            body: limits.read(body).await?,
        })
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.routes.engine
    }

    pub(crate) fn path_parameter(&self, name: &str) -> &str {
        self.path_parameters.get(name).map_or("", String::as_str)
    }

    pub(crate) fn run(&self) -> Result<RunId, Failure> {
        run_id(self.path_parameter("id"))
    }

    /// Checks that a run is within the limits of the caller.
    pub(crate) async fn check_reach(&self, run: &RunId) -> Result<(), Failure> {
        check_reach(self.engine(), &self.caller, run.as_str()).await
    }

    /// Returns the id of a run that the request creates. A caller with limits may choose it only
    /// within them, and gets one within them if it chooses none.
    pub(crate) fn new_id(&self, chosen: Option<&str>) -> Result<Option<RunId>, Failure> {
        let limits = self.caller.limits();
        match (chosen, limits.id_prefix()) {
            (Some(id), _) if !limits.reaches_id(id) => Err(unreached("run id")),
            (Some(id), _) => Ok(Some(run_id(id)?)),
            (None, None) => Ok(None),
            (None, Some(prefix)) => {
                let runtime = self.engine().runtime();
                let (a, b) = (runtime.random(), runtime.random());
                Ok(Some(run_id(&format!("{prefix}{a:016x}{b:016x}"))?))
            }
        }
    }

    /// Returns the run and, if the path names one as `{id}@{n}`, its generation.
    pub(crate) fn run_and_generation(&self) -> Result<(RunId, Option<Generation>), Failure> {
        Ok(run_address::parse(self.path_parameter("id"))?)
    }

    /// Returns the actor and the reason, for the journal.
    pub(crate) fn origin(&self, reason: Option<String>) -> RequestOrigin {
        RequestOrigin {
            by: self.by.clone(),
            reason,
        }
    }

    /// Returns the trace context. As W3C Trace Context requires, an invalid header is ignored.
    pub(crate) fn trace(&self) -> Option<TraceParent> {
        let line = self.headers.get("traceparent")?;
        line.to_str().ok()?.parse().ok()
    }

    pub(crate) fn header(&self, name: &str) -> Result<Option<&str>, Failure> {
        let value = self.headers.get(name).map(|value| value.to_str());
        let value = value.transpose();
        value.map_err(|_| Failure::invalid(format!("the header {name} is not text")))
    }

    /// Returns whether the `Accept` header names this media type.
    pub(crate) fn prefers(&self, media_type: &str) -> bool {
        let accepted = self.headers.get_all(header::ACCEPT).iter();
        let mut accepted = accepted.filter_map(|value| value.to_str().ok());
        accepted.any(|line| line.split([',', ';']).any(|one| one.trim() == media_type))
    }

    pub(crate) fn parameters(&self, known: &'static [Parameter]) -> Result<Parameters, Failure> {
        Parameters::parse(&self.query, known)
    }

    pub(crate) fn request<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        json::request(&self.headers, &self.body)
    }

    /// Returns a body of lines of JSON with this media type, or nothing. Their depth is limited.
    pub(crate) fn lines(&self, media_type: &str) -> Result<Vec<&str>, Failure> {
        let kind = self.header("content-type")?.unwrap_or_default();
        if kind.split(';').next().map(str::trim) != Some(media_type) {
            let detail = format!("the body is `{media_type}`; say so in Content-Type");
            return Err(Failure::invalid(detail).with_status(StatusCode::UNSUPPORTED_MEDIA_TYPE));
        }
        let text = std::str::from_utf8(&self.body);
        let text = text.map_err(|_| Failure::invalid("the body is not UTF-8"))?;
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        for line in &lines {
            // A payload is a part of a line.
            json::check_depth(line.as_bytes(), 2 * json::DEPTH_MAX)?;
        }
        Ok(lines)
    }

    pub(crate) fn payload(&self) -> Result<Payload, Failure> {
        json::payload(&self.headers, self.body.clone())
    }

    /// Returns the path of a run's journal as a stream.
    pub(crate) fn stream(&self, run: &RunId, generation: Generation) -> String {
        let name = StreamName::of_run(run, generation);
        format!("{}{PREFIX}{}", self.mount, name.as_str())
    }

    /// Waits for `work`, but no longer than `timeout` and the limit of the server, and only until
    /// the server closes.
    pub(crate) async fn wait<T>(
        &self,
        timeout: Duration,
        work: impl Future<Output = T>,
    ) -> Result<Option<T>, Failure> {
        let permit = self.wait_permit()?;
        Ok(self.wait_with(permit, timeout, work).await)
    }

    /// Waits for the turn of a read that holds much of a journal in memory.
    pub(super) async fn read_turn(&self) -> ReadTurn {
        self.routes.read_turns.wait(&self.caller).await
    }

    /// Returns how much of a journal a shape is built from.
    pub(super) fn shape_size(&self) -> ShapeSize {
        self.routes.shape_size
    }

    /// Acquires a permit to wait, for requests that must have one before they take effect.
    pub(crate) fn wait_permit(&self) -> Result<WaitPermit, Failure> {
        self.routes.wait_permits.acquire(&self.caller)
    }

    /// Waits like [`wait`](Self::wait), with a permit that was acquired before.
    pub(crate) async fn wait_with<T>(
        &self,
        _permit: WaitPermit,
        timeout: Duration,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let timeout = timeout.min(self.routes.wait_max);
        let timeout = self.engine().runtime().sleep(timeout);
        tokio::select! {
            biased;
            done = work => Some(done),
            () = timeout => None,
            () = self.closing.begun() => None,
        }
    }
}

pub(crate) fn run_id(text: &str) -> Result<RunId, Failure> {
    Ok(RunId::new(text)?)
}
