//! Traces of runs for a collector, if one is set.

use anyhow::Context;
use everstep::Engine;
use everstep_server::{TraceExporter, TraceOptions};

use crate::config::Config;

/// Begins to tell the collector that is set of every run that ends; none if none is set.
pub(crate) fn export(engine: &Engine, config: &Config) -> anyhow::Result<Option<TraceExporter>> {
    let Some(endpoint) = config.text("otlp_endpoint") else {
        return Ok(None);
    };
    let mut options = TraceOptions::to(endpoint);
    if let Some(service) = config.text("otlp_service") {
        options.service = service.to_owned();
    }
    options.ratio = config.share("otlp_ratio")?;
    let exporter =
        TraceExporter::start(engine, options).context("`otlp_endpoint` cannot be used")?;
    Ok(Some(exporter))
}
