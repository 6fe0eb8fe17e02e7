//! The JSON of an OTLP export request.
//!
//! It is written by hand because tracing libraries do not support spans that have ended and have
//! ids before they are exported.

use everstep_inspect::{Span, SpanOf};
use everstep_model::{Generation, RunId, Timestamp};
use serde_json::{Value, json};

/// The path of the traces endpoint of a collector.
pub(super) const PATH: &str = "v1/traces";

/// `SPAN_KIND_INTERNAL`.
const KIND_INTERNAL: u8 = 1;
/// `STATUS_CODE_OK` and `STATUS_CODE_ERROR`.
const STATUS_OK: u8 = 1;
const STATUS_ERROR: u8 = 2;

/// The spans of an ended run.
pub(super) struct Trace {
    pub(super) run: RunId,
    pub(super) generation: Generation,
    pub(super) spans: Vec<Span>,
}

/// Returns a request with all spans of these traces.
pub(super) fn export_request(service: &str, traces: &[Trace]) -> Value {
    let spans = traces.iter().flat_map(|trace| {
        let spans = trace.spans.iter();
        spans.map(|span| otlp_span(trace, span))
    });
    json!({"resourceSpans": [{
        "resource": {"attributes": [text("service.name", service)]},
        "scopeSpans": [{
            "scope": {"name": "everstep", "version": env!("CARGO_PKG_VERSION")},
            "spans": spans.collect::<Vec<_>>(),
        }],
    }]})
}

fn otlp_span(trace: &Trace, span: &Span) -> Value {
    let mut attributes = vec![
        text("everstep.run", trace.run.as_str()),
        number("everstep.generation", trace.generation.0),
    ];
    let name = describe(&span.of, &mut attributes);
    if let Some(error) = &span.error {
        attributes.push(text("error.type", &error.code));
    }
    let status = match &span.error {
        None => json!({"code": STATUS_OK}),
        Some(error) => json!({"code": STATUS_ERROR, "message": error.message}),
    };
    let mut encoded = json!({
        "traceId": span.trace.to_string(),
        "spanId": span.id.to_string(),
        "name": name,
        "kind": KIND_INTERNAL,
        "startTimeUnixNano": nanos(span.start),
        "endTimeUnixNano": nanos(span.end),
        "attributes": attributes,
        "status": status,
    });
    if let (Some(parent), Some(fields)) = (span.parent, encoded.as_object_mut()) {
        fields.insert("parentSpanId".to_owned(), parent.to_string().into());
    }
    encoded
}

/// Returns the name of a span and adds its attributes. Payloads are never exported.
fn describe(of: &SpanOf, attributes: &mut Vec<Value>) -> String {
    match of {
        SpanOf::Run {
            workflow,
            version,
            status,
        } => {
            attributes.push(text("everstep.workflow", workflow.as_str()));
            attributes.push(number("everstep.version", *version));
            attributes.push(text("everstep.status", &status.to_string()));
            workflow.to_string()
        }
        SpanOf::Operation {
            kind,
            location,
            attempt,
        } => {
            attributes.push(text("everstep.operation", kind));
            attributes.push(text("everstep.location", &location.to_string()));
            attributes.extend(attempt.map(|attempt| number("everstep.attempt", attempt)));
            format!("{kind} {}", location.name)
        }
    }
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

/// Encodes a number. OTLP's JSON has 64-bit numbers as text.
fn number(key: &str, value: u32) -> Value {
    json!({"key": key, "value": {"intValue": value.to_string()}})
}

fn nanos(time: Timestamp) -> String {
    format!("{}000000", time.as_millis())
}
