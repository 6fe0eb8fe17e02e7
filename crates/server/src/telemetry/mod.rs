//! What operators see from outside: traces, figures, and whether it works.

mod exporter;
mod health;
mod metrics;
mod otlp;

use everstep_protocol::access::Scope;

pub use exporter::{TraceExporter, TraceOptions};
pub(crate) use metrics::{Metrics, measure};

use self::health::Well;
use crate::auth::Needs;
use crate::openapi::About;
use crate::routes::Route;

pub(crate) fn routes() -> Vec<Route> {
    const FIGURES: &str = "application/openmetrics-text";
    vec![
        Route::get("/health/live", Needs::Nobody, health::live)
            .about(About::new("Whether the process lives").gives::<Well>(200, "It does.")),
        Route::get("/health/ready", Needs::Nobody, health::ready)
            .about(About::new("Whether requests are served").gives::<Well>(200, "They are.")),
        Route::get("/metrics", Needs::Scope(Scope::Read), metrics::show)
            .about(About::new("Figures for Prometheus").gives_as(200, FIGURES, "The figures.")),
    ]
}
