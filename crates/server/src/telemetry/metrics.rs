//! Metrics for Prometheus: counters of the engine, and HTTP requests.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use everstep_engine::{Engine, Stats};
use everstep_protocol::access::Scope;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use super::prometheus_text::{Format, OPEN_METRICS, PLAIN, to_plain};
use super::run_counts::RunCounts;
use crate::around::Around;
use crate::auth::Requirement;
use crate::failure::RefusalCode;
use crate::response::no_store;
use crate::route::Route;

/// The upper bound of the first histogram bucket, in seconds. Each further bucket is four times as
/// wide.
const FIRST_BUCKET: f64 = 0.000_25;
const BUCKETS: u16 = 9;

/// The classes of status codes.
const STATUS_CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

type RouteLabels = [(&'static str, &'static str); 2];
type RequestLabels = [(&'static str, &'static str); 3];

pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    seconds: Family<RouteLabels, Histogram>,
    engine: Engine,
    runs: RunCounts,
}

impl Metrics {
    pub(crate) fn new(engine: &Engine) -> Self {
        let mut registry = Registry::with_prefix("everstep");
        let requests = Family::default();
        let seconds = Family::new_with_constructor(buckets as fn() -> Histogram);
        let help = "HTTP requests by method, route and class of status code";
        registry.register("http_requests", help, requests.clone());
        let help = "Time until the response headers, in seconds";
        registry.register("http_request_seconds", help, seconds.clone());
        let runs = RunCounts::default();
        registry.register_collector(Box::new(EngineStats(engine.clone())));
        registry.register_collector(Box::new(Runs(runs.clone())));
        Self {
            registry,
            engine: engine.clone(),
            runs,
            requests,
            seconds,
        }
    }

    /// Registers the metrics of a route.
    pub(crate) fn route(&self, method: &Method, path: &'static str) -> Arc<RouteMetrics> {
        let method = name_of(method);
        let route = [("method", method), ("route", path)];
        let requests = STATUS_CLASSES.map(|class| {
            let labels = [("method", method), ("route", path), ("status", class)];
            self.requests.get_or_create_owned(&labels)
        });
        Arc::new(RouteMetrics {
            method,
            route: path,
            requests,
            seconds: self.seconds.get_or_create_owned(&route),
        })
    }
}

fn buckets() -> Histogram {
    Histogram::new(exponential_buckets(FIRST_BUCKET, 4.0, BUCKETS))
}

/// Returns the label of a method. Routes exist only for these methods.
fn name_of(method: &Method) -> &'static str {
    let known = ["GET", "HEAD", "POST", "PUT", "DELETE"];
    let known = known.into_iter().find(|name| *name == method.as_str());
    known.unwrap_or("OTHER")
}

/// The metrics of one route. Counts each request and measures the time until the response headers.
pub(crate) struct RouteMetrics {
    method: &'static str,
    route: &'static str,
    /// By class of status code.
    requests: [Counter; STATUS_CLASSES.len()],
    seconds: Histogram,
}

impl Around for Arc<RouteMetrics> {
    type Seen = Instant;

    fn before(&self, _: &Request) -> (Instant, Option<Response>) {
        (Instant::now(), None)
    }

    fn after(&self, started: Instant, response: &mut Response) {
        let class = usize::from(response.status().as_u16() / 100);
        if let Some(count) = self.requests.get(class.wrapping_sub(1)) {
            count.inc();
        }
        let took = started.elapsed();
        self.seconds.observe(took.as_secs_f64());
        // Log neither the path nor the query: both may contain confidential values.
        let (route, status) = (self.route, response.status().as_u16());
        tracing::debug!(route, status, ?took, "request handled");
        if response.status().is_client_error() {
            let code = response.extensions().get::<RefusalCode>();
            let code = code.map_or("none", |code| code.0.as_str());
            let method = self.method;
            tracing::info!(method, route, status, code, "request refused");
        }
    }
}

pub(crate) fn routes() -> Vec<Route<Arc<Metrics>>> {
    let route = Route::get("/metrics", Requirement::Unlimited(&[Scope::Read]), show)
        .summary("Read metrics in a format of Prometheus, which `Accept` selects")
        .returns_any(200, PLAIN, "The metrics, in the format 0.0.4.")
        .or_any(OPEN_METRICS);
    vec![route]
}

async fn show(State(metrics): State<Arc<Metrics>>, headers: HeaderMap) -> Response {
    metrics.runs.refresh(&metrics.engine).await;
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = encode(&mut text, &metrics.registry);
    let format = Format::of(&headers);
    if format == Format::Plain {
        text = to_plain(&text);
    }
    let mut response = no_store(StatusCode::OK, format.content_type(), text);
    let vary = HeaderValue::from_static("accept");
    response.headers_mut().insert(header::VARY, vary);
    response
}

/// The latest numbers of runs.
#[derive(Debug)]
struct Runs(RunCounts);

impl Collector for Runs {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let counts = self.0.latest();
        if counts.is_empty() {
            return Ok(());
        }
        let runs = Family::<[(&str, &str); 1], Gauge>::default();
        for (status, count) in counts {
            let gauge = runs.get_or_create_owned(&[("status", status.as_str())]);
            gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
        }
        let help = "Runs of the whole installation, by status";
        let descriptor = encoder.encode_descriptor("runs", help, None, runs.metric_type())?;
        runs.encode(descriptor)
    }
}

/// Collects the counters of the engine on demand.
#[derive(Debug)]
struct EngineStats(Engine);

impl Collector for EngineStats {
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
        let mut write = |name: &str, help: &str, metric: &dyn EncodeMetric| {
            metric.encode(encoder.encode_descriptor(name, help, None, metric.metric_type())?)
        };
        let counters = [
            ("runs_started", "Runs created on this node", runs_started),
            ("steps_completed", "Steps completed", steps_completed),
            ("step_failures", "Failed attempts of steps", step_failures),
            (
                "undos_completed",
                "Steps and children undone",
                undos_completed,
            ),
            ("events", "Events received by runs", events),
            ("timers_fired", "Timers fired", timers_fired),
        ];
        for (name, help, value) in counters {
            write(name, help, &ConstCounter::new(value))?;
        }
        let hot_runs = ConstGauge::new(hot_runs as u64);
        write("runs_in_memory", "Runs kept in memory", &hot_runs)?;
        let help = "Timers kept in memory because they are due soon";
        write(
            "timers_in_memory",
            help,
            &ConstGauge::new(timers_near as u64),
        )?;
        let ended = Family::<[(&str, &str); 1], Counter>::default();
        for (status, count) in runs_ended {
            let labels = [("status", status.as_str())];
            ended.get_or_create(&labels).inc_by(count);
        }
        write("runs_ended", "Runs ended on this node, by status", &ended)
    }
}
