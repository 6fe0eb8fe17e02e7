//! A request of the API taken apart: whom it is about, what it says, who asks.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, FromRequestParts, OriginalUri, Path, Request};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use everstep_engine::{Asked, Engine};
use everstep_model::{
    Generation, Location, Payload, RunId, StreamName, TraceParent, limits, parse_duration,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use tokio::sync::OwnedSemaphorePermit;

use super::parameters::{Parameter, Parameters};
use crate::auth::Caller;
use crate::failure::Failure;
use crate::json;
use crate::place::place;
use crate::router::Shared;
use crate::streams::route::{PREFIX, whole_body};

/// The header with the name of who acts.
const ACTOR: &str = "everstep-actor";

/// A request of the API.
pub(crate) struct Call {
    pub(crate) shared: Arc<Shared>,
    headers: HeaderMap,
    query: String,
    /// What the router is mounted under.
    mount: String,
    /// What stands in the braces of the route's path.
    named: HashMap<String, String>,
    by: Option<String>,
    generation: Option<Generation>,
    body: Bytes,
}

impl FromRequest<Arc<Shared>> for Call {
    type Rejection = Failure;

    async fn from_request(request: Request, shared: &Arc<Shared>) -> Result<Self, Failure> {
        let (mut parts, body) = request.into_parts();
        let inner = parts.uri.path().to_owned();
        let original = parts.extensions.get::<OriginalUri>();
        let mount = original.and_then(|original| original.path().strip_suffix(&inner));
        let mount = mount.unwrap_or_default().to_owned();
        let named = Path::<HashMap<String, String>>::from_request_parts(&mut parts, shared).await;
        let Path(named) = named.map_err(|error| Failure::invalid(error.body_text()))?;
        let caller = parts.extensions.get::<Caller>();
        let by = match caller {
            Some(caller) if !caller.may_name_itself() => caller.name().map(str::to_owned),
            Some(_) | None => actor(&parts.headers),
        };
        let token = caller.and_then(Caller::token);
        let generation = token.map(|token| token.generation);
        Ok(Self {
            shared: shared.clone(),
            query: parts.uri.query().unwrap_or_default().to_owned(),
            headers: parts.headers,
            mount,
            named,
            by,
            generation,
            body: whole_body(shared, body).await?,
        })
    }
}

impl Call {
    pub(crate) fn engine(&self) -> &Engine {
        &self.shared.engine
    }

    /// What the path says in these braces.
    pub(crate) fn named(&self, name: &str) -> &str {
        self.named.get(name).map_or("", String::as_str)
    }

    /// The run it is about.
    pub(crate) fn run(&self) -> Result<RunId, Failure> {
        run_id(self.named("id"))
    }

    /// Who asks, for the journal.
    pub(crate) fn by(&self) -> Option<String> {
        self.by.clone()
    }

    /// The life of the run that the caller may do something to, if it is only one: the run may begin another meanwhile.
    pub(crate) fn generation(&self) -> Option<Generation> {
        self.generation
    }

    /// Who asks and why, for the journal.
    pub(crate) fn asked(&self, reason: Option<String>) -> Asked {
        Asked {
            by: self.by(),
            reason,
        }
    }

    /// The place in a trace from which it is asked. As Trace Context wants it, what cannot be read counts as nothing.
    pub(crate) fn trace(&self) -> Option<TraceParent> {
        let line = self.headers.get("traceparent")?;
        line.to_str().ok()?.parse().ok()
    }

    /// A header as text.
    pub(crate) fn header(&self, name: &str) -> Result<Option<&str>, Failure> {
        let value = self.headers.get(name).map(|value| value.to_str());
        let value = value.transpose();
        value.map_err(|_| Failure::invalid(format!("the header {name} is not text")))
    }

    /// Whether the caller asks for this media type by name.
    pub(crate) fn prefers(&self, media_type: &str) -> bool {
        let accepted = self.headers.get_all(header::ACCEPT).iter();
        let mut accepted = accepted.filter_map(|value| value.to_str().ok());
        accepted.any(|accepted| {
            accepted
                .split([',', ';'])
                .any(|one| one.trim() == media_type)
        })
    }

    /// The parameters of the query. One that the route does not know is refused: it is a typing error more likely than not.
    pub(crate) fn parameters(&self, known: &[Parameter]) -> Result<Parameters, Failure> {
        Parameters::parse(&self.query, known)
    }

    /// The body as a request.
    pub(crate) fn request<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        json::request(&self.headers, &self.body)
    }

    /// The body as one value of the user's.
    pub(crate) fn payload(&self) -> Result<Payload, Failure> {
        json::payload(&self.headers, self.body.clone())
    }

    /// The address of a run's journal.
    pub(crate) fn stream(&self, run: &RunId, generation: Generation) -> String {
        let name = StreamName::of_run(run, generation);
        format!("{}{PREFIX}{}", self.mount, name.as_str())
    }

    /// Waits for something, but no longer than asked for and than anybody may.
    pub(crate) async fn within<T>(
        &self,
        patience: Duration,
        work: impl Future<Output = T>,
    ) -> Result<Option<T>, Failure> {
        let place = place(&self.shared)?;
        Ok(self.within_place(place, patience, work).await)
    }

    /// A place among those who wait, for who must have one before they do something.
    pub(crate) fn place(&self) -> Result<OwnedSemaphorePermit, Failure> {
        place(&self.shared)
    }

    /// Waits for something in a place that was taken before.
    pub(crate) async fn within_place<T>(
        &self,
        _place: OwnedSemaphorePermit,
        patience: Duration,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let patience = patience.min(self.shared.options.wait_max);
        let late = self.engine().runtime().sleep(patience);
        tokio::select! {
            biased;
            done = work => Some(done),
            () = late => None,
        }
    }
}

/// Who acts, as they say themselves: heard where nobody is known by a key. The name is written as in a path.
fn actor(headers: &HeaderMap) -> Option<String> {
    let said = headers.get(ACTOR)?.to_str().ok()?;
    let name = percent_encoding::percent_decode_str(said)
        .decode_utf8()
        .ok()?;
    let fits = |name: &str| !name.is_empty() && name.chars().count() <= limits::NAME_CHARS_MAX;
    Some(name.into_owned()).filter(|name| fits(name) && !name.chars().any(char::is_control))
}

pub(crate) fn run_id(text: &str) -> Result<RunId, Failure> {
    RunId::new(text).map_err(|error| everstep_engine::EngineError::from(error).into())
}

pub(crate) fn location(text: &str) -> Result<Location, Failure> {
    let location = text.parse();
    location.map_err(|error| Failure::invalid(format!("`{text}` is no place in a run: {error}")))
}

pub(crate) fn duration(what: &str, text: &str) -> Result<Duration, Failure> {
    parse_duration(text).map_err(|error| Failure::invalid(format!("{what}: {error}")))
}

/// An answer.
pub(crate) fn answer(status: StatusCode, value: &impl Serialize) -> Result<Response, Failure> {
    let body = serde_json::to_vec(value).map_err(|error| {
        let broken = StatusCode::INTERNAL_SERVER_ERROR;
        Failure::new(broken, format!("the answer cannot be written: {error}"))
    })?;
    Ok(typed(status, "application/json", body))
}

/// An answer of another type.
pub(crate) fn typed(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (status, headers, body.into()).into_response()
}
