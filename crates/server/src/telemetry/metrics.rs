//! Figures for Prometheus: what the engine has done, and what the server was asked.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use everstep_engine::{Engine, Stats};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use crate::router::Shared;

/// The media type of the text that Prometheus reads.
const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// The fastest answers that are told apart, in seconds, and how many sizes there are above them, each four times the last.
const FASTEST: f64 = 0.000_25;
const SIZES: u16 = 9;

/// The kinds of answers, by the first digit of their status.
const KINDS: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

type OfRoute = [(&'static str, &'static str); 2];
type OfAnswer = [(&'static str, &'static str); 3];

/// What the server counts of itself.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<OfAnswer, Counter>,
    seconds: Family<OfRoute, Histogram>,
}

impl Metrics {
    pub(crate) fn new(engine: &Engine) -> Self {
        let mut registry = Registry::with_prefix("everstep");
        let requests = Family::default();
        let seconds = Family::new_with_constructor(sizes as fn() -> Histogram);
        let asked = "Requests, by method, route and kind of answer";
        registry.register("http_requests", asked, requests.clone());
        let took = "How long answers took to begin, in seconds";
        registry.register("http_request_seconds", took, seconds.clone());
        registry.register_collector(Box::new(Works(engine.clone())));
        Self {
            registry,
            requests,
            seconds,
        }
    }

    /// What is counted of a route.
    pub(crate) fn route(&self, method: &Method, path: &'static str) -> Measured {
        let method = name_of(method);
        let route = [("method", method), ("route", path)];
        let answers = KINDS.map(|kind| {
            let labels = [("method", method), ("route", path), ("status", kind)];
            self.requests.get_or_create_owned(&labels)
        });
        Measured {
            route: path,
            answers,
            seconds: self.seconds.get_or_create_owned(&route),
        }
    }
}

fn sizes() -> Histogram {
    Histogram::new(exponential_buckets(FASTEST, 4.0, SIZES))
}

/// Only methods of the table have a name; others meet no route.
fn name_of(method: &Method) -> &'static str {
    let known = ["GET", "HEAD", "POST", "PUT", "DELETE"];
    let known = known.into_iter().find(|name| *name == method.as_str());
    known.unwrap_or("OTHER")
}

/// The figures of one route.
#[derive(Clone)]
pub(crate) struct Measured {
    route: &'static str,
    answers: [Counter; KINDS.len()],
    seconds: Histogram,
}

/// Counts a request and how long its answer took to begin.
pub(crate) async fn measure(
    State(measured): State<Measured>,
    request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let response = next.run(request).await;
    let kind = usize::from(response.status().as_u16() / 100);
    if let Some(count) = measured.answers.get(kind.wrapping_sub(1)) {
        count.inc();
    }
    let took = began.elapsed();
    measured.seconds.observe(took.as_secs_f64());
    // Neither the address nor its query: both may carry what is nobody's business.
    let (route, status) = (measured.route, response.status().as_u16());
    tracing::debug!(route, status, ?took, "answered");
    response
}

/// `GET /metrics`.
pub(super) async fn show(State(shared): State<Arc<Shared>>) -> Response {
    let mut text = String::new();
    // Writing to text does not fail.
    let _ = encode(&mut text, &shared.metrics.registry);
    let headers = [
        (header::CONTENT_TYPE, MEDIA_TYPE),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, text).into_response()
}

/// The engine's figures, read when they are asked for.
#[derive(Debug)]
struct Works(Engine);

impl Collector for Works {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let Stats {
            runs_started,
            runs_ended,
            steps_completed,
            step_failures,
            undos_completed,
            events,
            timers_fired,
            hot_runs,
            timers_near,
            ..
        } = self.0.stats();
        let counters = [
            ("runs_started", "Runs that were created here", runs_started),
            (
                "steps_completed",
                "Steps that have their result",
                steps_completed,
            ),
            (
                "step_failures",
                "Attempts of steps that failed",
                step_failures,
            ),
            (
                "undos_completed",
                "Steps and children that were undone",
                undos_completed,
            ),
            ("events", "Events that came to runs", events),
            ("timers_fired", "Timers that fired", timers_fired),
        ];
        for (name, help, value) in counters {
            let counter = ConstCounter::new(value);
            let kind = counter.metric_type();
            counter.encode(encoder.encode_descriptor(name, help, None, kind)?)?;
        }
        let gauges = [
            (
                "runs_in_memory",
                "Runs that need no replay to go on",
                hot_runs,
            ),
            ("timers_in_memory", "Timers of the near future", timers_near),
        ];
        for (name, help, value) in gauges {
            let gauge = ConstGauge::new(value as u64);
            let kind = gauge.metric_type();
            gauge.encode(encoder.encode_descriptor(name, help, None, kind)?)?;
        }
        let ended = Family::<[(&str, &str); 1], Counter>::default();
        for (status, count) in runs_ended {
            ended
                .get_or_create(&[("status", status.as_str())])
                .inc_by(count);
        }
        let help = "Runs that ended here, by how";
        let kind = ended.metric_type();
        ended.encode(encoder.encode_descriptor("runs_ended", help, None, kind)?)
    }
}
