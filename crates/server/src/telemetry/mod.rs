//! What operators see from outside: traces, figures, and whether it works.

mod exporter;
mod otlp;

pub use exporter::{TraceExporter, TraceOptions};
