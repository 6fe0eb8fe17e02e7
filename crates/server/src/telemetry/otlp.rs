//! The JSON of an OTLP export request.
//!
//! It is written by hand because tracing libraries do not support spans that have ended and have ids
//! before they are exported.

use everstep_inspect::{Span, SpanOf};
use everstep_model::{Generation, RunId, Timestamp};
use serde::Serialize;

/// The path of the traces endpoint of a collector.
pub(super) const PATH: &str = "v1/traces";

const SCOPE: &str = "everstep";
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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ExportRequest {
    resource_spans: [ResourceSpans; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceSpans {
    resource: Resource,
    scope_spans: [ScopeSpans; 1],
}

#[derive(Serialize)]
struct Resource {
    attributes: Vec<Attribute>,
}

#[derive(Serialize)]
struct ScopeSpans {
    scope: Scope,
    spans: Vec<OtlpSpan>,
}

#[derive(Serialize)]
struct Scope {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OtlpSpan {
    trace_id: String,
    span_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_span_id: Option<String>,
    name: String,
    kind: u8,
    start_time_unix_nano: String,
    end_time_unix_nano: String,
    attributes: Vec<Attribute>,
    status: Status,
}

#[derive(Serialize)]
struct Status {
    code: u8,
    #[serde(skip_serializing_if = "String::is_empty")]
    message: String,
}

#[derive(Serialize)]
struct Attribute {
    key: &'static str,
    value: Value,
}

/// OTLP's JSON encodes 64-bit numbers as text.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Value {
    StringValue(String),
    IntValue(String),
}

impl ExportRequest {
    /// A request with all spans of these traces.
    pub(super) fn new(service: &str, traces: &[Trace]) -> Self {
        let spans = traces.iter().flat_map(|trace| {
            let spans = trace.spans.iter();
            spans.map(|span| OtlpSpan::new(trace, span))
        });
        Self {
            resource_spans: [ResourceSpans {
                resource: Resource {
                    attributes: vec![text("service.name", service)],
                },
                scope_spans: [ScopeSpans {
                    scope: Scope {
                        name: SCOPE,
                        version: env!("CARGO_PKG_VERSION"),
                    },
                    spans: spans.collect(),
                }],
            }],
        }
    }
}

impl OtlpSpan {
    fn new(trace: &Trace, span: &Span) -> Self {
        let mut attributes = vec![
            text("everstep.run", trace.run.as_str()),
            number("everstep.generation", trace.generation.0),
        ];
        let name = describe(&span.of, &mut attributes);
        if let Some(error) = &span.error {
            attributes.push(text("error.type", &error.code));
        }
        Self {
            trace_id: span.trace.to_string(),
            span_id: span.id.to_string(),
            parent_span_id: span.parent.map(|parent| parent.to_string()),
            name,
            kind: KIND_INTERNAL,
            start_time_unix_nano: nanos(span.start),
            end_time_unix_nano: nanos(span.end),
            attributes,
            status: match &span.error {
                None => Status {
                    code: STATUS_OK,
                    message: String::new(),
                },
                Some(error) => Status {
                    code: STATUS_ERROR,
                    message: error.message.clone(),
                },
            },
        }
    }
}

/// Returns the name of a span and adds its attributes. Payloads are never exported.
fn describe(of: &SpanOf, attributes: &mut Vec<Attribute>) -> String {
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

fn text(key: &'static str, value: &str) -> Attribute {
    Attribute {
        key,
        value: Value::StringValue(value.to_owned()),
    }
}

fn number(key: &'static str, value: u32) -> Attribute {
    Attribute {
        key,
        value: Value::IntValue(value.to_string()),
    }
}

fn nanos(time: Timestamp) -> String {
    format!("{}000000", time.as_millis())
}
