//! Export of traces to an OpenTelemetry collector.

use anyhow::Context;
use everstep::Engine;
use everstep_server::{TraceExporter, TraceOptions};

use crate::config::Config;

/// Starts exporting the trace of every run that ends. Returns `None` if no collector is configured.
pub(crate) fn export_traces(
    engine: &Engine,
    config: &Config,
) -> anyhow::Result<Option<TraceExporter>> {
    let Some(endpoint) = config.text("otlp_endpoint") else {
        return Ok(None);
    };
    let mut options = TraceOptions::to(endpoint);
    if let Some(service) = config.text("otlp_service") {
        options.service = service.to_owned();
    }
    options.ratio = config.parsed("otlp_ratio")?;
    let exporter =
        TraceExporter::start(engine, options).context("`otlp_endpoint` cannot be used")?;
    Ok(Some(exporter))
}
