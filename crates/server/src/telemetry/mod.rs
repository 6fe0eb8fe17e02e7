//! Observability: traces, metrics and health checks.

mod exporter;
mod health;
mod metrics;
mod otlp;
mod prometheus_text;
mod run_counts;

pub use exporter::{TraceExporter, TraceOptions};
pub(crate) use health::routes as health_routes;
pub(crate) use metrics::{Metrics, routes as metrics_routes};
