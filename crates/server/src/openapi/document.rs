//! Generates the OpenAPI document.

use axum::http::Method;
use everstep_protocol::access::Scope;
use schemars::SchemaGenerator;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::{Map, Value, json};

use crate::auth::{Requirement, RunAction};
use crate::parameters::{Kind, Parameter};
use crate::route::{Content, Endpoint};

/// Describes the routes of a router that is mounted at `mount`.
pub(super) fn describe(endpoints: &[Endpoint], mount: &str) -> Value {
    let mut writer = Writer {
        requests: generator(Contract::Deserialize),
        responses: generator(Contract::Serialize),
    };
    let mut paths: Map<String, Value> = Map::new();
    for endpoint in endpoints {
        let operation = writer.operation(endpoint);
        let path = paths.entry(path_of(endpoint)).or_insert_with(|| json!({}));
        if let Some(path) = path.as_object_mut() {
            path.insert(method_of(endpoint), operation);
        }
    }
    let url = if mount.is_empty() { "/" } else { mount };
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Everstep",
            "summary": "Durable workflows and streams",
            "version": env!("CARGO_PKG_VERSION"),
            "license": {"name": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": url}],
        "paths": paths,
        "components": {
            "schemas": writer.schemas(),
            "securitySchemes": {"bearer": {
                "type": "http",
                "scheme": "bearer",
                "description": "An API key or a run token. Development servers require none.",
            }},
        },
    })
}

/// Returns the path in OpenAPI's notation.
fn path_of(endpoint: &Endpoint) -> String {
    endpoint.path.replace("{*", "{")
}

fn method_of(endpoint: &Endpoint) -> String {
    endpoint.method.as_str().to_ascii_lowercase()
}

fn generator(contract: Contract) -> SchemaGenerator {
    SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
            settings.contract = contract;
        })
        .into_generator()
}

/// Collects schemas while operations are described. Types of requests and of responses have
/// separate generators, because fields with defaults are optional in requests only.
struct Writer {
    requests: SchemaGenerator,
    responses: SchemaGenerator,
}

impl Writer {
    fn operation(&mut self, endpoint: &Endpoint) -> Value {
        let mut operation = Map::new();
        let mut set = |name: &str, value: Value| operation.insert(name.to_owned(), value);
        set("operationId", id_of(endpoint).into());
        set("summary", endpoint.summary.into());
        set("parameters", parameters(endpoint).into());
        set("responses", self.responses(endpoint));
        set("x-needs", requirement(endpoint.requires).into());
        let security = match endpoint.requires {
            Requirement::Public => json!([]),
            _ => json!([{"bearer": []}, {}]),
        };
        set("security", security);
        if let Some(request) = &endpoint.request {
            let content = content(&mut self.requests, &[request.content]);
            let body = json!({"required": request.required, "content": content});
            set("requestBody", body);
        }
        operation.into()
    }

    fn responses(&mut self, endpoint: &Endpoint) -> Value {
        let mut responses = Map::new();
        for response in &endpoint.responses {
            let described = self.response(response.description, &response.contents);
            responses.insert(response.status.to_string(), described);
        }
        let contents: &[Content] = match endpoint.method {
            Method::HEAD => &[],
            _ => &[Content::problem()],
        };
        let error = self.response("The request was rejected or failed.", contents);
        responses.insert("default".to_owned(), error);
        responses.into()
    }

    fn response(&mut self, description: &str, contents: &[Content]) -> Value {
        match contents {
            [] => json!({"description": description}),
            contents => {
                let content = content(&mut self.responses, contents);
                json!({"description": description, "content": content})
            }
        }
    }

    fn schemas(mut self) -> Map<String, Value> {
        let mut schemas = self.requests.take_definitions(true);
        schemas.extend(self.responses.take_definitions(true));
        schemas
    }
}

fn content(generator: &mut SchemaGenerator, contents: &[Content]) -> Value {
    let mut by_type = Map::new();
    for content in contents {
        let schema = match content.schema {
            Some(schema) => schema(generator).to_value(),
            None => json!({}),
        };
        by_type.insert(content.media_type.to_owned(), json!({"schema": schema}));
    }
    by_type.into()
}

/// Returns the operation id, from which generated clients derive names.
fn id_of(endpoint: &Endpoint) -> String {
    let words = endpoint.path.split(|c: char| !c.is_ascii_alphanumeric());
    let words = words.filter(|word| !word.is_empty() && *word != "json");
    let words: Vec<_> = std::iter::once(method_of(endpoint))
        .chain(words.map(str::to_owned))
        .collect();
    words.join("_")
}

fn requirement(requirement: Requirement) -> String {
    match requirement {
        Requirement::Public => "nothing".to_owned(),
        Requirement::Scopes(scopes) => words(scopes),
        Requirement::Unlimited(scopes) => format!("{} and no limits", words(scopes)),
        Requirement::Stream => {
            "the scope `read` or `send`, or a token for the stream or the journal".to_owned()
        }
        Requirement::Run(action) => {
            let allows = match action {
                RunAction::Read => "",
                RunAction::ReadInFull => " that allows the full view",
                RunAction::Send => " that names the event",
                RunAction::Answer => " that names the method",
                RunAction::ReadRecords | RunAction::Operate | RunAction::Fork => {
                    return words(action.scopes());
                }
            };
            format!("{}, or a run token{allows}", words(action.scopes()))
        }
    }
}

