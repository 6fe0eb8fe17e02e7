//! The document: paths of the routes, schemas of the types.

use axum::http::Method;
use schemars::SchemaGenerator;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::{Map, Value, json};

use super::about::{About, Content};
use crate::auth::{Needs, RunAct};
use crate::routes::Route;
use crate::workflows::parameters::{Kind, Parameter};

/// Describes these routes of a server that is mounted there.
pub(super) fn of(routes: &[Route], mount: &str) -> Value {
    let mut writer = Writer {
        requests: generator(Contract::Deserialize),
        answers: generator(Contract::Serialize),
    };
    let mut paths: Map<String, Value> = Map::new();
    for route in routes {
        let operation = writer.operation(route);
        let path = paths.entry(path_of(route)).or_insert_with(|| json!({}));
        if let Some(path) = path.as_object_mut() {
            path.insert(method_of(route), operation);
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
                "description": "an API key, or a run token; a server for development needs none",
            }},
        },
    })
}

/// A route's path as OpenAPI writes it.
fn path_of(route: &Route) -> String {
    route.path.replace("{*", "{")
}

fn method_of(route: &Route) -> String {
    route.method.as_str().to_ascii_lowercase()
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

/// Schemas are written as they are needed: those of requests as they are read, those of answers as they are written.
struct Writer {
    requests: SchemaGenerator,
    answers: SchemaGenerator,
}

impl Writer {
    fn operation(&mut self, route: &Route) -> Value {
        let about = &route.about;
        let mut operation = Map::new();
        let mut say = |name: &str, value: Value| operation.insert(name.to_owned(), value);
        say("operationId", id_of(route).into());
        say("summary", about.summary.into());
        say("parameters", parameters(route).into());
        say("responses", self.responses(about, &route.method));
        say("x-needs", needs(route.needs).into());
        if route.needs != Needs::Nobody {
            say("security", json!([{"bearer": []}, {}]));
        }
        if let Some(body) = &about.takes {
            let content = content(&mut self.requests, std::slice::from_ref(body));
            let body = json!({"required": !body.optional, "content": content});
            say("requestBody", body);
        }
        operation.into()
    }

    fn responses(&mut self, about: &About, method: &Method) -> Value {
        let mut responses = Map::new();
        for given in &about.gives {
            let response = self.response(given.about, &given.contents);
            responses.insert(given.status.to_string(), response);
        }
        let contents: &[Content] = match *method {
            Method::HEAD => &[],
            _ => &[About::refusal()],
        };
        let refusal = self.response("It was refused, or something failed.", contents);
        responses.insert("default".to_owned(), refusal);
        responses.into()
    }

    fn response(&mut self, about: &str, contents: &[Content]) -> Value {
        match contents {
            [] => json!({"description": about}),
            contents => {
                let content = content(&mut self.answers, contents);
                json!({"description": about, "content": content})
            }
        }
    }

    fn schemas(mut self) -> Map<String, Value> {
        let mut schemas = self.requests.take_definitions(true);
        schemas.extend(self.answers.take_definitions(true));
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

/// A word for programs that are made from the description.
fn id_of(route: &Route) -> String {
    let words = route.path.split(|c: char| !c.is_ascii_alphanumeric());
    let words = words.filter(|word| !word.is_empty() && *word != "json");
    let words: Vec<_> = std::iter::once(method_of(route))
        .chain(words.map(str::to_owned))
        .collect();
    words.join("_")
}

fn needs(needs: Needs) -> String {
    match needs {
        Needs::Nobody => "nothing".to_owned(),
        Needs::Scope(scope) => format!("the scope `{scope}`"),
        Needs::Scopes(scopes) => {
            let words: Vec<String> = scopes.iter().map(|scope| format!("`{scope}`")).collect();
            format!("the scopes {}", words.join(" and "))
        }
        Needs::Stream => "the scope `read` or `send`, or a run token for the journal".to_owned(),
        Needs::Run(act) => {
            let of_token = match act {
                RunAct::Look => "shows all of it",
                RunAct::Send => "names the event",
                RunAct::Answer => "names the method",
            };
            let scope = act.scope();
            format!("the scope `{scope}`, or a run token that {of_token}")
        }
    }
}

fn parameters(route: &Route) -> Vec<Value> {
    let braces = route.path.split('{').skip(1);
    let named = braces.filter_map(|rest| rest.split('}').next());
    let named = named.map(|name| {
        json!({
            "name": name.trim_start_matches('*'),
            "in": "path",
            "required": true,
            "schema": {"type": "string", "minLength": 1},
        })
    });
    let query = route.about.parameters.iter().map(parameter);
    let headers = route.about.headers.iter().map(|(name, about)| {
        json!({"name": name, "in": "header", "description": about, "schema": {"type": "string"}})
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
        "description": parameter.about,
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
    use crate::routes::table;

    const TEXT: &str = include_str!("../../../../PROTOCOL.md");

    #[test]
    fn every_route_is_described_and_nothing_else_is() {
        let routes = table(everstep_engine::Roles::ALL);
        let document = of(&routes, "");
        let paths = document["paths"].as_object().unwrap();
        let operations = paths.values().filter_map(Value::as_object);
        assert_eq!(operations.map(Map::len).sum::<usize>(), routes.len());
        for route in &routes {
            let operation = &paths[&path_of(route)][&method_of(route)];
            assert!(operation.is_object(), "{} {}", route.method, route.path);
            assert_ne!(route.about.summary, "", "{} {}", route.method, route.path);
        }
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let document = of(&table(everstep_engine::Roles::ALL), "/api");
        let text = document.to_string();
        for reference in text.split("\"$ref\":\"#").skip(1) {
            let pointer = reference.split('"').next().unwrap();
            assert!(document.pointer(pointer).is_some(), "{pointer}");
        }
        assert_eq!(document["servers"][0]["url"], "/api");
    }

    #[test]
    fn every_body_that_is_json_has_a_schema_unless_it_may_be_anything() {
        let document = of(&table(everstep_engine::Roles::ALL), "");
        let mut anything = Vec::new();
        for (path, operations) in document["paths"].as_object().unwrap() {
            for (method, operation) in operations.as_object().unwrap() {
                let answers = operation["responses"].as_object().unwrap().values();
                let bodies = answers.chain([&operation["requestBody"]]);
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

    #[test]
    fn every_message_of_the_worker_protocol_has_the_fields_that_the_text_says() {
        let document = of(&table(everstep_engine::Roles::ALL), "");
        let schemas = &document["components"]["schemas"];
        let sections = TEXT.split("\n#### `").skip(1);
        let messages = sections.filter(|section| section.starts_with(char::is_uppercase));
        let mut known = 0;
        for message in messages {
            let (name, rest) = message.split_once('`').unwrap();
            let table = rest.lines().skip_while(|line| !line.starts_with('|'));
            let rows = table.take_while(|line| line.starts_with('|'));
            let said = rows.filter_map(|row| row.strip_prefix("| `")?.split('`').next());
            let said: BTreeSet<&str> = said.collect();
            let there = schemas[name]["properties"].as_object().unwrap();
            let there: BTreeSet<&str> = there.keys().map(String::as_str).collect();
            assert_eq!(said, there, "{name}");
            known += 1;
        }
        assert!(known > 10, "the messages are found in the text");
    }
}