/// Names scopes.
fn words(scopes: &[Scope]) -> String {
    let words: Vec<String> = scopes.iter().map(|scope| format!("`{scope}`")).collect();
    match scopes {
        [_] => format!("the scope {}", words.concat()),
        _ => format!("the scopes {}", words.join(" and ")),
    }
}

fn parameters(endpoint: &Endpoint) -> Vec<Value> {
    let braces = endpoint.path.split('{').skip(1);
    let named = braces.filter_map(|rest| rest.split('}').next());
    let named = named.map(|name| {
        json!({
            "name": name.trim_start_matches('*'),
            "in": "path",
            "required": true,
            "schema": {"type": "string", "minLength": 1},
        })
    });
    let query = endpoint.parameters.iter().map(parameter);
    let headers = endpoint.headers.iter().map(|(name, description)| {
        json!({"name": name, "in": "header", "description": description, "schema": {"type": "string"}})
    });
    named.chain(query).chain(headers).collect()
}

fn parameter(parameter: &Parameter) -> Value {
    let text = json!({"type": "string"});
    let schema = match parameter.kind {
        Kind::Text => text,
        Kind::Duration => json!({"type": "string", "examples": ["30s"]}),
        Kind::Words => json!({"type": "array", "items": text}),
        Kind::Time => json!({"type": "string", "format": "date-time"}),
        Kind::Count(least, most) => {
            json!({"type": "integer", "minimum": least, "maximum": most})
        }
    };
    json!({
        "name": parameter.name,
        "in": "query",
        "description": parameter.description,
        "schema": schema,
    })
}

#[cfg(test)]
#[allow(
    clippy::indexing_slicing,
    reason = "a test that panics is a test that fails"
)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::routes::all_routes;

    const PROTOCOL: &str = include_str!("../../../../PROTOCOL.md");

    async fn endpoints() -> Vec<Endpoint> {
        let routes = all_routes().await.into_iter();
        routes.map(|route| route.endpoint).collect()
    }

    #[tokio::test]
    async fn the_document_describes_exactly_the_routes() {
        let endpoints = endpoints().await;
        let document = describe(&endpoints, "");
        let paths = document["paths"].as_object().unwrap();
        let operations = paths.values().filter_map(Value::as_object);
        assert_eq!(operations.map(Map::len).sum::<usize>(), endpoints.len());
        for endpoint in &endpoints {
            let operation = &paths[&path_of(endpoint)][&method_of(endpoint)];
            let Endpoint { method, path, .. } = endpoint;
            assert!(operation.is_object(), "{method} {path}");
            assert_ne!(endpoint.summary, "", "{method} {path}");
        }
    }

    #[tokio::test]
    async fn every_reference_resolves() {
        let document = describe(&endpoints().await, "/api");
        let text = document.to_string();
        for reference in text.split("\"$ref\":\"#").skip(1) {
            let pointer = reference.split('"').next().unwrap();
            assert!(document.pointer(pointer).is_some(), "{pointer}");
        }
        assert_eq!(document["servers"][0]["url"], "/api");
    }

    #[tokio::test]
    async fn only_events_and_answers_have_json_bodies_without_a_schema() {
        let document = describe(&endpoints().await, "");
        let mut anything = Vec::new();
        for (path, operations) in document["paths"].as_object().unwrap() {
            for (method, operation) in operations.as_object().unwrap() {
                let responses = operation["responses"].as_object().unwrap().values();
                let bodies = responses.chain([&operation["requestBody"]]);
                let mut bodies = bodies.map(|body| &body["content"]["application/json"]["schema"]);
                if bodies.any(|schema| *schema == json!({})) {
                    anything.push(format!("{method} {path}"));
                }
            }
        }
        let events_and_answers = [
            "post /workflows/{id}/events/{name}",
            "post /workflows/{id}/rpc/{rpc}",
        ];
        assert_eq!(anything, events_and_answers);
    }

    // B484
    #[tokio::test]
    async fn schemas_are_objects_and_public_routes_need_no_security() {
        let document = describe(&endpoints().await, "");
        let text = document.to_string();
        for boolean in ["\"schema\":true", "\"items\":true"] {
            assert!(!text.contains(boolean), "{boolean}");
        }
        for path in ["/health/live", "/health/ready", "/openapi.json"] {
            let security = &document["paths"][path]["get"]["security"];
            assert_eq!(*security, json!([]), "{path}");
        }
        let metrics = &document["paths"]["/metrics"]["get"]["security"];
        assert_eq!(*metrics, json!([{"bearer": []}, {}]));
    }

    #[tokio::test]
    async fn the_protocol_document_lists_the_fields_of_every_worker_message() {
        let document = describe(&endpoints().await, "");
        let schemas = &document["components"]["schemas"];
        let sections = PROTOCOL.split("\n#### `").skip(1);
        let messages = sections.filter(|section| section.starts_with(char::is_uppercase));
        let mut messages_found = 0;
        for message in messages {
            let (name, rest) = message.split_once('`').unwrap();
            let table = rest.lines().skip_while(|line| !line.starts_with('|'));
            let rows = table.take_while(|line| line.starts_with('|'));
            let documented = rows.filter_map(|row| row.strip_prefix("| `")?.split('`').next());
            let documented: BTreeSet<&str> = documented.collect();
            let fields = schemas[name]["properties"].as_object().unwrap();
            let fields: BTreeSet<&str> = fields.keys().map(String::as_str).collect();
            assert_eq!(documented, fields, "{name}");
            messages_found += 1;
        }
        assert!(messages_found > 10);
    }
}
